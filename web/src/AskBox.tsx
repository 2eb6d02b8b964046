import type { FormEvent, KeyboardEvent, ReactNode, RefObject } from 'react'
import { useState } from 'react'

import { useAsk } from './ask.ts'

export function AskBox(props: {
  box: RefObject<HTMLInputElement | HTMLTextAreaElement | null>
}): ReactNode {
  const ask = useAsk()
  const [text, setText] = useState(ask.pending?.text ?? '')
  const [inSql, setInSql] = useState(ask.pending?.inSql ?? false)

  const submit = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault()
    if (!text.trim()) return props.box.current?.focus()
    if (await ask.send(text, inSql)) setText('')
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') props.box.current?.blur()
    if (inSql && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit()
  }
  const field = {
    value: text,
    onKeyDown,
    spellCheck: false,
    'aria-label': inSql ? 'SQL' : 'Your question',
    'aria-describedby': 'ask-problem',
  }
  return (
    <form className={inSql ? 'ask in-sql' : 'ask'} onSubmit={submit}>
      {inSql ? (
        <textarea
          {...field}
          ref={props.box as RefObject<HTMLTextAreaElement>}
          rows={5}
          placeholder="SELECT … (Ctrl+Enter runs it)"
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        <input
          {...field}
          ref={props.box as RefObject<HTMLInputElement>}
          type="text"
          autoComplete="off"
          enterKeyHint="send"
          placeholder="Ask in plain words"
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <button
        type="button"
        className="quiet"
        aria-pressed={inSql}
        onClick={() => {
          setInSql(!inSql)
          requestAnimationFrame(() => props.box.current?.focus())
        }}
      >
        SQL
      </button>
      <button type="submit" className="primary" disabled={ask.sending}>
        {ask.sending ? 'Sending…' : inSql ? 'Run' : 'Ask'}
      </button>
      <p id="ask-problem" className="problem" role="alert">
        {ask.problem}
      </p>
    </form>
  )
}
