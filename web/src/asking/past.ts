// Questions asked before, to ask again.

import type { Run } from '../types.ts'

export const MOST_SHOWN = 8

/** Past questions that hold what is typed, each once, newest first; what is typed itself is none. */
export function pastQuestions(runs: Iterable<Pick<Run, 'question' | 'created_at'>>, typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  const newestFirst = [...runs].sort((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? ''))
  const found = new Map<string, string>()
  for (const { question } of newestFirst) {
    if (question === null) continue
    const key = question.trim().toLowerCase()
    if (key !== wanted && key.includes(wanted) && !found.has(key)) found.set(key, question.trim())
  }
  return [...found.values()].slice(0, MOST_SHOWN)
}
