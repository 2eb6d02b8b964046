import { useEffect, useState } from 'react'

import type { SeenRun } from '../types.ts'
import type { Sample } from './pace.ts'
import { sampled, secondsLeft } from './pace.ts'

/** Seconds that a run will still take, once its percentage has grown steadily while looked at. */
export function useSecondsLeft(run: SeenRun): number | null {
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const { percent, seenAt } = run
  const live = run.ended_at === null
  useEffect(() => {
    if (!live || percent === null) setSamples([])
    else setSamples((before) => sampled(before, { at: seenAt / 1000, percent }))
  }, [live, percent, seenAt])
  return secondsLeft(samples)
}
