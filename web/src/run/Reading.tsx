import type { ReactNode } from 'react'

import type { Result } from '../types.ts'

/** How the question was understood, in words a person can check. */
export function Reading(props: {
  reading: string | null
  meanings: NonNullable<Result['meanings']>
}): ReactNode {
  const { reading, meanings } = props
  if (!reading && meanings.length === 0) return null
  return (
    <section className="reading">
      <h2>What this computes</h2>
      {reading && <p>{datesWhole(reading)}</p>}
      {meanings.length > 0 && (
        <dl>
          {meanings.map(({ words, meaning }, index) => (
            <div key={index}>
              <dt>“{words}”</dt>
              <dd>{datesWhole(meaning)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

/** Text in which no line breaks inside a date: a browser may break after any hyphen. */
function datesWhole(text: string): ReactNode[] {
  return text.split(/(\d{4}-\d{2}-\d{2})/).map((part, index) =>
    index % 2 === 1 ? (
      <span key={index} className="unbroken">
        {part}
      </span>
    ) : (
      part
    ),
  )
}
