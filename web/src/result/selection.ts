// Where one is in a grid, and what is selected. Columns are counted as they are shown; the row of
// the headings is row -1, so that they are reached by the same keys.

export interface At {
  row: number
  column: number
}

export interface Selection {
  /** Where the selection began. */
  anchor: At
  /** Where one is. */
  focus: At
}

export interface Shape {
  rows: number
  columns: number
  /** How many rows a page is. */
  page: number
}

export interface Range {
  top: number
  bottom: number
  left: number
  right: number
}

export interface Key {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
  altKey: boolean
}

export const HEADING = -1

/** The selection after a key; null for a key that moves nothing. */
export function moved(selection: Selection | null, key: Key, shape: Shape): Selection | null {
  if (shape.columns === 0 || key.altKey) return null
  const all = key.ctrlKey || key.metaKey
  if (all && key.key.toLowerCase() === 'a' && shape.rows > 0) {
    return { anchor: { row: 0, column: 0 }, focus: { row: shape.rows - 1, column: shape.columns - 1 } }
  }
  const from = selection?.focus ?? { row: HEADING, column: 0 }
  const to = destination(from, key.key, all, shape)
  if (to === null) return null
  const focus = {
    row: Math.min(Math.max(HEADING, to.row), shape.rows - 1),
    column: Math.min(Math.max(0, to.column), shape.columns - 1),
  }
  if (!key.shiftKey || selection === null) return { anchor: focus, focus }
  // A range is of cells: extending it does not reach the headings.
  return { anchor: inCells(selection.anchor), focus: inCells(focus) }
}

function destination(at: At, key: string, all: boolean, shape: Shape): At | null {
  switch (key) {
    case 'ArrowDown':
      return { ...at, row: all ? shape.rows - 1 : at.row + 1 }
    case 'ArrowUp':
      return { ...at, row: all ? 0 : at.row - 1 }
    case 'ArrowRight':
      return { ...at, column: all ? shape.columns - 1 : at.column + 1 }
    case 'ArrowLeft':
      return { ...at, column: all ? 0 : at.column - 1 }
    case 'PageDown':
      return { ...at, row: at.row + shape.page }
    case 'PageUp':
      return { ...at, row: Math.max(Math.min(0, at.row), at.row - shape.page) }
    case 'Home':
      return { row: all ? 0 : at.row, column: 0 }
    case 'End':
      return { row: all ? shape.rows - 1 : at.row, column: shape.columns - 1 }
    default:
      return null
  }
}

function inCells(at: At): At {
  return { ...at, row: Math.max(0, at.row) }
}

/** The cells of a selection; null for none, or the headings alone. */
export function rangeOf(selection: Selection | null): Range | null {
  if (selection === null || selection.focus.row === HEADING) return null
  const { anchor, focus } = selection
  return {
    top: Math.min(anchor.row, focus.row),
    bottom: Math.max(anchor.row, focus.row),
    left: Math.min(anchor.column, focus.column),
    right: Math.max(anchor.column, focus.column),
  }
}

export function holds(range: Range | null, row: number, column: number): boolean {
  return (
    range !== null && range.top <= row && row <= range.bottom && range.left <= column && column <= range.right
  )
}

export function cellsIn(range: Range): number {
  return (range.bottom - range.top + 1) * (range.right - range.left + 1)
}
