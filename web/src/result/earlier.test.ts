import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Run } from '../types.ts'
import { earlierOf } from './earlier.ts'

const run = (id: string, day: number, some: Partial<Run> = {}): Run =>
  ({ id, tool: 'ask', question: 'How many?', sql: null, parameters: null, status: 'completed', is_error: false, outcome: 'table', created_at: `2026-11-0${day}T00:00:00Z`, ...some }) as Run

test('a result is compared with the newest earlier table of the same question', () => {
  const now = run('now', 5)
  const runs = [
    now, run('later', 6), run('first', 1), run('before', 3, { question: ' how MANY? ' }), run('failed', 4, { is_error: true }),
    run('refused', 4, { outcome: 'refusal' }), run('other', 4, { question: 'How many orders?' }),
  ]
  assert.equal(earlierOf(now, runs)?.id, 'before')
  assert.equal(earlierOf(run('first', 1), runs), null)
})

test('of SQL, the text and the values have to be the same', () => {
  const sql = { tool: 'run_sql', question: null, sql: 'SELECT :a', parameters: { a: 1 } }
  const runs = [run('one', 1, sql), run('two', 2, { ...sql, parameters: { a: 2 } })]
  assert.equal(earlierOf(run('now', 5, sql), runs)?.id, 'one')
})
