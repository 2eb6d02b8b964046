// What a person prefers in this browser: kept here, the same in every tab.

import { useSyncExternalStore } from 'react'

export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  /** What becomes of a run when its edited version is started: asked the first time. */
  supersede: 'ask' | 'stop' | 'keep'
  /** Whether to notify when something ends or asks while the page is not looked at. */
  notify: 'ask' | 'yes' | 'no'
  /** Whether single keys do something. */
  shortcuts: boolean
}

const KEPT_AS = 'awhile:preferences'
const AT_FIRST: Preferences = { theme: 'system', supersede: 'ask', notify: 'ask', shortcuts: true }

function read(): Preferences {
  try {
    return { ...AT_FIRST, ...(JSON.parse(localStorage.getItem(KEPT_AS) ?? '{}') as Partial<Preferences>) }
  } catch {
    return AT_FIRST
  }
}

let preferences = read()
showTheme()
const listeners = new Set<() => void>()

function showTheme(): void {
  document.documentElement.dataset.theme = preferences.theme
}

function tell(): void {
  showTheme()
  for (const listener of listeners) listener()
}

addEventListener('storage', (event) => {
  if (event.key !== KEPT_AS) return
  preferences = read()
  tell()
})

export function prefer(some: Partial<Preferences>): void {
  preferences = { ...preferences, ...some }
  localStorage.setItem(KEPT_AS, JSON.stringify(preferences))
  tell()
}

export function preferred(): Preferences {
  return preferences
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferred)
}
