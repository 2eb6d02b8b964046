import type { FormEvent, KeyboardEvent, ReactNode, RefObject } from 'react'
import { useState } from 'react'

import { useDatabase } from '../database.ts'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { usePath } from '../path.ts'
import { useAsk } from './ask.ts'
import { offeredQuestions } from './offered.ts'

/** Where a question is asked; past ones are offered as it is typed. */
export function AskBox(props: { box: RefObject<HTMLInputElement | null> }): ReactNode {
  const ask = useAsk()
  const path = usePath()
  const [text, setText] = useState(ask.pending && 'question' in ask.pending ? ask.pending.question : '')
  const [open, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const { runs } = useLive()
  const examples = useDatabase()?.examples ?? []
  const offered = open ? offeredQuestions(runs.values(), examples, text) : []

  const close = (): void => {
    setOpen(false)
    setAt(-1)
  }
  const take = (question: string): void => {
    setText(question)
    close()
    props.box.current?.focus()
  }
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    if (!text.trim()) return props.box.current?.focus()
    close()
    if (await ask.send({ question: text.trim() })) setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const past = offered[at]
    if (event.key === 'Escape') {
      if (offered.length > 0) close()
      else props.box.current?.blur()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!open) return setOpen(true)
      const places = offered.length + 1 // one of them for none
      const step = event.key === 'ArrowDown' ? 1 : places - 1
      setAt(((at + 1 + step) % places) - 1)
    } else if (event.key === 'Enter' && past !== undefined) {
      event.preventDefault()
      take(past)
    }
  }
  return (
    <form className="ask" onSubmit={(event) => void submit(event)}>
      <div className="ask-field">
        <input
          ref={props.box}
          type="text"
          role="combobox"
          value={text}
          spellCheck={false}
          autoComplete="off"
          enterKeyHint="send"
          placeholder="Ask in plain words"
          aria-label="Your question"
          aria-describedby="ask-problem"
          aria-autocomplete="list"
          aria-expanded={offered.length > 0}
          aria-controls="past-questions"
          aria-activedescendant={offered[at] === undefined ? undefined : `past-${at}`}
          onKeyDown={onKeyDown}
          onBlur={close}
          onChange={(event) => {
            setText(event.target.value)
            setAt(-1)
            setOpen(event.target.value.trim() !== '')
          }}
        />
        <ul id="past-questions" role="listbox" aria-label="Questions to ask" hidden={offered.length === 0}>
          {offered.map((question, index) => (
            <li
              key={question}
              id={`past-${index}`}
              role="option"
              aria-selected={index === at}
              onPointerDown={(event) => {
                event.preventDefault()
                take(question)
              }}
            >
              {question}
            </li>
          ))}
        </ul>
      </div>
      <button type="submit" className="primary" disabled={ask.sending}>
        {ask.sending ? 'Sending…' : 'Ask'}
      </button>
      <Link to="/sql" className="button quiet" current={path === '/sql'}>
        SQL
      </Link>
      <p id="ask-problem" className="problem" role="alert">
        {ask.problem}
      </p>
    </form>
  )
}
