import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MOST_SHOWN, offeredQuestions } from './offered.ts'

const asked = (...questions: (string | null)[]) =>
  questions.map((question, index) => ({ question, follows: null, created_at: `2026-11-${10 + index}T00:00:00Z` }))

test('past questions come once each, newest first, as far as they hold what is typed', () => {
  const runs = asked('How many orders?', 'Revenue by country', null, 'how many orders? ', 'How many customers?')
  assert.deepEqual(offeredQuestions(runs, [], ''), ['How many customers?', 'how many orders?', 'Revenue by country'])
  assert.deepEqual(offeredQuestions(runs, [], ' MANY o'), ['how many orders?'])
  assert.deepEqual(offeredQuestions(runs, [], 'How many orders?'), [])
})

test('only so many are offered', () => {
  assert.equal(offeredQuestions(asked(...Array.from({ length: 30 }, (_, n) => `q${n}`)), [], 'q').length, MOST_SHOWN)
})

test('examples come behind what was asked before, and what only goes on from another is not offered', () => {
  const runs = [...asked('Revenue by city'), { question: 'and revenue by year?', follows: 'a', created_at: null }]
  assert.deepEqual(offeredQuestions(runs, ['Revenue by city', 'Revenue by month'], 'revenue'), [
    'Revenue by city', 'Revenue by month',
  ])
})
