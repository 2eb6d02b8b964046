import type { ReactNode } from 'react'

import { useAsk } from '../asking/ask.ts'
import { Link } from '../Link.tsx'
import { pathOf, useNote } from '../path.ts'
import type { SeenRun } from '../types.ts'

const SUPERSEDED = {
  stop_asked: 'The version before was asked to stop.',
  not_sent: 'The version before could not be asked to stop: the request was not sent.',
  unknown: 'Whether the version before was asked to stop is not known.',
}

/** What the way here has to say: that nothing was started twice, or what became of the one before. */
export function Notice(props: { run: SeenRun }): ReactNode {
  const note = useNote()
  const ask = useAsk()
  const { run } = props
  if (note?.script) {
    return (
      <p className="notice">
        A script: its statements run one after the other.{' '}
        {note.script.map((id, index) => (
          <span key={id}>
            {id === run.id ? <strong>{index + 1}</strong> : <Link to={pathOf(id)} note={note}>{index + 1}</Link>}{' '}
          </span>
        ))}
      </p>
    )
  }
  if (note?.superseded && note.before) {
    return (
      <p className="notice">
        {SUPERSEDED[note.superseded]} <Link to={pathOf(note.before)}>See it</Link>
      </p>
    )
  }
  if (!note?.attached) return null
  const again = run.question !== null ? { question: run.question } : { sql: run.sql ?? '', parameters: run.parameters ?? {} }
  return (
    <p className="notice">
      The very same was running already, so it was not started again.{' '}
      {run.ended_at === null && (
        <button type="button" className="link" disabled={ask.sending} onClick={() => void ask.send(again, { anew: true })}>
          Start another all the same
        </button>
      )}{' '}
      <span className="problem">{ask.problem}</span>
    </p>
  )
}
