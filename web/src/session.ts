// Who is signed in, where several people use the page; on one's own computer nobody is.

import { useSyncExternalStore } from 'react'

export interface Person {
  id: string
  name: string
}

/**
 * Whether this browser may use the page: `signed-out` may sign in again, `locked` lacks the key. Where it
 * is `full`, there are too many people at the moment.
 */
export type Session =
  | { state: 'here'; person: Person | null; full: boolean }
  | { state: 'signed-out' | 'locked' | 'broken' }

let person: Person | null = null
const listeners = new Set<() => void>()

/** Asks the backend. The browser does not say why a stream broke; a plain request does. */
export async function askSession(): Promise<Session> {
  try {
    const reply = await fetch('/api/session')
    const body = (await reply.json()) as { person?: Person; full?: boolean; error?: { code: string } }
    if (reply.ok) return { state: 'here', person: body.person ?? null, full: body.full === true }
    if (reply.status === 401) return { state: body.error?.code === 'signed_out' ? 'signed-out' : 'locked' }
  } catch {
    // not there, or not whole
  }
  return { state: 'broken' }
}

/** Takes who is signed in; false if it is somebody else than before, whose page this is not. */
export function meet(found: Person | null): boolean {
  if (person !== null && person.id !== found?.id) return false
  person = found
  for (const listener of listeners) listener()
  return true
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function usePerson(): Person | null {
  return useSyncExternalStore(subscribe, () => person)
}
