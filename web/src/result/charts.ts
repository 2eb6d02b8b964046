// A chart as the server has chosen and summed it up, and what a person has chosen otherwise.

import type { Chart, ChartKind } from '../types.ts'

export const AGGREGATES = ['sum', 'average', 'min', 'max', 'count'] as const
export type Aggregate = (typeof AGGREGATES)[number]

export interface ChartChoice {
  kind: ChartKind | null
  x: number | null
  y: number | null
  series: number | null
  aggregate: Aggregate | null
}

const NONE: ChartChoice = { kind: null, x: null, y: null, series: null, aggregate: null }

/** A choice as an address has it: `bar.x0.y2.asum`; whatever is left out is the server's. */
export function readChoice(text: string | null): ChartChoice {
  const choice = { ...NONE }
  for (const part of (text ?? '').split('.')) {
    const column = /^([xys])(\d{1,6})$/.exec(part)
    if (column?.[1] === 'x') choice.x = Number(column[2])
    else if (column?.[1] === 'y') choice.y = Number(column[2])
    else if (column?.[1] === 's') choice.series = Number(column[2])
    else if (part === 'line' || part === 'bar' || part === 'scatter' || part === 'number') choice.kind = part
    else choice.aggregate = AGGREGATES.find((one) => part === `a${one}`) ?? choice.aggregate
  }
  return choice
}

export function writeChoice(choice: ChartChoice): string | null {
  const { kind, x, y, series, aggregate } = choice
  const parts = [
    kind,
    x === null ? null : `x${x}`,
    y === null ? null : `y${y}`,
    series === null ? null : `s${series}`,
    aggregate === null ? null : `a${aggregate}`,
  ].filter((part) => part !== null)
  return parts.length > 0 ? parts.join('.') : null
}

export interface Drawn {
  x: Date | number | string | null
  y: number
  series: string | null
}

/** Points as they are drawn: times in UTC, as they stand in the result, in whatever zone one sits. */
export function pointsOf(chart: Chart): Drawn[] {
  return chart.points.map(([x, y, series]) => ({
    x: x === null ? null : chart.x?.type === 'time' ? inUtc(x) : chart.x?.type === 'number' ? Number(x) : x,
    y: Number(y),
    series: series ?? null,
  }))
}

function inUtc(text: string): Date {
  return new Date(text.includes('T') ? `${text}Z` : `${text}T00:00:00Z`)
}

/**
 * Whether the axis of values begins at 0. Bars always do: their length is the amount. A line far
 * above 0 may show its changes instead, and then it has to say so.
 */
export function beginsAtZero(kind: ChartKind, values: number[]): boolean {
  if (kind === 'bar') return true
  if (kind === 'scatter') return false
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return least >= 0 ? least < most / 2 : most > least / 2
}
