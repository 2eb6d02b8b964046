// Copying cells, also such as are not loaded: those are fetched first.

import { useEffect, useState } from 'react'

import { fetchCell, fetchRows, saidBy } from '../api.ts'
import type { Cell, Column } from '../types.ts'
import { whole } from '../words.ts'
import { asMarkdown, asTabbed, isCut, MOST_CELLS } from './copying.ts'
import type { Range } from './selection.ts'
import { cellsIn } from './selection.ts'
import type { Pages } from './useRows.ts'
import type { View } from './view.ts'

const AT_ONCE = 1000
const SAID_MS = 4000

export interface Copying {
  /** What became of the last copy. */
  said: string | null
  range: (range: Range, clipboard: DataTransfer) => void
  /** A range, or with none all that is shown, as Markdown. */
  markdown: (range: Range | null) => Promise<void>
}

export function useCopying(of: {
  id: string
  columns: Column[]
  shown: number[]
  view: View
  rows: Pages
  count: number
}): Copying {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null || said.endsWith('…')) return
    const soon = setTimeout(() => setSaid(null), SAID_MS)
    return () => clearTimeout(soon)
  }, [said])

  const chosen = (range: Range): number[] => of.shown.slice(range.left, range.right + 1)
  const loaded = (range: Range): Cell[][] | null => {
    const found: Cell[][] = []
    for (let row = range.top; row <= range.bottom; row++) {
      const cells = of.rows.at(row)
      if (cells === undefined) return null
      found.push(chosen(range).map((column) => cells[column] ?? null))
    }
    return found
  }
  const fetched = async (range: Range): Promise<Cell[][]> => {
    const found: Cell[][] = []
    while (found.length <= range.bottom - range.top) {
      const offset = range.top + found.length
      const limit = Math.min(AT_ONCE, range.bottom - offset + 1)
      const page = await fetchRows(of.id, { offset, limit }, of.view, new AbortController().signal)
      if (page.rows.length === 0) break
      found.push(...page.rows.map((cells) => chosen(range).map((column) => cells[column] ?? null)))
    }
    return found
  }
  /** The same with those cells whole of which only the beginning was there. */
  const completed = async (range: Range, found: Cell[][]): Promise<Cell[][]> => {
    for (const [index, cells] of found.entries()) {
      for (const [place, column] of chosen(range).entries()) {
        if (isCut(cells[place])) cells[place] = await fetchCell(of.id, { row: range.top + index, column }, of.view)
      }
    }
    return found
  }
  const write = async (range: Range, written: (rows: Cell[][]) => string): Promise<void> => {
    if (cellsIn(range) > MOST_CELLS) {
      setSaid(`Not copied: more than ${whole(MOST_CELLS)} cells; export them instead`)
      return
    }
    try {
      setSaid('Copying…')
      await navigator.clipboard.writeText(written(await completed(range, loaded(range) ?? (await fetched(range)))))
      setSaid(copied(range))
    } catch (error) {
      setSaid(`Not copied: ${saidBy(error)}`)
    }
  }
  return {
    said,
    range: (range, clipboard) => {
      const rows = cellsIn(range) > MOST_CELLS ? null : loaded(range)
      if (rows === null || rows.some((cells) => cells.some(isCut))) {
        void write(range, asTabbed)
        return
      }
      clipboard.setData('text/plain', asTabbed(rows))
      setSaid(copied(range))
    },
    markdown: (range) => {
      const all = { top: 0, bottom: of.count - 1, left: 0, right: of.shown.length - 1 }
      // A single cell is where one is, not what one wants as a table.
      const wanted = range !== null && cellsIn(range) > 1 ? range : all
      return write(wanted, (rows) => asMarkdown(chosen(wanted).map((column) => of.columns[column]!), rows))
    },
  }
}

function copied(range: Range): string {
  const cells = cellsIn(range)
  return cells === 1 ? 'Copied' : `Copied ${whole(cells)} cells`
}
