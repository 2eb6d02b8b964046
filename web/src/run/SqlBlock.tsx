import type { ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'

import { shownValue } from '../asking/parameters.ts'
import type { Parameters, Result, SeenRun } from '../types.ts'
import { Copy } from './Copy.tsx'

const SqlForm = lazy(async () => ({ default: (await import('../asking/SqlForm.tsx')).SqlForm }))

const KEYWORDS = new Set(
  ('select from where group by order having limit offset join left right inner outer full cross on as ' +
    'and or not in is null between like distinct with union all except intersect case when then else end ' +
    'asc desc using over partition interval date true false exists filter nulls first last').split(' '),
)
const TOKENS = /('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|.)/g

/** The SQL, open while it runs and folded when it is done; to be changed and run again. */
export function SqlBlock(props: {
  run: SeenRun
  sql: string
  parameters: Parameters | null
  open: boolean
  mark: Result['error'] | null
  readOnly: boolean
}): ReactNode {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const [editing, setEditing] = useState(false)
  const open = chosen ?? props.open
  const values = Object.entries(props.parameters ?? {})
  if (editing) {
    return (
      <Suspense fallback={<p className="dim">Opening the editor…</p>}>
        <SqlForm
          sql={props.sql}
          parameters={props.parameters}
          before={props.run}
          mark={props.mark}
          onLeave={() => setEditing(false)}
        />
      </Suspense>
    )
  }
  return (
    <section className="sql" aria-label="SQL">
      <button type="button" className="fold" aria-expanded={open} onClick={() => setChosen(!open)}>
        SQL
      </button>
      <Copy text={props.sql} />
      {!props.readOnly && (
        <button type="button" className="quiet" onClick={() => setEditing(true)}>
          Edit SQL
        </button>
      )}
      {open && (
        <pre tabIndex={0} aria-label="SQL text">
          <code>
            {props.sql.split('\n').map((line, index) => (
              <Line key={index} text={line} column={props.mark?.line === index + 1 ? (props.mark.column ?? 0) : null} />
            ))}
          </code>
        </pre>
      )}
      {values.length > 0 && (
        <dl className="values">
          {values.map(([name, value]) => (
            <div key={name}>
              <dt>:{name}</dt>
              <dd className={value === null ? 'null' : undefined}>{shownValue(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

/** One line; `column` is where it went wrong, counted from 1, 0 for somewhere in it. */
function Line(props: { text: string; column: number | null }): ReactNode {
  const { column } = props
  let at = 0
  return (
    <span className={column === null ? 'line' : 'line marked'}>
      {(props.text.match(TOKENS) ?? []).map((token, index) => {
        const [from, to] = [at + 1, (at += token.length)]
        const here = column !== null && from <= column && column <= to
        return (
          <span key={index} className={here ? `${classOf(token)} here` : classOf(token)}>
            {token}
          </span>
        )
      })}
      {'\n'}
    </span>
  )
}

function classOf(token: string): string {
  if (KEYWORDS.has(token.toLowerCase())) return 'keyword'
  if (token.startsWith("'")) return 'text'
  return token.startsWith('--') ? 'comment' : ''
}
