import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

/** A button with something under it, which goes when one turns elsewhere. */
export function Menu(props: { label: string; children: ReactNode }): ReactNode {
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!open) return
    const onElsewhere = (event: Event): void => {
      if (!box.current?.contains(event.target as Node)) setOpen(false)
    }
    addEventListener('pointerdown', onElsewhere)
    addEventListener('focusin', onElsewhere)
    return () => {
      removeEventListener('pointerdown', onElsewhere)
      removeEventListener('focusin', onElsewhere)
    }
  }, [open])
  return (
    <div
      ref={box}
      className="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return
        event.stopPropagation()
        setOpen(false)
        button.current?.focus()
      }}
    >
      <button ref={button} type="button" className="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
        {props.label}
      </button>
      {open && <div className="menu-body">{props.children}</div>}
    </div>
  )
}
