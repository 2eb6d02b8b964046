import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MOST_SHOWN, pastQuestions } from './past.ts'

const asked = (...questions: (string | null)[]) =>
  questions.map((question, index) => ({ question, created_at: `2026-11-${10 + index}T00:00:00Z` }))

test('past questions come once each, newest first, as far as they hold what is typed', () => {
  const runs = asked('How many orders?', 'Revenue by country', null, 'how many orders? ', 'How many customers?')
  assert.deepEqual(pastQuestions(runs, ''), ['How many customers?', 'how many orders?', 'Revenue by country'])
  assert.deepEqual(pastQuestions(runs, ' MANY o'), ['how many orders?'])
  assert.deepEqual(pastQuestions(runs, 'How many orders?'), [])
})

test('only so many are offered', () => {
  assert.equal(pastQuestions(asked(...Array.from({ length: 30 }, (_, n) => `q${n}`)), 'q').length, MOST_SHOWN)
})
