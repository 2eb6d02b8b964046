import type { ReactNode } from 'react'
import { lazy, Suspense, useState } from 'react'

import { ApiError, fetchCell } from '../api.ts'
import { useLive } from '../live.ts'
import { lookAt, useSearch } from '../path.ts'
import type { Column, Result, SeenRun } from '../types.ts'
import { rowsInWords, whole } from '../words.ts'
import { isNumeric } from './columns.ts'
import { useCopying } from './copyRange.ts'
import { earlierOf } from './earlier.ts'
import { Filters } from './Filters.tsx'
import { Grid } from './Grid.tsx'
import './result.css'
import type { Selection } from './selection.ts'
import { rangeOf } from './selection.ts'
import { Toolbar } from './Toolbar.tsx'
import { useCount, useRows } from './useRows.ts'
import { useScroll } from './useScroll.ts'
import type { View } from './view.ts'
import { nextSort, readView, writeView } from './view.ts'
import { WholeCell } from './WholeCell.tsx'

/** From so many characters on a cell may not be seen whole in the grid. */
const LONG_CELL = 40

const ChartView = lazy(() => import('./ChartView.tsx'))
const ChangesView = lazy(() => import('./ChangesView.tsx'))

/** A finished run's rows, and how they are looked at, which the address tells. */
export function ResultView(props: { run: SeenRun; result: Result; readOnly: boolean }): ReactNode {
  const { run, result, readOnly } = props
  const view = readView(useSearch())
  const columns = result.columns ?? []
  const change = (some: Partial<View>): void => lookAt(writeView({ ...view, ...some }))
  return (
    <section className="result" aria-label="Result">
      <Table key={run.id} {...{ run, result, readOnly, columns, view }} onChange={change} />
    </section>
  )
}

function Table(props: {
  run: SeenRun
  result: Result
  /** Somebody else's, so not to be compared with what one asked before. */
  readOnly: boolean
  columns: Column[]
  view: View
  onChange: (some: Partial<View>) => void
}): ReactNode {
  const { run, result, columns, view } = props
  const [selection, setSelection] = useState<Selection | null>(null)
  const [before, setBefore] = useState<Pick<View, 'sort' | 'filters'> | null>(null)
  const [filtering, setFiltering] = useState(false)
  const [matching, setMatching] = useState<number | undefined>(undefined)
  const counted = useCount(result, view, matching)
  const count = counted ?? 0
  const scroll = useScroll(count)
  const rows = useRows(run.id, result, scroll.shown, view, count)
  if (rows.matching !== matching) setMatching(rows.matching)
  const { runs } = useLive()
  const earlier = props.readOnly ? null : earlierOf(run, runs.values())
  const show = view.show === 'changes' && earlier === null ? 'table' : view.show
  const hidden = new Set(view.hidden)
  const shown = columns.map((_, index) => index).filter((index) => !hidden.has(index))
  const range = rangeOf(selection)
  const copying = useCopying({ id: run.id, columns, shown, view, rows, count })
  const focus = selection?.focus
  const cell = range && focus ? rows.at(focus.row)?.[shown[focus.column] ?? -1] : undefined

  const look = (some: Partial<View>): void => {
    setBefore({ sort: view.sort, filters: view.filters })
    setSelection(null)
    scroll.moveTo(0)
    props.onChange(some)
  }
  return (
    <>
      <div className="result-head">
        <Toolbar
          run={run}
          columns={columns}
          view={view}
          comparable={earlier !== null}
          filtering={filtering}
          onFilter={() => setFiltering(!filtering)}
          onChange={props.onChange}
          onCopyMarkdown={() => void copying.markdown(range)}
        />
        <p className="count" role="status" hidden={show !== 'table'}>
          {countInWords(result, view, counted)}
          {rows.fetching && <span className="dim"> · {busy(view, counted)}</span>}
          {rows.unsettled && before && (
            <>
              {' '}
              <button type="button" className="link" onClick={() => props.onChange(before)}>
                Leave as it was
              </button>
            </>
          )}
          {rows.error && <span className="problem"> · {problemIn(rows.error)}</span>}
          {run.result_name && <span className="dim"> · in later SQL: {run.result_name}</span>}
          {copying.said && <span className="dim"> · {copying.said}</span>}
        </p>
      </div>
      {(filtering || view.filters.length > 0) && (
        <Filters columns={columns} filters={view.filters} open={filtering} onChange={(filters) => look({ filters })} />
      )}
      {show === 'chart' && (
        <Suspense fallback={<p className="dim">Drawing…</p>}>
          <ChartView run={run} columns={columns} view={view} onChange={props.onChange} />
        </Suspense>
      )}
      {show === 'changes' && earlier && (
        <Suspense fallback={<p className="dim">Comparing…</p>}>
          <ChangesView run={run} earlier={earlier} />
        </Suspense>
      )}
      <div className="table-part" hidden={show !== 'table'}>
        {isOneNumber(result) && <p className="one-number">{result.rows?.[0]?.[0]}</p>}
        <Grid
          columns={columns}
          shown={shown}
          count={count}
          whole={!result.truncated && view.filters.length === 0}
          rows={rows}
          scroll={scroll}
          sort={view.sort}
          onSort={(column) => look({ sort: nextSort(view.sort, column) })}
          selection={selection}
          onSelect={setSelection}
          onCopy={copying.range}
        />
        {cell != null && focus && cell.length > LONG_CELL && (
          <WholeCell
            key={`${focus.row}.${focus.column}`}
            cell={cell}
            whole={() => fetchCell(run.id, { row: focus.row, column: shown[focus.column] ?? 0 }, view)}
          />
        )}
      </div>
    </>
  )
}

/** One amount is worth to be read at once. */
function isOneNumber(result: Result): boolean {
  const [column] = result.columns ?? []
  return result.rows?.length === 1 && result.columns?.length === 1 && column !== undefined && isNumeric(column)
}

function countInWords(result: Result, view: View, counted: number | null): string {
  const all = rowsInWords(result.row_count ?? 0, result.truncated ?? false)
  if (view.filters.length === 0) return all
  if (counted === null) return `… of ${lower(all)}`
  return `${whole(counted)} of ${lower(all)}`
}

function lower(words: string): string {
  return words.replace(/^First/, 'the first')
}

function busy(view: View, counted: number | null): string {
  if (counted === null) return 'Filtering…'
  return view.sort ? 'Sorting…' : 'Fetching rows…'
}

function problemIn(error: Error): string {
  if (error instanceof ApiError && (error.status === 503 || error.status === 0)) {
    return 'The server cannot be reached; trying again…'
  }
  return error.message
}
