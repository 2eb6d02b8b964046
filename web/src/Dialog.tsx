import type { ReactNode } from 'react'
import { useEffect, useId, useRef } from 'react'

/** A modal dialog; the browser keeps the focus in it, and gives it back. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }): ReactNode {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = box.current
    if (dialog && !dialog.open) dialog.showModal()
  }, [])
  return (
    <dialog ref={box} aria-labelledby={id} onClose={props.onClose} onClick={(event) => event.target === box.current && box.current.close()}>
      <div className="dialog">
        <h2 id={id}>{props.title}</h2>
        {props.children}
        <button type="button" className="quiet close" aria-label="Close" onClick={() => box.current?.close()}>
          ×
        </button>
      </div>
    </dialog>
  )
}
