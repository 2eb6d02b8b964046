import type { ReactNode } from 'react'
import { useState } from 'react'

import { acceptAnswer, saidBy } from '../api.ts'
import type { ModelUse, Result, SeenRun } from '../types.ts'
import { duration, whole } from '../words.ts'

const CONFIDENCE: Record<NonNullable<Result['confidence']>, string | null> = {
  grounded: null,
  accepted: 'You have accepted this SQL for this question before.',
  unverified: 'Not verified: a model wrote this SQL or changed it. It can run and be wrong; look at it.',
}

const TO_A_READER: typeof CONFIDENCE = { ...CONFIDENCE, accepted: 'Its owner has accepted this SQL for this question.' }

/** How the question was understood, in words a person can check, and say that it is right. */
export function Reading(props: {
  run: SeenRun
  result: Result | null
  reading: string | null
  readOnly: boolean
}): ReactNode {
  const { run, result, reading } = props
  const meanings = result?.meanings ?? []
  const confidence = result?.confidence ? (props.readOnly ? TO_A_READER : CONFIDENCE)[result.confidence] : null
  if (!reading && meanings.length === 0 && !confidence) return null
  return (
    <section className="reading">
      <h2>What this computes</h2>
      {confidence && <p className={result?.confidence === 'unverified' ? 'unverified' : 'dim'}>{confidence}</p>}
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
      {result?.model_use && <p className="dim">{useInWords(result.model_use)}</p>}
      {!props.readOnly && run.question !== null && run.outcome === 'table' && run.follows === null && (
        <Accept id={run.id} accepted={result?.confidence === 'accepted'} />
      )}
    </section>
  )
}

/** Says that the SQL answers the question: the same words then get it again. */
function Accept(props: { id: string; accepted: boolean }): ReactNode {
  const [accepted, setAccepted] = useState(props.accepted)
  const [said, setSaid] = useState<string | null>(null)
  const turn = async (): Promise<void> => {
    try {
      await acceptAnswer(props.id, !accepted)
      setAccepted(!accepted)
      setSaid(accepted ? 'Forgotten.' : 'Kept: the same question gets this SQL again.')
    } catch (error) {
      setSaid(saidBy(error))
    }
  }
  return (
    <p className="accept">
      <button type="button" className="link" onClick={() => void turn()}>
        {accepted ? 'Forget that it is right' : 'This is right: remember it'}
      </button>{' '}
      <span className="dim" role="status">
        {said}
      </span>
    </p>
  )
}

function useInWords(use: ModelUse): string {
  const price = use.price_usd == null ? '' : `, about $${use.price_usd.toPrecision(2)}`
  const tokens = whole(use.input_tokens + use.output_tokens)
  return `${use.model}: ${tokens} tokens in ${duration(use.seconds)}${price}`
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
