import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

import { fetchChart } from '../api.ts'
import type { Chart, ChartKind, Column, SeenRun } from '../types.ts'
import type { Aggregate, ChartChoice } from './charts.ts'
import { AGGREGATES, beginsAtZero, pointsOf, readChoice, writeChoice } from './charts.ts'
import { shownName } from './columns.ts'
import { drawn } from './plot.ts'
import type { View } from './view.ts'

const KINDS: Record<ChartKind, string> = { line: 'Line', bar: 'Bars', scatter: 'Points', number: 'Number' }

/** A result as a chart: chosen and summed up by the server, and to be changed here. */
export default function ChartView(props: {
  run: SeenRun
  columns: Column[]
  view: View
  onChange: (some: Partial<View>) => void
}): ReactNode {
  const { run, columns, view } = props
  const choice = readChoice(view.chart)
  const { data: chart, error } = useQuery({
    queryKey: ['chart', run.id, view.chart, view.filters],
    queryFn: ({ signal }) => fetchChart(run.id, choice, view.filters, signal),
    placeholderData: keepPreviousData,
  })
  if (error) return <p className="problem">{error.message}</p>
  if (!chart) return <p className="dim">Drawing…</p>
  if (chart.nothing) return <p className="notice">{chart.nothing}</p>
  const change = (some: Partial<ChartChoice>): void => props.onChange({ chart: writeChoice({ ...choice, ...some }) })
  return (
    <div className="chart">
      <Controls chart={chart} columns={columns} onChange={change} />
      {chart.kind === 'number' ? (
        <p className="one-number">{chart.points[0]?.[1]}</p>
      ) : (
        <figure>
          <figcaption>{chart.title}</figcaption>
          <Drawing chart={chart} />
        </figure>
      )}
      <Notes chart={chart} />
    </div>
  )
}

function Notes(props: { chart: Chart }): ReactNode {
  const { chart } = props
  const above =
    chart.kind === 'line' && !beginsAtZero('line', pointsOf(chart).map((point) => point.y))
      ? ['The axis does not begin at 0.']
      : []
  return (
    <>
      {[...chart.notes, ...above].map((note) => (
        <p key={note} className="dim">
          {note}
        </p>
      ))}
      <details className="in-words">
        <summary>In words</summary>
        <p>{chart.text}</p>
      </details>
    </>
  )
}

function Drawing(props: { chart: Chart }): ReactNode {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!box.current) return
    const resized = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    resized.observe(box.current)
    return () => resized.disconnect()
  }, [])
  useEffect(() => {
    if (width > 0) box.current?.replaceChildren(drawn(props.chart, width))
  }, [props.chart, width])
  return <div ref={box} className="plot" />
}

function Controls(props: {
  chart: Chart
  columns: Column[]
  onChange: (some: Partial<ChartChoice>) => void
}): ReactNode {
  const { chart, columns, onChange } = props
  const named = (index: number): [string, string] => [String(index), shownName(columns[index] ?? { name: '', type: '' }, index)]
  return (
    <div className="acts chart-controls">
      <Choose
        label="Chart"
        value={chart.kind ?? ''}
        options={chart.kinds.map((kind) => [kind, KINDS[kind]])}
        onChange={(kind) => onChange({ kind: kind as ChartKind, x: null, y: null, series: null, aggregate: null })}
      />
      {chart.x && (
        <Choose
          label="along"
          value={String(chart.x.column)}
          options={(chart.kind === 'scatter' ? chart.amounts : chart.along).map(named)}
          onChange={(column) => onChange({ x: Number(column) })}
        />
      )}
      {chart.amounts.length > 0 && chart.y?.column != null && (
        <Choose
          label="values"
          value={String(chart.y.column)}
          options={chart.amounts.map(named)}
          onChange={(column) => onChange({ y: Number(column) })}
        />
      )}
      {chart.aggregate !== null && (chart.kind === 'line' || chart.kind === 'bar') && (
        <Choose
          label="of several rows"
          value={chart.aggregate}
          options={AGGREGATES.map((one) => [one, one === 'count' ? 'number of rows' : one])}
          onChange={(aggregate) => onChange({ aggregate: aggregate as Aggregate })}
        />
      )}
    </div>
  )
}

function Choose(props: {
  label: string
  value: string
  options: [string, string][]
  onChange: (value: string) => void
}): ReactNode {
  const known = props.options.some(([value]) => value === props.value)
  return (
    <label>
      <span className="dim">{props.label}</span>{' '}
      <select value={props.value} onChange={(event) => props.onChange(event.target.value)}>
        {!known && <option value={props.value}>{props.value}</option>}
        {props.options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
