import assert from 'node:assert/strict'
import { test } from 'node:test'

import { askedAsOwn, askedBy } from './again.ts'

const RUN = { question: 'and by country?', sql: 'SELECT 1', parameters: null, follows: 'a' }

test('an owner asks on from the same run again', () => {
  assert.deepEqual(askedBy(RUN, RUN.sql, null), { question: 'and by country?', follows: 'a' })
  assert.deepEqual(askedBy({ ...RUN, question: null }, 'SELECT :n', { n: 1 }), { sql: 'SELECT :n', parameters: { n: 1 } })
  assert.equal(askedBy({ ...RUN, question: null }, null, null), null)
})

test('a reader asks what the server says means the same to anybody', () => {
  assert.deepEqual(askedAsOwn('question', RUN), { question: 'and by country?' })
  assert.deepEqual(askedAsOwn('sql', RUN), { sql: 'SELECT 1', parameters: {} })
  assert.equal(askedAsOwn(null, RUN), null)
  assert.equal(askedAsOwn('sql', { ...RUN, sql: null }), null)
})
