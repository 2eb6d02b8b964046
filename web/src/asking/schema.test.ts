import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Table } from '../types.ts'
import { matching, quoted } from './schema.ts'

test('a name is quoted exactly where SQL would take it for something else', () => {
  const said = ['orders', 'sales.orders', 'Order Lines', 'order', 'a"b', '2nd'].map((name) => quoted(name, 'duckdb'))
  assert.deepEqual(said, ['orders', 'sales.orders', '"Order Lines"', '"order"', '"a""b"', '"2nd"'])
  assert.equal(quoted('a`b', 'mysql'), '`a``b`')
})

test('a search finds tables by their name, and by their columns', () => {
  const table = (name: string, ...columns: string[]) =>
    ({ name, row_count: 1, comment: null, columns: columns.map((one) => ({ name: one })) }) as Table
  const tables = [table('orders', 'id', 'total'), table('customers', 'id', 'name')]
  assert.deepEqual(matching(tables, ' '), tables)
  assert.deepEqual(matching(tables, 'ORD').map((one) => one.columns.length), [2])
  assert.deepEqual(matching(tables, 'name').map((one) => [one.name, one.columns.length]), [['customers', 1]])
  assert.deepEqual(matching(tables, 'none'), [])
})
