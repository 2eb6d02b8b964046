// Single keys, while nothing is being typed; they can be turned off in the settings (WCAG 2.1.4).

import { useEffect, useRef } from 'react'

import { preferred } from '../preferences.ts'

export const SHORTCUTS: [string, string][] = [
  ['/', 'Ask a question'],
  ['e', 'Write SQL'],
  ['j, k', 'The next run of the list, the one before'],
  ['i', 'Search the list'],
  ['s', 'To the Stop button; Enter then stops'],
  ['t', 'Into the table'],
  ['h', 'To the start'],
  ['?', 'This help'],
]

export const GRID_KEYS: [string, string][] = [
  ['Arrows, Page Up, Page Down', 'Move; with Shift, select'],
  ['Home, End', 'To the first, the last column; with Ctrl, to the first, the last cell'],
  ['Ctrl+A', 'Select everything'],
  ['Ctrl+C', 'Copy the selected cells, exactly'],
  ['Up from the first row', 'To the headings: Enter sorts, Alt+Left and Alt+Right change the width'],
]

export const EDITOR_KEYS: [string, string][] = [
  ['Ctrl+Enter', 'Run'],
  ['Ctrl+Space', 'Complete'],
  ['Tab', 'On to the next field'],
]

/** Does what the key stands for, unless somebody is typing. */
export function useShortcuts(acts: Record<string, () => void>): void {
  const latest = useRef(acts)
  useEffect(() => {
    latest.current = acts
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const act = latest.current[event.key]
      // An editor stands in a shadow root, where only the path of the event shows it.
      const at = event.composedPath()[0]
      if (!act || !preferred().shortcuts || isTyping(at) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function isTyping(at: EventTarget | undefined): boolean {
  return at instanceof HTMLElement && (at.isContentEditable || at.matches('input, textarea, select'))
}
