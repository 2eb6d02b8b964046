import type { ReactNode } from 'react'

import type { Result } from '../types.ts'

/** What went wrong, as the database or the server said it. */
export function ErrorPanel(props: { error: Result['error'] | null; text: string | null }): ReactNode {
  const { error } = props
  return (
    <section className="panel tone-bad" aria-label="Error">
      {error?.line != null && (
        <p className="where">
          Line {error.line}
          {error.column != null && `, column ${error.column}`}
        </p>
      )}
      <pre className="said">{error?.message ?? props.text ?? 'It failed, and nothing more was said.'}</pre>
      {error?.hints && error.hints.length > 0 && (
        <ul className="hints">
          {error.hints.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      )}
    </section>
  )
}
