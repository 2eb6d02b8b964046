// Cells as texts to be pasted elsewhere: exactly, or as a Markdown table.

import type { Cell, Column } from '../types.ts'
import { isNumeric, shownName } from './columns.ts'

/** At most so many cells are copied; for more there is the export. */
export const MOST_CELLS = 200_000

/** From here on a page of rows has only a cell's beginning, and says in it how long it is. */
const WHOLE_UP_TO = 20_000

export function isCut(cell: Cell | undefined): boolean {
  return cell != null && cell.length > WHOLE_UP_TO
}

/** Rows as spreadsheets paste them; a single cell is its exact text and nothing around it. */
export function asTabbed(rows: Cell[][]): string {
  if (rows.length === 1 && rows[0]?.length === 1) return rows[0][0] ?? ''
  return rows.map((row) => row.map(quotedCell).join('\t')).join('\n')
}

function quotedCell(cell: Cell): string {
  const text = cell ?? ''
  return /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A table as Markdown has it, numbers to the right. What would end a cell is escaped. */
export function asMarkdown(columns: Column[], rows: Cell[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map((column, index) => markdownCell(shownName(column, index)))),
    line(columns.map((column) => (isNumeric(column) ? '---:' : '---'))),
    ...rows.map((row) => line(row.map((cell) => (cell === null ? '' : markdownCell(cell))))),
  ].join('\n')
}

function markdownCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/[\r\n]+/g, '<br>')
}
