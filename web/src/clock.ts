// Time as the page shows it: ticks locally from what the server said, so no two clocks are compared.

import { useEffect, useState } from 'react'

/** `Date.now()`, renewed every `everyMs` while `on`. */
export function useNow(everyMs: number, on = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!on) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, on])
  return now
}

/** Seconds that were true when heard, carried on to now. */
export function carriedOn(seconds: number, heardAt: number, now: number): number {
  return seconds + Math.max(0, now - heardAt) / 1000
}

/** The time of day, as people here write it. */
export function timeOfDay(iso: string): string {
  return new Date(iso).toLocaleTimeString()
}
