import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'

import { useDatabase } from '../database.ts'
import { useAsk } from './ask.ts'

const SchemaBrowser = lazy(async () => ({ default: (await import('./SchemaBrowser.tsx')).SchemaBrowser }))

export function FrontPage(): ReactNode {
  const database = useDatabase()
  const ask = useAsk()
  const examples = database?.examples ?? []
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
                <button type="button" disabled={ask.sending} onClick={() => void ask.send({ question })}>
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
      {database && database.tables.length > 0 && (
        <Suspense fallback={<p className="dim">…</p>}>
          <SchemaBrowser database={database} />
        </Suspense>
      )}
    </section>
  )
}
