import type { FormEvent, ReactNode } from 'react'
import { useId, useState } from 'react'

import { answerRun, ApiError } from '../api.ts'
import { adopt } from '../live.ts'
import type { AnswerContent, Asking } from '../types.ts'
import type { FormField } from './forms.ts'
import { contentOf, faultOf, fieldsOf } from './forms.ts'

type Held = string | string[]

/** A question of the work to the person. Declining goes on without an answer; it stops nothing. */
export function InputCard(props: { id: string; asking: Asking }): ReactNode {
  const { asking } = props
  const fields = fieldsOf(asking.schema)
  const [sending, setSending] = useState(false)
  const [sent, setSent] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)

  const answer = async (content: AnswerContent | null): Promise<void> => {
    setSending(true)
    setProblem(null)
    try {
      const { run } = await answerRun(
        props.id,
        asking.key,
        content === null ? { action: 'decline' } : { action: 'accept', content },
      )
      setSent(true)
      adopt(run)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'answered') setSent(true)
      setProblem(problemIn(error))
    } finally {
      setSending(false)
    }
  }
  return (
    <section className="panel asks tone-warn" aria-label="Needs your answer">
      <p className="said">{asking.message || 'The work asks for an answer.'}</p>
      {asking.url !== null && <p className="dim">It is to be answered at: {asking.url}</p>}
      {sent ? (
        <p className="dim">{problem ?? 'Answer sent.'}</p>
      ) : (
        <Form fields={fields} sending={sending} onAnswer={(content) => void answer(content)} />
      )}
      {!sent && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

function problemIn(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error)
  if (error.code === 'answered') return 'It has been answered meanwhile.'
  if (error.code === 'not_sent') return 'Not sent: the server cannot be reached. Send it again when it is back.'
  return error.message
}

function Form(props: {
  fields: FormField[]
  sending: boolean
  onAnswer: (content: AnswerContent | null) => void
}): ReactNode {
  const { fields, sending } = props
  const [held, setHeld] = useState<ReadonlyMap<string, Held>>(new Map())
  const [tried, setTried] = useState(false)
  const decline = (
    <button type="button" className="quiet" disabled={sending} onClick={() => props.onAnswer(null)}>
      Decline
    </button>
  )
  const buttons = asButtons(fields)
  if (buttons !== null) {
    return (
      <div className="acts">
        {buttons.map(({ label, content, chosen }) => (
          <button
            key={label}
            type="button"
            className={chosen ? 'primary' : undefined}
            disabled={sending}
            onClick={() => props.onAnswer(content)}
          >
            {label}
          </button>
        ))}
        {decline}
      </div>
    )
  }
  const faults = fields.map((field) => faultOf(field, held.get(field.name) ?? field.start))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setTried(true)
    if (faults.every((fault) => fault === null)) props.onAnswer(contentOf(fields, held))
  }
  return (
    <form className="input-form" noValidate onSubmit={submit}>
      {fields.map((field, index) => (
        <OneField
          key={field.name}
          field={field}
          held={held.get(field.name) ?? field.start}
          fault={tried ? (faults[index] ?? null) : null}
          onChange={(next) => setHeld(new Map(held).set(field.name, next))}
        />
      ))}
      <div className="acts">
        <button type="submit" className="primary" disabled={sending}>
          {sending ? 'Sending…' : 'Answer'}
        </button>
        {decline}
      </div>
    </form>
  )
}

interface OneButton {
  label: string
  content: AnswerContent
  /** What the work suggests. */
  chosen: boolean
}

/** One choice among few, or a yes or no, is a row of buttons: one click answers. */
function asButtons(fields: FormField[]): OneButton[] | null {
  const [field] = fields
  if (field === undefined) return [{ label: 'Yes', content: {}, chosen: true }]
  if (fields.length > 1) return null
  if (field.kind === 'yes_no') {
    return ['Yes', 'No'].map((label) => ({
      label,
      content: { [field.name]: label === 'Yes' },
      chosen: field.start === String(label === 'Yes'),
    }))
  }
  if (field.kind !== 'choice' || field.options.length > 5) return null
  return field.options.map(({ value, label }) => ({
    label,
    content: { [field.name]: value },
    chosen: field.start === value,
  }))
}

function OneField(props: {
  field: FormField
  held: Held
  fault: string | null
  onChange: (held: Held) => void
}): ReactNode {
  const { field, held, fault } = props
  const id = useId()
  const told = { id, 'aria-invalid': fault !== null, 'aria-describedby': `${id}-more` }
  return (
    <div className="input-field">
      <label htmlFor={id}>
        {field.label}
        {!field.required && <span className="dim"> (may be left out)</span>}
      </label>
      {Array.isArray(held) ? (
        <span role="group" aria-label={field.label} className="options">
          {field.options.map(({ value, label }) => (
            <label key={value}>
              <input
                type="checkbox"
                checked={held.includes(value)}
                onChange={(event) =>
                  props.onChange(event.target.checked ? [...held, value] : held.filter((one) => one !== value))
                }
              />
              {label}
            </label>
          ))}
        </span>
      ) : field.kind === 'choice' || field.kind === 'yes_no' ? (
        <select {...told} value={held} onChange={(event) => props.onChange(event.target.value)}>
          {(held === '' || !field.required) && <option value="">Choose…</option>}
          {(field.kind === 'yes_no' ? YES_NO : field.options).map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        isLong(field) ? (
        <textarea
          {...told}
          rows={Math.min(12, String(field.start).split('\n').length + 1)}
          value={held}
          onChange={(event) => props.onChange(event.target.value)}
        />
        ) : (
        <input
          {...told}
          type={field.kind === 'text' ? field.input : 'text'}
          inputMode={field.kind === 'text' ? undefined : 'decimal'}
          value={held}
          autoComplete="off"
          onChange={(event) => props.onChange(event.target.value)}
        />
        )
      )}
      <span id={`${id}-more`} className="more">
        {fault !== null ? <span className="problem">{fault}</span> : <span className="dim">{field.help}</span>}
      </span>
    </div>
  )
}

/** A text to be changed that is more than a line, such as SQL. */
function isLong(field: FormField): boolean {
  return field.kind === 'text' && (String(field.start).includes('\n') || String(field.start).length > 80)
}

const YES_NO = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]
