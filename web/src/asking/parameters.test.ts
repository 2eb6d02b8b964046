import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Database } from '../types.ts'
import type { Field } from './parameters.ts'
import { countStatements, faultOf, fieldOf, guessedType, namesIn, valueOf, valuesOf } from './parameters.ts'

test('names are found where the server finds them', () => {
  assert.deepEqual(namesIn('SELECT * FROM o WHERE d >= :since AND d < :until AND x = :since'), ['since', 'until'])
  const none = [
    "SELECT ':a'", 'SELECT ":a"', 'SELECT 1 -- :a', 'SELECT /* :a */ 1', 'SELECT x::date', "SELECT e'\\':a'",
    'SELECT $$ :a $$', 'SELECT $t$ :a $t$', 'SELECT l[1:n]', "SELECT {b: 1}",
  ]
  for (const sql of none) assert.deepEqual(namesIn(sql), [], sql)
  assert.deepEqual(namesIn("SELECT ':x' || :y /* :z"), ['y'])
})

const column = (name: string, kind: Database['tables'][0]['columns'][0]['kind']) => ({
  name, kind, type: kind, comment: null, primary: false, references: null,
})
const database: Database = {
  name: 'shop',
  dialect: 'duckdb',
  examples: [],
  notes: [],
  can_share: false,
  tables: [
    { name: 'orders', row_count: 1, comment: null, columns: [column('ordered_on', 'date'), column('total', 'number'), column('id', 'integer')] },
    { name: 'customers', row_count: 1, comment: null, columns: [column('id', 'text'), column('name', 'text')] },
  ],
}

const GUESSES: [string, string, string][] = [
  ['SELECT * FROM orders WHERE ordered_on >= :a', 'a', 'date'],
  ['SELECT * FROM orders WHERE o."ordered_on" BETWEEN :a AND :b', 'a', 'date'],
  ['SELECT * FROM orders WHERE ordered_on BETWEEN :a AND :b', 'b', 'date'],
  ['SELECT * FROM orders WHERE total>:a', 'a', 'decimal'],
  ['SELECT * FROM orders WHERE id = :a', 'a', 'integer'],
  ['SELECT * FROM orders, customers WHERE id = :a', 'a', 'text'],
  ['SELECT * FROM orders LIMIT :a', 'a', 'integer'],
  ['SELECT * FROM orders WHERE x = :another LIMIT :a', 'a', 'integer'],
  ['SELECT :a', 'a', 'text'],
]
for (const [sql, name, type] of GUESSES) {
  test(`:${name} in "${sql}" is taken for ${type}`, () => assert.equal(guessedType(sql, name, database), type))
}

const FIELDS: [Field, boolean, unknown][] = [
  [{ type: 'text', text: ' as typed ' }, true, ' as typed '],
  [{ type: 'integer', text: '9007199254740993' }, true, { type: 'integer', value: '9007199254740993' }],
  [{ type: 'integer', text: '1.5' }, false, undefined],
  [{ type: 'decimal', text: '0.10' }, true, { type: 'decimal', value: '0.10' }],
  [{ type: 'decimal', text: 'ten' }, false, undefined],
  [{ type: 'date', text: '2026-02-28' }, true, { type: 'date', value: '2026-02-28' }],
  [{ type: 'date', text: '2026-02-31x' }, false, undefined],
  [{ type: 'timestamp', text: '2026-02-28T10:00' }, true, { type: 'timestamp', value: '2026-02-28T10:00' }],
  [{ type: 'timestamp', text: '2026-02-28' }, false, undefined],
  [{ type: 'boolean', text: 'true' }, true, true],
  [{ type: 'null', text: '' }, true, null],
]
for (const [field, fits, value] of FIELDS) {
  test(`${field.type} "${field.text}" ${fits ? 'is sent exactly' : 'is not sent'}`, () => {
    assert.equal(faultOf(field) === null, fits)
    if (fits) assert.deepEqual(valueOf(field), value)
    if (fits) assert.deepEqual(fieldOf(valueOf(field)), field.type === 'text' ? field : { ...field, text: field.text.trim() })
  })
}

test('only values of names that the text still has are sent', () => {
  const fields = new Map([['a', { type: 'text', text: '1' } as Field], ['gone', { type: 'text', text: '2' } as Field]])
  assert.deepEqual(valuesOf(['a'], fields), { a: '1' })
})

test('a script is a text of more than one statement, whatever stands in its literals', () => {
  const counts = ['SELECT 1', 'SELECT 1;', "SELECT ';'; -- ;", 'SELECT 1; SELECT 2', "SELECT $$;$$ ;/* ; */ SELECT ':a;'", ' ; ']
  assert.deepEqual(counts.map(countStatements), [1, 1, 1, 2, 2, 0])
})
