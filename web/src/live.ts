// What the page knows now: the runs, the server's reachability, and how fresh all that is.
//
// One event stream per browser: over HTTP/1.1 a browser opens at most six connections to a host,
// so a stream per tab would leave the seventh tab unable even to load. The tab that holds a Web
// Lock owns the stream and passes everything on; when it closes, the lock goes to another tab.

import { useSyncExternalStore } from 'react'

import { askSession, meet } from './session.ts'
import type { Run, SeenRun, Server, Sync } from './types.ts'
import type { Stream } from './words.ts'

export interface Live {
  epoch: string | null
  rev: number
  runs: ReadonlyMap<string, SeenRun>
  server: Server
  stream: Stream
  /** When the last sync or heartbeat came (`Date.now()`). */
  heardAt: number | null
}

type Told =
  | { kind: 'sync'; sync: Sync; at: number }
  | { kind: 'beat'; at: number }
  | { kind: 'stream'; stream: Stream }
  | { kind: 'who' }
  | { kind: 'state'; state: Live }
  /** The person has signed out, or another one has signed in: nothing of the one before stays. */
  | { kind: 'leave'; to: string | null }

const RETRY_MS = 700
/** How soon it is tried again where there are too many people: each of them does. */
const FULL_RETRY_MS = 5000

let live: Live = {
  epoch: null,
  rev: 0,
  runs: new Map(),
  server: { reachable: false, since: null },
  stream: 'connecting',
  heardAt: null,
}
const listeners = new Set<() => void>()

function set(next: Live): void {
  live = next
  for (const listener of listeners) listener()
}

/** Takes what the backend sent: everything, or what changed since. Older news never wins. */
export function apply(state: Live, sync: Sync, at: number): Live {
  const runs = new Map(sync.full ? [] : state.runs)
  for (const run of sync.runs) {
    const known = state.epoch === sync.epoch ? state.runs.get(run.id) : undefined
    runs.set(run.id, known && known.rev > run.rev ? known : { ...run, seenAt: at })
  }
  const { epoch, rev, server } = sync
  return { ...state, epoch, rev, server, runs, stream: 'open', heardAt: at }
}

/** Shows a run this tab just started, without waiting for the stream. */
export function adopt(run: Run): void {
  const known = live.runs.get(run.id)
  if (known && known.rev >= run.rev) return
  set({ ...live, runs: new Map(live.runs).set(run.id, { ...run, seenAt: Date.now() }) })
}

/** Forgets a run that this tab has deleted. */
export function drop(id: string): void {
  const runs = new Map(live.runs)
  if (runs.delete(id)) set({ ...live, runs })
}

let leading = false

/** Whether this tab is the one that holds the stream. */
export function isLeading(): boolean {
  return leading
}

function hear(told: Told): void {
  switch (told.kind) {
    case 'sync':
      return set(apply(live, told.sync, told.at))
    case 'beat':
      return set({ ...live, stream: 'open', heardAt: told.at })
    case 'stream':
      return set({ ...live, stream: told.stream })
    case 'who':
      if (leading) channel.postMessage({ kind: 'state', state: live } satisfies Told)
      return
    case 'leave':
      return told.to === null ? location.reload() : location.replace(told.to)
    case 'state':
      if (live.epoch !== told.state.epoch || live.rev <= told.state.rev) set(told.state)
  }
}

let channel: BroadcastChannel

function tell(told: Told): void {
  channel.postMessage(told)
  hear(told)
}

/** Takes every other tab of this browser away from what it shows. */
export function leave(to: string): void {
  channel.postMessage({ kind: 'leave', to } satisfies Told)
}

/**
 * Joins the tabs of this person in this browser; leads them when nobody else does. Called once.
 *
 * Of this person: somebody whose cookie was deleted is signed in still, in a tab that stays open.
 */
export async function goLive(): Promise<void> {
  let found = await askSession()
  while (found.state !== 'here') {
    hear({ kind: 'stream', stream: found.state })
    await pause(RETRY_MS)
    found = await askSession()
  }
  meet(found.person)
  const name = found.person === null ? 'awhile' : `awhile ${found.person.id}`
  channel = new BroadcastChannel(name)
  channel.onmessage = (event: MessageEvent<Told>) => hear(event.data)
  channel.postMessage({ kind: 'who' } satisfies Told)
  // Held until the tab goes away, on purpose: the promise never settles.
  void navigator.locks.request(name, () => {
    leading = true
    listen()
    return new Promise<never>(() => {})
  })
}

function listen(): void {
  const after = live.epoch === null ? '' : `?after=${encodeURIComponent(`${live.epoch}:${live.rev}`)}`
  const source = new EventSource(`/api/events${after}`)
  let again = false
  source.onmessage = (event: MessageEvent<string>) => {
    tell({ kind: 'sync', sync: JSON.parse(event.data) as Sync, at: Date.now() })
  }
  source.addEventListener('beat', () => tell({ kind: 'beat', at: Date.now() }))
  source.onerror = () => {
    if (again) return
    again = true
    source.close()
    void recover()
  }
}

/** Says why there is no stream, and opens another once there may be one. */
async function recover(): Promise<void> {
  for (;;) {
    const found = await askSession()
    const here = found.state === 'here'
    if (here && !meet(found.person)) return tell({ kind: 'leave', to: null })
    const full = here && found.full
    tell({ kind: 'stream', stream: full ? 'full' : here ? 'broken' : found.state })
    await pause(full ? FULL_RETRY_MS : RETRY_MS)
    if (here || found.state === 'broken') return listen()
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useLive(): Live {
  return useSyncExternalStore(subscribe, () => live)
}
