// The run before, of the very same question: what a result is compared with.

import type { Run } from '../types.ts'

type Asked = Pick<
  Run,
  'id' | 'tool' | 'question' | 'sql' | 'parameters' | 'created_at' | 'status' | 'is_error' | 'outcome'
>

/** The newest earlier run that asked the same and has a table. */
export function earlierOf<R extends Asked>(run: Asked, runs: Iterable<R>): R | null {
  let found: R | null = null
  for (const one of runs) {
    if (one.id === run.id || !isTable(one) || !isSame(one, run)) continue
    if ((one.created_at ?? '') >= (run.created_at ?? '')) continue
    if (found === null || (one.created_at ?? '') > (found.created_at ?? '')) found = one
  }
  return found
}

function isTable(run: Asked): boolean {
  return run.status === 'completed' && !run.is_error && run.outcome === 'table'
}

function isSame(one: Asked, other: Asked): boolean {
  if (one.tool !== other.tool) return false
  if (one.question !== null || other.question !== null) {
    return one.question?.trim().toLowerCase() === other.question?.trim().toLowerCase()
  }
  return one.sql === other.sql && JSON.stringify(one.parameters ?? {}) === JSON.stringify(other.parameters ?? {})
}
