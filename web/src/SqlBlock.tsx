import type { ReactNode } from 'react'
import { useState } from 'react'

import type { Result } from './types.ts'

const KEYWORDS = new Set(
  ('select from where group by order having limit offset join left right inner outer full cross on as ' +
    'and or not in is null between like distinct with union all except intersect case when then else end ' +
    'asc desc using over partition interval date true false exists filter nulls first last').split(' '),
)
const TOKENS = /('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|.)/g

/** The SQL, open while it runs and folded when it is done. */
export function SqlBlock(props: {
  sql: string
  open: boolean
  mark: Result['error'] | null
}): ReactNode {
  const [chosen, setChosen] = useState<boolean | null>(null)
  const [copied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(props.sql)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  const open = chosen ?? props.open
  return (
    <section className="sql">
      <button
        type="button"
        className="fold"
        aria-expanded={open}
        onClick={() => setChosen(!open)}
      >
        SQL
      </button>
      <button type="button" className="quiet" onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
      </button>
      {open && (
        <pre tabIndex={0} aria-label="SQL text">
          <code>
            {props.sql.split('\n').map((line, index) => (
              <Line key={index} text={line} marked={props.mark?.line === index + 1} />
            ))}
          </code>
        </pre>
      )}
    </section>
  )
}

function Line(props: { text: string; marked: boolean }): ReactNode {
  const tokens = props.text.match(TOKENS) ?? []
  return (
    <span className={props.marked ? 'line marked' : 'line'}>
      {tokens.map((token, index) => (
        <span key={index} className={classOf(token)}>
          {token}
        </span>
      ))}
      {'\n'}
    </span>
  )
}

function classOf(token: string): string | undefined {
  if (KEYWORDS.has(token.toLowerCase())) return 'keyword'
  if (token.startsWith("'")) return 'text'
  return token.startsWith('--') ? 'comment' : undefined
}
