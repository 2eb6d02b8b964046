import type { ReactNode } from 'react'

import { useAsk } from './ask.ts'
import { useDatabase } from './database.ts'
import { whole } from './words.ts'

export function FrontPage(): ReactNode {
  const database = useDatabase()
  const ask = useAsk()
  const { name, tables, examples } = database ?? { name: null, tables: [], examples: [] }
  return (
    <section className="front">
      <h1>Ask your database</h1>
      <p className="lead">
        Ask in plain words; see what is computed, watch it run, stop it when you like, and come back
        for the table.
      </p>
      {database === undefined && <p className="dim">Reading what the database holds…</p>}
      {examples.length > 0 && (
        <>
          <h2>For example</h2>
          <ul className="examples">
            {examples.map((question) => (
              <li key={question}>
                <button type="button" disabled={ask.sending} onClick={() => void ask.send(question, false)}>
                  {question}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      <p className="problem" role="alert">
        {ask.problem}
      </p>
      {tables.length > 0 && (
        <>
          <h2>What “{name}” holds</h2>
          <dl className="tables">
            {tables.map((table) => (
              <div key={table.name}>
                <dt>
                  {table.name}
                  {table.row_count !== null && <span> {whole(table.row_count)} rows</span>}
                </dt>
                <dd>{table.comment ?? table.columns.map((column) => column.name).join(', ')}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </section>
  )
}
