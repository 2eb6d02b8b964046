// Where the page is: `/`, `/sql`, `/t/{id}` or `/s/{share id}`, and how a result is looked at. No router needed.

import { useSyncExternalStore } from 'react'

const MOVED = 'awhile:moved'

/** What a page is told by the one that led to it; kept by the browser with the entry. */
export interface Note {
  /** The very same was running already, so it was not started again. */
  attached?: boolean
  /** What became of stopping the version before. */
  superseded?: 'stop_asked' | 'not_sent' | 'unknown'
  /** The version before. */
  before?: string
  /** The runs of a script, in their order. */
  script?: string[]
}

export function go(path: string, note: Note | null = null): void {
  if (path === location.pathname + location.search) return
  history.pushState(note, '', path)
  dispatchEvent(new Event(MOVED))
}

/** Changes how the page is looked at, without a new entry to come back to. */
export function lookAt(search: URLSearchParams): void {
  const query = search.toString()
  history.replaceState(history.state, '', location.pathname + (query && `?${query}`))
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

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname)
}

export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => location.search)
}

export function useNote(): Note | null {
  return useSyncExternalStore(subscribe, () => history.state as Note | null)
}

/** The id of the run being looked at; null elsewhere. */
export function runIn(path: string): string | null {
  return idIn(/^\/t\/([^/]+)$/, path)
}

/** The id of the share being read; null elsewhere. */
export function shareIn(path: string): string | null {
  return idIn(/^\/s\/([^/]+)$/, path)
}

/** Where a share is read. */
export function addressOfShare(shareId: string): string {
  return `${location.origin}/s/${encodeURIComponent(shareId)}`
}

function idIn(pattern: RegExp, path: string): string | null {
  const match = pattern.exec(path)
  return match?.[1] ? decodeURIComponent(match[1]) : null
}
