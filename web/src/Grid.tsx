import type { ClipboardEvent, KeyboardEvent, ReactNode } from 'react'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'

import type { Sort } from './api.ts'
import { isNumeric, shownName, widths } from './columns.ts'
import { mostTop, ROW_PX, scrollOfTop, topOfScroll, topShowing, trackPx, view } from './scroll.ts'
import type { Cell, Result } from './types.ts'
import { useRows } from './useRows.ts'
import { rowsInWords } from './words.ts'

interface At {
  row: number
  column: number
}

/** The exact rows of a result: cells are the text the database gave, never rounded. */
export function Grid(props: { id: string; result: Result }): ReactNode {
  const { result } = props
  const columns = result.columns ?? []
  const count = result.row_count ?? result.rows?.length ?? 0
  const [sort, setSort] = useState<Sort | null>(null)
  const [at, setAt] = useState<At | null>(null)
  const { scroller, height, shown, moveTo } = useScroll(count)
  const rows = useRows(props.id, result, shown.first, shown.end, sort)
  const wide = useGrowing(widths(columns, rows.loaded))
  const template = { gridTemplateColumns: wide.map((px) => `${px}px`).join(' ') + ' 1fr' }
  const selected = at === null ? undefined : rows.at(at.row)?.[at.column]

  const select = (row: number, column: number): void => {
    const next = {
      row: Math.min(Math.max(0, row), count - 1),
      column: Math.min(Math.max(0, column), columns.length - 1),
    }
    setAt(next)
    moveTo(topShowing(next.row, shown.top, height))
    const left = wide.slice(0, next.column).reduce((sum, px) => sum + px, 0)
    const box = scroller.current
    if (!box) return
    if (left < box.scrollLeft) box.scrollLeft = left
    const past = left + (wide[next.column] ?? 0) - box.clientWidth
    if (past > box.scrollLeft) box.scrollLeft = past
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = destination(event, at ?? { row: -1, column: 0 }, count, columns.length, height)
    if (to === null || count === 0) return
    event.preventDefault()
    select(to.row, to.column)
  }
  const onCopy = (event: ClipboardEvent): void => {
    if (selected == null || getSelection()?.toString()) return
    event.clipboardData.setData('text/plain', selected)
    event.preventDefault()
  }
  const sortBy = (column: number): void => {
    setAt(null)
    moveTo(0)
    setSort(
      sort?.column !== column
        ? { column, descending: false }
        : sort.descending
          ? null
          : { column, descending: true },
    )
  }

  return (
    <section className="result" aria-label="Result">
      <p className="count">
        {rowsInWords(count, result.truncated ?? false)}
        {rows.fetching && <span className="dim"> · {sort ? 'Sorting…' : 'Fetching rows…'}</span>}
        {rows.error && <span className="problem"> · {rows.error.message}</span>}
      </p>
      <div
        ref={scroller}
        className="grid"
        role="grid"
        tabIndex={0}
        aria-label="Result rows"
        aria-rowcount={result.truncated ? -1 : count + 1}
        aria-colcount={columns.length}
        aria-activedescendant={at ? cellId(at) : undefined}
        onKeyDown={onKeyDown}
        onCopy={onCopy}
      >
        <div role="rowgroup" className="heads">
          <div role="row" aria-rowindex={1} className="row" style={template}>
            {columns.map((column, index) => (
              <div
                key={index}
                role="columnheader"
                aria-colindex={index + 1}
                aria-sort={sort?.column !== index ? 'none' : sort.descending ? 'descending' : 'ascending'}
                className={isNumeric(column) ? 'head number' : 'head'}
                title={column.type}
              >
                <button type="button" tabIndex={-1} onClick={() => sortBy(index)}>
                  {shownName(column, index)}
                  {sort?.column === index && <span aria-hidden="true">{sort.descending ? ' ↓' : ' ↑'}</span>}
                </button>
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="rows" style={{ blockSize: trackPx(count) }}>
          {Array.from({ length: shown.end - shown.first }, (_, index) => shown.first + index).map((row) => (
            <div
              key={row}
              role="row"
              aria-rowindex={row + 2}
              className="row"
              style={{ ...template, insetBlockStart: row * ROW_PX - shown.top + shown.scrolled }}
            >
              {columns.map((column, index) => (
                <Value
                  key={index}
                  id={cellId({ row, column: index })}
                  index={index}
                  cell={rows.at(row)?.[index]}
                  number={isNumeric(column)}
                  active={at?.row === row && at.column === index}
                  onSelect={() => select(row, index)}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      {selected != null && selected.length > 40 && <pre className="whole-cell">{selected}</pre>}
    </section>
  )
}

const CUT_AT = 300

function Value(props: {
  id: string
  index: number
  cell: Cell | undefined
  number: boolean
  active: boolean
  onSelect: () => void
}): ReactNode {
  const { cell } = props
  const kinds = ['cell']
  if (props.number) kinds.push('number')
  if (cell === null) kinds.push('null')
  if (props.active) kinds.push('active')
  return (
    // Keys are the grid's (aria-activedescendant), so a cell itself takes only the pointer.
    <div
      id={props.id}
      role="gridcell"
      aria-colindex={props.index + 1}
      aria-selected={props.active}
      className={kinds.join(' ')}
      onClick={props.onSelect}
    >
      {cell === null ? 'null' : cell === undefined ? '…' : cell.length > CUT_AT ? `${cell.slice(0, CUT_AT)}…` : cell}
    </div>
  )
}

function cellId(at: At): string {
  return `cell-${at.row}-${at.column}`
}

function destination(event: KeyboardEvent, at: At, rows: number, columns: number, height: number): At | null {
  const page = Math.max(1, Math.floor(height / ROW_PX) - 2)
  const all = event.ctrlKey || event.metaKey
  switch (event.key) {
    case 'ArrowDown':
      return { ...at, row: at.row + 1 }
    case 'ArrowUp':
      return { ...at, row: at.row - 1 }
    case 'ArrowRight':
      return { ...at, row: Math.max(0, at.row), column: at.column + 1 }
    case 'ArrowLeft':
      return { ...at, row: Math.max(0, at.row), column: at.column - 1 }
    case 'PageDown':
      return { ...at, row: at.row + page }
    case 'PageUp':
      return { ...at, row: at.row - page }
    case 'Home':
      return all ? { row: 0, column: 0 } : { ...at, column: 0 }
    case 'End':
      return all ? { row: rows - 1, column: columns - 1 } : { ...at, column: columns - 1 }
    default:
      return null
  }
}

/** Columns only ever grow, so that nothing jumps while rows come in. */
function useGrowing(wanted: number[]): number[] {
  const kept = useRef<number[]>([])
  kept.current = wanted.map((px, index) => Math.max(px, kept.current[index] ?? 0))
  return kept.current
}

function useScroll(count: number) {
  const scroller = useRef<HTMLDivElement>(null)
  const [height, setHeight] = useState(400)
  const [top, setTop] = useState(0)
  const own = useRef<number | null>(null)
  const shown = view(top, count, height)
  const scrolled = scrollOfTop(shown.top, count, height)

  const moveTo = (wanted: number): void => {
    const next = Math.min(Math.max(0, wanted), mostTop(count, height))
    setTop(next)
    own.current = Math.round(scrollOfTop(next, count, height))
    if (scroller.current) scroller.current.scrollTop = own.current
  }
  const move = useRef(moveTo)
  const state = useRef({ top, count, height })
  useLayoutEffect(() => {
    move.current = moveTo
    state.current = { top: shown.top, count, height }
  })

  useEffect(() => {
    const box = scroller.current
    if (!box) return
    const resized = new ResizeObserver(() => setHeight(Math.max(ROW_PX, box.clientHeight - ROW_PX)))
    resized.observe(box)
    const onScroll = (): void => {
      const { count, height } = state.current
      // A move of our own is exact already; reading it back would round it.
      if (own.current !== null && Math.abs(box.scrollTop - own.current) < 1) return
      own.current = null
      setTop(topOfScroll(box.scrollTop, count, height))
    }
    const onWheel = (event: WheelEvent): void => {
      const { top, count, height } = state.current
      const longerThanTrack = count * ROW_PX > trackPx(count)
      if (!longerThanTrack || event.ctrlKey || event.deltaY === 0) return
      event.preventDefault()
      move.current(top + event.deltaY * (event.deltaMode === 1 ? ROW_PX : 1))
      state.current = { top: Math.min(Math.max(0, top + event.deltaY), mostTop(count, height)), count, height }
    }
    box.addEventListener('scroll', onScroll, { passive: true })
    box.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      resized.disconnect()
      box.removeEventListener('scroll', onScroll)
      box.removeEventListener('wheel', onWheel)
    }
  }, [])
  return { scroller, height, shown: { ...shown, scrolled }, moveTo }
}
