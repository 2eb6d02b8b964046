// From a run as it was heard to its words now.

import { carriedOn } from './clock.ts'
import type { SeenRun } from './types.ts'
import type { StopRequest, Words } from './words.ts'
import { wordsFor } from './words.ts'

/** What to say of a run at `now`; `now` only matters while a stop is asked and not confirmed. */
export function wordsOf(run: SeenRun, now: number, fresh: boolean, request: StopRequest = 'none'): Words {
  const asked = run.cancel_asked_seconds
  const stopAskedSeconds = asked === null ? null : carriedOn(asked, run.seenAt, now)
  return wordsFor({ ...run, stopAskedSeconds }, request, fresh)
}

/** Seconds of work so far, or in all. A stale page does not pretend to know: it stands still. */
export function elapsedOf(run: SeenRun, now: number, fresh: boolean): number {
  return run.ended_at !== null || !fresh
    ? run.elapsed_seconds
    : carriedOn(run.elapsed_seconds, run.seenAt, now)
}
