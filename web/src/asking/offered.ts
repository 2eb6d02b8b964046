// Questions to ask again, or for the first time: those of before, then the database's own examples.

import type { Run } from '../types.ts'

export const MOST_SHOWN = 8

/** Questions that hold what is typed, each once, past ones first and newest first; it itself is none. */
export function offeredQuestions(
  runs: Iterable<Pick<Run, 'question' | 'created_at' | 'follows'>>,
  examples: string[],
  typed: string,
): string[] {
  const wanted = typed.trim().toLowerCase()
  const newestFirst = [...runs]
    .filter((run) => run.follows === null) // alone, "and by country?" means nothing
    .sort((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? ''))
  const found = new Map<string, string>()
  for (const question of [...newestFirst.map((run) => run.question), ...examples]) {
    if (question === null) continue
    const key = question.trim().toLowerCase()
    if (key !== wanted && key.includes(wanted) && !found.has(key)) found.set(key, question.trim())
  }
  return [...found.values()].slice(0, MOST_SHOWN)
}
