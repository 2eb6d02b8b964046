import type { ClipboardEvent, KeyboardEvent, ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

import type { Cell, Column } from '../types.ts'
import { columnsInView, edges, isNumeric, shownName, widths } from './columns.ts'
import { Heading } from './Heading.tsx'
import { ROW_PX, topShowing, trackPx } from './scroll.ts'
import type { At, Range, Selection } from './selection.ts'
import { HEADING, holds, moved, rangeOf } from './selection.ts'
import type { Pages } from './useRows.ts'
import type { useScroll } from './useScroll.ts'
import type { Sort } from './view.ts'

const CUT_AT = 300
const NARROWEST_PX = 40
const STEP_PX = 16

/** The exact rows of a result: cells are the text the database gave, never rounded. */
export function Grid(props: {
  columns: Column[]
  /** The columns that are shown, by their place in the result. */
  shown: number[]
  count: number
  /** Whether the count is all there is. */
  whole: boolean
  rows: Pages
  scroll: ReturnType<typeof useScroll>
  sort: Sort | null
  onSort: (column: number) => void
  selection: Selection | null
  onSelect: (selection: Selection | null) => void
  /** Copies a range whose cells may not be loaded. */
  onCopy: (range: Range, clipboard: DataTransfer) => void
}): ReactNode {
  const { columns, shown, count, rows, scroll, selection } = props
  const { scroller, height, width, left, shown: inView } = scroll
  const [own, setOwn] = useState<ReadonlyMap<number, number>>(new Map())
  const grown = useGrowing(widths(columns, rows.loaded))
  const wide = shown.map((column) => own.get(column) ?? grown[column] ?? NARROWEST_PX)
  const edge = edges(wide)
  const [first, end] = columnsInView(edge, left, width)
  const drawn = shown.slice(first, end)
  const line = {
    paddingInlineStart: edge[first],
    gridTemplateColumns: `${wide.slice(first, end).map((px) => `${px}px`).join(' ')} 1fr`,
    inlineSize: Math.max(edge.at(-1) ?? 0, width),
  }
  const range = rangeOf(selection)

  const resize = (column: number, px: number): void => setOwn(new Map(own).set(column, Math.max(NARROWEST_PX, px)))
  const show = (at: At): void => {
    if (at.row !== HEADING) scroll.moveTo(topShowing(at.row, inView.top, height))
    const box = scroller.current
    const [from, to] = [edge[at.column] ?? 0, edge[at.column + 1] ?? 0]
    if (!box) return
    if (from < box.scrollLeft) box.scrollLeft = from
    else if (to > box.scrollLeft + box.clientWidth) box.scrollLeft = Math.min(from, to - box.clientWidth)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = selection?.focus
    const column = at === undefined ? undefined : shown[at.column]
    if (at?.row === HEADING && column !== undefined) {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault()
        return props.onSort(column)
      }
      if (event.altKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
        event.preventDefault()
        return resize(column, (wide[at.column] ?? 0) + (event.key === 'ArrowRight' ? STEP_PX : -STEP_PX))
      }
    }
    const page = Math.max(1, Math.floor(height / ROW_PX) - 2)
    const next = moved(selection, event, { rows: count, columns: shown.length, page })
    if (next === null) return
    event.preventDefault()
    props.onSelect(next)
    show(next.focus)
  }
  const onCopy = (event: ClipboardEvent): void => {
    if (range === null || getSelection()?.toString()) return
    event.preventDefault()
    props.onCopy(range, event.clipboardData)
  }
  const drag = useDrag((focus) => {
    props.onSelect({ anchor: selection?.anchor ?? focus, focus })
  })
  const begin = (at: At, extend: boolean): void => {
    props.onSelect({ anchor: extend && selection ? selection.anchor : at, focus: at })
    drag.begin()
  }

  return (
    <div
      ref={scroller}
      className="grid"
      role="grid"
      tabIndex={0}
      aria-label="Result rows"
      aria-rowcount={props.whole ? count + 1 : -1}
      aria-colcount={shown.length}
      aria-multiselectable="true"
      aria-activedescendant={selection ? cellId(selection.focus) : undefined}
      onKeyDown={onKeyDown}
      onCopy={onCopy}
    >
      <div role="rowgroup" className="heads">
        <div role="row" aria-rowindex={1} className="row" style={line}>
          {drawn.map((column, index) => (
            <Heading
              key={column}
              id={cellId({ row: HEADING, column: first + index })}
              index={first + index}
              name={shownName(columns[column]!, column)}
              type={columns[column]!.type}
              number={isNumeric(columns[column]!)}
              sorted={props.sort?.column === column ? (props.sort.descending ? 'descending' : 'ascending') : 'none'}
              active={selection?.focus.row === HEADING && selection.focus.column === first + index}
              onSort={() => props.onSort(column)}
              width={wide[first + index] ?? NARROWEST_PX}
              onResize={(px) => resize(column, px)}
              onFit={() => setOwn(new Map([...own].filter(([one]) => one !== column)))}
            />
          ))}
        </div>
      </div>
      <div role="rowgroup" className="rows" style={{ blockSize: trackPx(count), inlineSize: line.inlineSize }}>
        {Array.from({ length: Math.max(0, inView.end - inView.first) }, (_, index) => inView.first + index).map((row) => (
          <div
            key={row}
            role="row"
            aria-rowindex={row + 2}
            className="row"
            style={{ ...line, insetBlockStart: row * ROW_PX - inView.top + inView.scrolled }}
          >
            {drawn.map((column, index) => (
              <Value
                key={column}
                at={{ row, column: first + index }}
                cell={rows.at(row)?.[column]}
                number={isNumeric(columns[column]!)}
                selected={holds(range, row, first + index)}
                active={selection?.focus.row === row && selection.focus.column === first + index}
                onBegin={begin}
                onOver={drag.over}
              />
            ))}
          </div>
        ))}
      </div>
    </div>
  )
}

function Value(props: {
  at: At
  cell: Cell | undefined
  number: boolean
  selected: boolean
  active: boolean
  onBegin: (at: At, extend: boolean) => void
  onOver: (at: At) => void
}): ReactNode {
  const { at, cell } = props
  const kinds = ['cell']
  if (props.number) kinds.push('number')
  if (cell === null) kinds.push('null')
  if (props.selected) kinds.push('selected')
  if (props.active) kinds.push('active')
  return (
    // Keys are the grid's (aria-activedescendant), so a cell itself takes only the pointer.
    <div
      id={cellId(at)}
      role="gridcell"
      aria-colindex={at.column + 1}
      aria-selected={props.selected}
      className={kinds.join(' ')}
      onPointerDown={(event) => event.button === 0 && props.onBegin(at, event.shiftKey)}
      onPointerEnter={() => props.onOver(at)}
    >
      {cell === null ? 'null' : cell === undefined ? '…' : cell.length > CUT_AT ? `${cell.slice(0, CUT_AT)}…` : cell}
    </div>
  )
}

function cellId(at: At): string {
  return at.row === HEADING ? `head-${at.column}` : `cell-${at.row}-${at.column}`
}

/** Columns only ever grow, so that nothing jumps while rows come in. */
function useGrowing(wanted: number[]): number[] {
  const kept = useRef<number[]>([])
  kept.current = wanted.map((px, index) => Math.max(px, kept.current[index] ?? 0))
  return kept.current
}

/** Selecting with the pointer held down. */
function useDrag(onOver: (at: At) => void): { begin: () => void; over: (at: At) => void } {
  const dragging = useRef(false)
  useEffect(() => {
    const end = (): void => {
      dragging.current = false
    }
    addEventListener('pointerup', end)
    addEventListener('pointercancel', end)
    return () => {
      removeEventListener('pointerup', end)
      removeEventListener('pointercancel', end)
    }
  }, [])
  return {
    begin: () => {
      dragging.current = true
    },
    over: (at) => {
      if (dragging.current) onOver(at)
    },
  }
}
