import type { ReactNode } from 'react'

import type { Run } from '../types.ts'
import { titleOf } from '../words.ts'

/** What a run is called, with its question where that is something else. */
export function Title(props: { run: Run }): ReactNode {
  const { run } = props
  return (
    <h1 className={run.question === null && run.title === null ? 'sql-title' : undefined}>
      {titleOf(run)}
      {run.title !== null && run.question !== null && <span className="under-title">{run.question}</span>}
    </h1>
  )
}
