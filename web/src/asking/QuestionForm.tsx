import type { FormEvent, ReactNode } from 'react'
import { useState } from 'react'

import type { SeenRun } from '../types.ts'
import { useAsk } from './ask.ts'
import { whatOfTheOneBefore } from './supersede.ts'

/** A question to change and ask again. */
export function QuestionForm(props: { question: string; before: SeenRun; onLeave: () => void }): ReactNode {
  const ask = useAsk()
  const [text, setText] = useState(props.question)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!text.trim()) return
    const options = await whatOfTheOneBefore(props.before)
    if (options !== null && (await ask.send({ question: text.trim() }, options))) props.onLeave()
  }
  return (
    <form
      className="question-form"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => event.key === 'Escape' && props.onLeave()}
    >
      <input
        // Whoever pressed "Edit" wants to type here.
        autoFocus
        type="text"
        aria-label="Change the question"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="primary" disabled={ask.sending}>
        {ask.sending ? 'Sending…' : 'Ask'}
      </button>
      <button type="button" onClick={props.onLeave}>
        Leave as it was
      </button>
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </form>
  )
}
