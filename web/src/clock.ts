// Time as the page shows it: ticks locally from what the server said, so no two clocks are compared.

import { useSyncExternalStore } from 'react'

const TICK_MS = 500

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const still = (): (() => void) => () => {}

/** `Date.now()`, renewed twice a second while `on`; one tick for the whole page. */
export function useNow(on = true): number {
  return useSyncExternalStore(on ? subscribe : still, () => now)
}

/** Seconds that were true when heard, carried on to now. */
export function carriedOn(seconds: number, heardAt: number, at: number): number {
  return seconds + Math.max(0, at - heardAt) / 1000
}

/** A day and the time of it, as people here write them. */
export function dayAndTime(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

/** The time of day, as people here write it. */
export function timeOfDay(iso: string): string {
  return new Date(iso).toLocaleTimeString()
}
