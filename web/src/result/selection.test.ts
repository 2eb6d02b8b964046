import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { At, Key, Selection } from './selection.ts'
import { cellsIn, holds, moved, rangeOf } from './selection.ts'

const SHAPE = { rows: 100, columns: 5, page: 10 }
const key = (name: string, held = ''): Key => ({
  key: name, ctrlKey: held.includes('c'), metaKey: false, shiftKey: held.includes('s'), altKey: held.includes('a'),
})
const at = (row: number, column: number): Selection => ({ anchor: { row, column }, focus: { row, column } })

const MOVES: [Selection | null, Key, At | null][] = [
  [null, key('ArrowDown'), { row: 0, column: 0 }],
  [null, key('End', 'c'), { row: 99, column: 4 }],
  [at(0, 0), key('ArrowUp'), { row: -1, column: 0 }],
  [at(-1, 0), key('ArrowUp'), { row: -1, column: 0 }],
  [at(-1, 2), key('ArrowRight'), { row: -1, column: 3 }],
  [at(5, 4), key('ArrowRight'), { row: 5, column: 4 }],
  [at(5, 2), key('ArrowLeft', 'c'), { row: 5, column: 0 }],
  [at(5, 2), key('ArrowDown', 'c'), { row: 99, column: 2 }],
  [at(95, 2), key('PageDown'), { row: 99, column: 2 }],
  [at(5, 2), key('PageUp'), { row: 0, column: 2 }],
  [at(5, 2), key('Home'), { row: 5, column: 0 }],
  [at(5, 2), key('Home', 'c'), { row: 0, column: 0 }],
  [at(5, 2), key('x'), null],
  [at(5, 2), key('ArrowLeft', 'a'), null],
]
for (const [from, pressed, to] of MOVES) {
  test(`${pressed.ctrlKey ? 'Ctrl+' : ''}${pressed.key} leads from ${JSON.stringify(from?.focus ?? null)} to ${JSON.stringify(to)}`, () => {
    assert.deepEqual(moved(from, pressed, SHAPE)?.focus ?? null, to)
  })
}

test('shift extends from where it began, over cells only', () => {
  let selection = moved(at(1, 1), key('ArrowDown', 's'), SHAPE)
  selection = moved(selection, key('ArrowRight', 's'), SHAPE)
  assert.deepEqual(rangeOf(selection), { top: 1, bottom: 2, left: 1, right: 2 })
  for (let n = 0; n < 5; n++) selection = moved(selection, key('ArrowUp', 's'), SHAPE)
  assert.deepEqual(rangeOf(selection), { top: 0, bottom: 1, left: 1, right: 2 })
  assert.deepEqual(rangeOf(moved(null, key('a', 'c'), SHAPE)), { top: 0, bottom: 99, left: 0, right: 4 })
})

test('the headings are no cells', () => {
  assert.equal(rangeOf(at(-1, 0)), null)
  assert.equal(rangeOf(null), null)
  const range = rangeOf({ anchor: { row: 3, column: 3 }, focus: { row: 1, column: 2 } })
  assert.ok(range && holds(range, 2, 2) && !holds(range, 2, 1) && !holds(null, 0, 0))
  assert.equal(cellsIn(range), 6)
})

test('an empty result has headings to move along, and nothing else', () => {
  const empty = { rows: 0, columns: 2, page: 10 }
  assert.deepEqual(moved(null, key('ArrowDown'), empty)?.focus, { row: -1, column: 0 })
  assert.equal(moved(null, key('a', 'c'), empty), null)
})
