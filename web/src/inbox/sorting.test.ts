import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Run } from '../types.ts'
import { fits, grouped, groupOf } from './sorting.ts'

const run = (some: Partial<Run>): Run =>
  ({ title: null, question: null, sql: null, reading: null, status: 'completed', is_error: false, outcome: 'table', pinned: false, created_at: '2026-11-01T10:00:00Z', ...some }) as Run

test('runs are grouped by what they want of a person', () => {
  assert.equal(groupOf(run({ status: 'input_required', pinned: true })), 'Needs you')
  assert.equal(groupOf(run({ status: 'working', pinned: true })), 'Running')
  assert.equal(groupOf(run({ pinned: true })), 'Pinned')
  assert.equal(groupOf(run({ status: 'failed' })), 'Finished')
})

test('groups without members are left out, and members come newest first', () => {
  const old = run({ question: 'old', created_at: '2026-10-01T00:00:00Z' })
  const young = run({ question: 'young', created_at: '2026-11-01T00:00:00Z' })
  const busy = run({ question: 'busy', status: 'working' })
  assert.deepEqual(
    grouped([old, young, busy], '', 'all').map(([group, members]) => [group, members.map((one) => one.question)]),
    [['Running', ['busy']], ['Finished', ['young', 'old']]],
  )
})

const FITS: [Partial<Run>, string, Parameters<typeof fits>[2], boolean][] = [
  [{ question: 'Revenue by country' }, 'COUNTRY rev', 'all', true],
  [{ question: 'Revenue by country' }, 'customers', 'all', false],
  [{ question: 'Revenue by country', title: 'Q3' }, 'q3', 'all', true],
  [{ question: 'Revenue by country', title: 'Q3' }, 'revenue', 'all', true],
  [{ sql: 'SELECT 1' }, 'select', 'all', true],
  [{}, '', 'answered', true],
  [{ is_error: true }, '', 'answered', false],
  [{ is_error: true }, '', 'failed', true],
  [{ status: 'expired' }, '', 'failed', true],
  [{ status: 'cancelled' }, '', 'stopped', true],
  [{ status: 'input_required' }, '', 'running', true],
]
for (const [some, words, wanted, yes] of FITS) {
  test(`${JSON.stringify(some)} ${yes ? 'fits' : 'does not fit'} "${words}", ${wanted}`, () => {
    assert.equal(fits(run(some), words, wanted), yes)
  })
}
