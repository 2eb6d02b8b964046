// Which runs an inbox shows, in which group and order.

import type { Run } from '../types.ts'
import { titleOf } from '../words.ts'

export const GROUPS = ['Needs you', 'Running', 'Pinned', 'Finished'] as const
export type Group = (typeof GROUPS)[number]

export const STATES = ['all', 'running', 'answered', 'failed', 'stopped'] as const
export type Wanted = (typeof STATES)[number]

type Listed = Pick<
  Run,
  'title' | 'question' | 'sql' | 'status' | 'is_error' | 'outcome' | 'pinned' | 'created_at' | 'reading'
>

export function groupOf(run: Listed): Group {
  if (run.status === 'input_required') return 'Needs you'
  if (run.status === 'working') return 'Running'
  return run.pinned ? 'Pinned' : 'Finished'
}

/** Whether a run is in that state and holds every word that was typed. */
export function fits(run: Listed, words: string, wanted: Wanted): boolean {
  if (wanted !== 'all' && stateOf(run) !== wanted) return false
  const text = [titleOf(run), run.question, run.sql, run.reading].filter(Boolean).join(' ').toLowerCase()
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function stateOf(run: Listed): Wanted {
  if (run.status === 'working' || run.status === 'input_required') return 'running'
  if (run.status === 'cancelled') return 'stopped'
  return run.status === 'completed' && !run.is_error ? 'answered' : 'failed'
}

/** The runs of each group, newest first. */
export function grouped<R extends Listed>(runs: Iterable<R>, words: string, wanted: Wanted): [Group, R[]][] {
  const newestFirst = [...runs]
    .filter((run) => fits(run, words, wanted))
    .sort((a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? ''))
  return GROUPS.map((group): [Group, R[]] => [group, newestFirst.filter((run) => groupOf(run) === group)]).filter(
    ([, members]) => members.length > 0,
  )
}

/** When it was asked: the time of day today, the day before that. */
export function whenInWords(iso: string | null, now: Date): string {
  if (iso === null) return ''
  const at = new Date(iso)
  if (at.toDateString() === now.toDateString()) {
    return at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  }
  const year = at.getFullYear() === now.getFullYear() ? undefined : ('numeric' as const)
  return at.toLocaleDateString([], { day: 'numeric', month: 'short', year })
}
