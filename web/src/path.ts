// Where the page is: `/` or `/t/{id}`. Two routes need no router.

import { useSyncExternalStore } from 'react'

const MOVED = 'awhile:moved'

export function go(path: string): void {
  if (path === location.pathname) return
  history.pushState(null, '', path)
  dispatchEvent(new Event(MOVED))
}

export function pathOf(id: string): string {
  return `/t/${encodeURIComponent(id)}`
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  addEventListener(MOVED, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(MOVED, listener)
  }
}

/** The id of the run being looked at; null on the front page. */
export function useRunId(): string | null {
  const path = useSyncExternalStore(subscribe, () => location.pathname)
  const match = /^\/t\/([^/]+)$/.exec(path)
  return match?.[1] ? decodeURIComponent(match[1]) : null
}
