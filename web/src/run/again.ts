// How to ask for the same again: as its owner, or as somebody who reads what another shares.

import type { Asked } from '../api.ts'
import type { Parameters, Run, Shared } from '../types.ts'

/** How a run's owner asks for the very same; null while its SQL is not known. */
export function askedBy(
  run: Pick<Run, 'question' | 'follows'>,
  sql: string | null,
  parameters: Parameters | null,
): Asked | null {
  if (run.question !== null) {
    return run.follows === null ? { question: run.question } : { question: run.question, follows: run.follows }
  }
  return sql === null ? null : { sql, parameters: parameters ?? {} }
}

/** How a reader asks for the same: a question that goes on from another's says too little alone. */
export function askedAsOwn(
  asks: Shared['asks'],
  run: Pick<Run, 'question' | 'sql' | 'parameters'>,
): Asked | null {
  if (asks === 'question' && run.question !== null) return { question: run.question }
  if (asks === 'sql' && run.sql !== null) return { sql: run.sql, parameters: run.parameters ?? {} }
  return null
}
