import type { ReactNode } from 'react'
import { useState } from 'react'

import type { Database, Table } from '../types.ts'
import { whole } from '../words.ts'
import { firstRowsOf, matching, quoted } from './schema.ts'
import { useAsk } from './ask.ts'

/** What the database holds: tables, columns, types, keys and comments; all of it data, shown as text. */
export function SchemaBrowser(props: {
  database: Database
  /** Where given, a click on a name puts it there. */
  onPick?: (text: string) => void
}): ReactNode {
  const { database } = props
  const [words, setWords] = useState('')
  const ask = useAsk()
  const tables = matching(database.tables, words)
  return (
    <section className="schema" aria-label={`What “${database.name}” holds`}>
      <h2>What “{database.name}” holds</h2>
      {database.tables.length > 6 && (
        <input
          type="search"
          placeholder="Find a table or a column"
          aria-label="Find a table or a column"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      <ul>
        {tables.map((table) => (
          <li key={table.name}>
            <details open={words !== '' || database.tables.length === 1}>
              <summary>
                <span className="table-name">{table.name}</span>
                {table.row_count !== null && <span className="dim"> {whole(table.row_count)} rows</span>}
              </summary>
              {table.comment && <p className="dim">{table.comment}</p>}
              <p className="table-acts">
                {props.onPick && (
                  <button type="button" className="link" onClick={() => props.onPick?.(quoted(table.name, database.dialect))}>
                    Insert its name
                  </button>
                )}
                <button
                  type="button"
                  className="link"
                  disabled={ask.sending}
                  onClick={() => void ask.send({ sql: firstRowsOf(table, database), parameters: {} })}
                >
                  First rows
                </button>
              </p>
              <Columns table={table} dialect={database.dialect} onPick={props.onPick} />
            </details>
          </li>
        ))}
      </ul>
      {tables.length === 0 && <p className="dim">Nothing there is called that.</p>}
      {database.notes.map((note) => (
        <p key={note} className="dim">
          {note}
        </p>
      ))}
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </section>
  )
}

function Columns(props: {
  table: Table
  dialect: string
  onPick: ((text: string) => void) | undefined
}): ReactNode {
  return (
    <ul className="table-columns">
      {props.table.columns.map((column) => (
        <li key={column.name}>
          {props.onPick ? (
            <button type="button" className="link" onClick={() => props.onPick?.(quoted(column.name, props.dialect))}>
              {column.name}
            </button>
          ) : (
            <span>{column.name}</span>
          )}{' '}
          <span className="dim">
            {column.type.toLowerCase()}
            {column.primary && ', key'}
            {column.references && `, → ${column.references}`}
            {column.comment && `: ${column.comment}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
