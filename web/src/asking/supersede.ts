// What becomes of a run when its edited version is started: asked once, then remembered.

import { useSyncExternalStore } from 'react'

import type { StartOptions } from '../api.ts'
import { prefer, preferred } from '../preferences.ts'
import type { SeenRun } from '../types.ts'

export type Decision = 'stop' | 'keep' | null

let asking: ((decision: Decision) => void) | null = null
const listeners = new Set<() => void>()

function set(next: typeof asking): void {
  asking = next
  for (const listener of listeners) listener()
}

/** How to start the edited version of `before`; null if it is not to be started after all. */
export async function whatOfTheOneBefore(before: SeenRun | undefined): Promise<StartOptions | null> {
  if (!before || before.ended_at !== null || before.cancel_asked_at !== null) return {}
  let decision: Decision | 'ask' = preferred().supersede
  if (decision === 'ask') {
    decision = await new Promise<Decision>(set)
    set(null)
    if (decision === null) return null
    prefer({ supersede: decision })
  }
  return decision === 'stop' ? { supersedes: before.id } : {}
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Decides the question that is open; null if none is. */
export function useOpenDecision(): ((decision: Decision) => void) | null {
  return useSyncExternalStore(subscribe, () => asking)
}
