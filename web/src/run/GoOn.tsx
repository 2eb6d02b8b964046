import type { FormEvent, ReactNode } from 'react'
import { useState } from 'react'

import { useAsk } from '../asking/ask.ts'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { pathOf } from '../path.ts'
import type { SeenRun } from '../types.ts'
import { titleOf } from '../words.ts'

/** Asks on from a question: only what changes has to be said. */
export function GoOn(props: { run: SeenRun }): ReactNode {
  const ask = useAsk()
  const [text, setText] = useState('')
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!text.trim()) return
    if (await ask.send({ question: text.trim(), follows: props.run.id })) setText('')
  }
  return (
    <form className="go-on" onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        aria-label="Go on from this"
        placeholder="Go on: “and by country?”, “only 2025”"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={ask.sending}>
        {ask.sending ? 'Sending…' : 'Ask on'}
      </button>
      <span className="problem" role="alert">
        {ask.problem}
      </span>
    </form>
  )
}

/** Which question this one goes on from. */
export function Follows(props: { run: SeenRun }): ReactNode {
  const before = useLive().runs.get(props.run.follows ?? '')
  if (props.run.follows === null) return null
  return (
    <p className="dim follows">
      Goes on from{' '}
      <Link to={pathOf(props.run.follows)}>{before ? titleOf(before) : 'an earlier question'}</Link>
    </p>
  )
}
