import type { ReactNode } from 'react'

import { useAsk } from './ask.ts'
import type { Result } from './types.ts'

/** What went wrong, as the database or the server said it. */
export function ErrorPanel(props: {
  error: Result['error'] | null
  text: string | null
  question: string | null
  sql: string | null
}): ReactNode {
  const { error } = props
  const ask = useAsk()
  const again = props.question ?? props.sql
  return (
    <section className="panel tone-bad" aria-label="Error">
      {error?.line != null && (
        <p className="where">
          Line {error.line}
          {error.column != null && `, column ${error.column}`}
        </p>
      )}
      <pre className="said">{error?.message ?? props.text ?? 'It failed, and nothing more was said.'}</pre>
      {again !== null && (
        <button
          type="button"
          disabled={ask.sending}
          onClick={() => void ask.send(again, props.question === null)}
        >
          Ask again
        </button>
      )}
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </section>
  )
}
