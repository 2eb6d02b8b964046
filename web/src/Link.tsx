import type { ReactNode } from 'react'

import type { Note } from './path.ts'
import { go } from './path.ts'

/** A link within the page; opening it in a new tab stays the browser's business. */
export function Link(props: {
  to: string
  className?: string
  current?: boolean
  /** What the page is told that it leads to. */
  note?: Note
  children: ReactNode
}): ReactNode {
  return (
    <a
      href={props.to}
      className={props.className}
      aria-current={props.current ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(props.to, props.note ?? null)
      }}
    >
      {props.children}
    </a>
  )
}
