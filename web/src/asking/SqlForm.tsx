import type { FormEvent, ReactNode } from 'react'
import { lazy, Suspense, useId, useRef, useState } from 'react'

import { useDatabase } from '../database.ts'
import type { Check, Parameters, Result, SeenRun } from '../types.ts'
import { whole as inFull } from '../words.ts'
import { useAsk } from './ask.ts'
import { ParameterFields } from './ParameterFields.tsx'
import type { Field } from './parameters.ts'
import { countStatements, faultOf, fieldOf, guessedType, namesIn, valuesOf } from './parameters.ts'
import type { EditorHandle } from './SqlEditor.tsx'
import { whatOfTheOneBefore } from './supersede.ts'
import { useCheck } from './useCheck.ts'
import './asking.css'

const SqlEditor = lazy(() => import('./SqlEditor.tsx'))

/** A statement to write or to change, with fields for its parameters. */
export function SqlForm(props: {
  sql: string
  parameters: Parameters | null
  /** The run whose statement this is; once it is changed, that run is superseded. */
  before?: SeenRun
  mark?: Result['error'] | null
  onEdit?: (sql: string) => void
  onLeave?: () => void
  editor?: { current: EditorHandle | null }
}): ReactNode {
  const own = useRef<EditorHandle>(null)
  const editor = props.editor ?? own
  const ask = useAsk()
  const database = useDatabase()
  const [sql, setSql] = useState(props.sql)
  const [fields, setFields] = useState<ReadonlyMap<string, Field>>(
    () => new Map(Object.entries(props.parameters ?? {}).map(([name, value]) => [name, fieldOf(value)])),
  )
  const [tried, setTried] = useState(false)
  const problemId = useId()
  const names = namesIn(sql)
  const whole = new Map(
    names.map((name) => [name, fields.get(name) ?? { type: guessedType(sql, name, database), text: '' }]),
  )
  const faulty = [...whole.values()].some((field) => faultOf(field) !== null)
  const check = useCheck(sql, faulty || countStatements(sql) > 1 ? null : valuesOf(names, whole))

  const run = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault()
    setTried(true)
    if (!sql.trim() || faulty) return
    const options = await whatOfTheOneBefore(props.before)
    if (options === null) return
    if (await ask.send({ sql, parameters: valuesOf(names, whole) }, options)) props.onLeave?.()
  }
  const running = useRef(run)
  running.current = run

  return (
    <form className="sql-form" onSubmit={(event) => void run(event)} aria-describedby={problemId}>
      <Suspense fallback={<pre className="sql-editor loading">{sql || 'Opening the editor…'}</pre>}>
        <SqlEditor
          start={props.sql}
          onChange={(text) => {
            setSql(text)
            props.onEdit?.(text)
          }}
          onRun={() => void running.current()}
          database={database}
          mark={check?.error ?? (sql === props.sql ? (props.mark ?? null) : null)}
          handle={editor}
          autoFocus
        />
      </Suspense>
      <ParameterFields
        fields={whole}
        told={tried}
        onChange={(name, field) => setFields(new Map(fields).set(name, field))}
      />
      <div className="acts">
        <button type="submit" className="primary" disabled={ask.sending}>
          {ask.sending ? 'Sending…' : 'Run'}
        </button>
        {props.onLeave && (
          <button type="button" onClick={props.onLeave}>
            Leave as it was
          </button>
        )}
        <span className={check?.error ? 'hint problem' : 'hint dim'} role="status">
          {hintOf(check)}
        </span>
      </div>
      <p id={problemId} className="problem" role="alert">
        {ask.problem}
      </p>
    </form>
  )
}

function hintOf(check: Check | undefined): string {
  if (check?.error) {
    const { line, column, message } = check.error
    return `${line == null ? '' : `Line ${line}${column == null ? '' : `, column ${column}`}: `}${message}`
  }
  if (check?.asks_first) return 'It is expected to be expensive: you are asked before it runs'
  if (check?.estimate) return `The database expects about ${inFull(Math.round(check.estimate.rows))} rows`
  return 'Ctrl+Enter runs it; only reading is allowed'
}
