import type { PointerEvent, ReactNode } from 'react'
import { useRef } from 'react'

/** The heading of a column: sorts when pressed, and is made wider at its edge. */
export function Heading(props: {
  id: string
  index: number
  name: string
  type: string
  number: boolean
  sorted: 'none' | 'ascending' | 'descending'
  active: boolean
  onSort: () => void
  width: number
  onResize: (px: number) => void
  onFit: () => void
}): ReactNode {
  const from = useRef<{ x: number; width: number } | null>(null)
  const { sorted } = props
  const kinds = ['head']
  if (props.number) kinds.push('number')
  if (props.active) kinds.push('active')
  const onPointerDown = (event: PointerEvent<HTMLSpanElement>): void => {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    from.current = { x: event.clientX, width: props.width }
  }
  return (
    <div
      id={props.id}
      role="columnheader"
      aria-colindex={props.index + 1}
      aria-sort={sorted}
      className={kinds.join(' ')}
      title={`${props.name} · ${props.type}`}
    >
      <button type="button" tabIndex={-1} onClick={props.onSort}>
        {props.name}
        {sorted !== 'none' && <span aria-hidden="true">{sorted === 'descending' ? ' ↓' : ' ↑'}</span>}
      </button>
      {/* By keys: Alt+Left and Alt+Right on the heading. */}
      <span
        className="edge"
        aria-hidden="true"
        onPointerDown={onPointerDown}
        onPointerMove={(event) => {
          if (from.current) props.onResize(from.current.width + event.clientX - from.current.x)
        }}
        onPointerUp={() => {
          from.current = null
        }}
        onDoubleClick={props.onFit}
      />
    </div>
  )
}
