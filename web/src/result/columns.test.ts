import assert from 'node:assert/strict'
import { test } from 'node:test'

import { columnsInView, edges, isNumeric, shownName, widths } from './columns.ts'

test('numbers and dates always fit, and long text is cut short', () => {
  const columns = [
    { name: 'n', type: 'HUGEINT' },
    { name: 'text', type: 'VARCHAR' },
  ]
  const digits = '1'.repeat(60)
  const [number, text] = widths(columns, [[digits, digits]])
  assert.ok(number && text && number > 60 * 7 && text < number)
})

test('a name is never empty', () => {
  assert.equal(shownName({ name: ' ', type: 'INTEGER' }, 2), 'column 3')
  assert.equal(shownName({ name: 'n', type: 'INTEGER' }, 2), 'n')
})

test('only numbers are numbers', () => {
  const types = ['DECIMAL(10,2)', 'UBIGINT', 'int8', 'double', 'INTERVAL', 'VARCHAR', 'INTEGER[]', 'DATE']
  assert.deepEqual(types.filter((type) => isNumeric({ name: '', type })), ['DECIMAL(10,2)', 'UBIGINT', 'int8', 'double'])
})

test('of very many columns only those in view are drawn', () => {
  const edge = edges(Array.from({ length: 5000 }, () => 100))
  assert.equal(edge.at(-1), 500_000)
  assert.deepEqual(columnsInView(edge, 0, 1000, 200), [0, 12])
  assert.deepEqual(columnsInView(edge, 250_000, 1000, 200), [2497, 2512])
  assert.deepEqual(columnsInView(edge, 499_000, 1000, 200), [4987, 5000])
  assert.deepEqual(columnsInView(edges([50]), 0, 1000), [0, 1])
})
