// How a column is drawn, from its declared type and the cells seen so far.

import type { Cell, Column } from '../types.ts'

// An array of numbers is no number, nor is an interval.
const NUMERIC =
  /^(U?(TINY|SMALL|MEDIUM|BIG|HUGE)INT|U?INTEGER|DECIMAL|NUMERIC|DOUBLE|FLOAT\d?|REAL|INT\d?|BIGNUM)\b(?!.*\])/i
const SHORT = /^(DATE|TIME|TIMESTAMP|BOOLEAN|UUID|INTERVAL)/i

const CHARACTER_PX = 7.9
const PADDING_PX = 26
const LONGEST_TEXT = 44

export function isNumeric(column: Column): boolean {
  return NUMERIC.test(column.type)
}

/** The name to show: never empty, and positional when the query gave none. */
export function shownName(column: Column, index: number): string {
  return column.name.trim() === '' ? `column ${index + 1}` : column.name
}

/** Widths in pixels. Numbers, dates and the like always fit whole; only long text is cut short. */
export function widths(columns: Column[], rows: Iterable<Cell[]>): number[] {
  const longest = columns.map((column, index) => shownName(column, index).length + 2)
  for (const row of rows) {
    row.forEach((cell, index) => {
      const length = cell === null ? 4 : cell.length
      if (length > (longest[index] ?? 0)) longest[index] = length
    })
  }
  return columns.map((column, index) => {
    const whole = isNumeric(column) || SHORT.test(column.type)
    const characters = whole ? (longest[index] ?? 0) : Math.min(longest[index] ?? 0, LONGEST_TEXT)
    return Math.ceil(Math.max(characters, 6) * CHARACTER_PX + PADDING_PX)
  })
}

/** Where each column begins, and where the last one ends. */
export function edges(wide: number[]): number[] {
  const found = [0]
  for (const px of wide) found.push((found.at(-1) ?? 0) + px)
  return found
}

/** The columns in view, with some beside them: the first, and one past the last. */
export function columnsInView(edge: number[], left: number, width: number, margin = 400): [number, number] {
  const last = edge.length - 1
  let first = 0
  while (first < last - 1 && (edge[first + 1] ?? 0) < left - margin) first += 1
  let end = first + 1
  while (end < last && (edge[end] ?? 0) < left + width + margin) end += 1
  return [first, Math.min(end, last)]
}
