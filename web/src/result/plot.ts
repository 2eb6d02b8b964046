// Drawing by Observable Plot: only here, and only loaded once a chart is looked at.

import { axisX, axisY, barX, barY, dot, gridX, gridY, lineY, plot, pointer, pointerX, pointerY, ruleX, ruleY, tip } from '@observablehq/plot'

import type { Chart } from '../types.ts'
import type { Drawn } from './charts.ts'
import { beginsAtZero, pointsOf } from './charts.ts'

const ONE = 'var(--run)'
const FEW = 60
const HIGH = 380
const BAR_PX = 24
const LETTER_PX = 6.6
const LONGEST_LABEL = 34

/** The chart as an SVG element of that width. Its words are the page's, so it is one image. */
export function drawn(chart: Chart, width: number): Element {
  const points = pointsOf(chart)
  const svg = plot({ ...marks(chart, points), width, style: { background: 'none', overflow: 'visible' } })
  // Plot's own style element is refused by the page's policy; the page's style sheet has its rules.
  for (const style of svg.querySelectorAll('style')) style.remove()
  for (const labelled of svg.querySelectorAll('[aria-label]')) labelled.removeAttribute('aria-label')
  for (const described of svg.querySelectorAll('[aria-description]')) described.removeAttribute('aria-description')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', chart.text ?? '')
  return svg
}

/** Amounts beside an axis: short from ten thousand on, so that they fit; the table has them exactly. */
function amountsOf(points: Drawn[]): { tickFormat: (value: number) => string; marginLeft: number } {
  const most = Math.max(0, ...points.map((point) => Math.abs(point.y)))
  const form = most >= 10_000 ? { notation: 'compact' as const } : {}
  return { tickFormat: (value) => value.toLocaleString('en', form), marginLeft: 60 }
}

/** Below an axis with a label, which would else stand on the last number. */
const LABELLED_PX = 44

function marks(chart: Chart, points: Drawn[]): Parameters<typeof plot>[0] {
  const colour = chart.series_label === null ? ONE : 'series'
  const label = chart.y?.label ?? ''
  const along = chart.x?.type === 'time' ? null : (chart.x?.label ?? '')
  const { tickFormat, marginLeft } = amountsOf(points)
  const colours = chart.series_label === null ? {} : { color: { legend: true, label: chart.series_label } }
  if (chart.kind === 'bar') return bars(chart, points)
  if (chart.kind === 'scatter') {
    return {
      height: HIGH,
      marginLeft,
      marginBottom: LABELLED_PX,
      ...colours,
      marks: [
        gridX(), gridY(), axisX({ label: along }), axisY({ label, tickFormat }),
        dot(points, { x: 'x', y: 'y', stroke: colour, r: 3 }),
        tip(points, pointer({ x: 'x', y: 'y', title: said })),
      ],
    }
  }
  const zero = beginsAtZero('line', points.map((point) => point.y))
  return {
    height: HIGH,
    marginLeft,
    ...(along ? { marginBottom: LABELLED_PX } : {}),
    x: { type: chart.x?.type === 'time' ? 'utc' : 'linear' },
    y: { zero, nice: true },
    ...colours,
    marks: [
      gridY(), axisX({ label: along }), axisY({ label, tickFormat }),
      ...(zero ? [ruleY([0])] : []),
      lineY(points, { x: 'x', y: 'y', z: 'series', stroke: colour, strokeWidth: 2 }),
      ...(points.length <= FEW ? [dot(points, { x: 'x', y: 'y', fill: colour, r: 3 })] : []),
      tip(points, pointerX({ x: 'x', y: 'y', title: said })),
    ],
  }
}

function bars(chart: Chart, points: Drawn[]): Parameters<typeof plot>[0] {
  const named = points.map((point) => ({ ...point, x: point.x === null ? 'null' : String(point.x) }))
  const domain = [...new Set(named.map((point) => point.x))]
  const label = chart.y?.label ?? ''
  const { tickFormat, marginLeft } = amountsOf(points)
  const longest = Math.min(LONGEST_LABEL, Math.max(...domain.map((name) => name.length)))
  if (longest <= 10 && domain.length <= 14) {
    return {
      height: HIGH,
      marginLeft,
      x: { domain },
      y: { zero: true, nice: true },
      marks: [
        gridY(), axisX({ label: null }), axisY({ label, tickFormat }),
        barY(named, { x: 'x', y: 'y', fill: ONE, fillOpacity: 0.85 }),
        ruleY([0]),
        tip(named, pointerX({ x: 'x', y: 'y', title: said })),
      ],
    }
  }
  return {
    height: domain.length * BAR_PX + 30 + LABELLED_PX,
    marginLeft: longest * LETTER_PX + 16,
    marginBottom: LABELLED_PX,
    x: { zero: true, nice: true },
    y: { domain, label: null },
    marks: [
      gridX({ ticks: 8 }), axisX({ label, tickFormat, ticks: 8 }), axisY({ label: null, tickFormat: shortened }),
      barX(named, { x: 'y', y: 'x', fill: ONE, fillOpacity: 0.85 }),
      ruleX([0]),
      tip(named, pointerY({ x: 'y', y: 'x', title: said })),
    ],
  }
}

function shortened(name: string): string {
  return name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL - 1)}…` : name
}

function said(point: Drawn): string {
  const at = point.x instanceof Date ? point.x.toISOString().replace(/T00:00:00\.000Z$/, '').replace('T', ' ') : point.x
  return `${at ?? 'null'}${point.series === null ? '' : `\n${point.series}`}\n${point.y.toLocaleString('en')}`
}
