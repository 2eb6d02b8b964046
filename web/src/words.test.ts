import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Facts, StopRequest } from './words.ts'
import {
  connection, duration, elapsedInWords, forReader, lastNewsInWords, leftInWords, openedInWords, ordinal, rowsInWords, ticking, titleOf, wordsFor,
} from './words.ts'

const facts = (some: Partial<Facts>): Facts => ({
  status: 'working',
  is_error: false,
  outcome: null,
  cancel_asked_at: null,
  stopped_how: null,
  stopped_after_seconds: null,
  stopAskedSeconds: null,
  attempt: 1,
  ...some,
})
const asked = { cancel_asked_at: '2026-11-01T10:00:00Z', stopAskedSeconds: 2 }

const STATES: [Partial<Facts>, StopRequest, string, string | null, boolean, boolean][] = [
  // facts, own request, badge, sentence, ended, can stop
  [{}, 'none', 'Running', null, false, true],
  [{}, 'sending', 'Running', 'sending your request to stop…', false, false],
  [{}, 'not_sent', 'Running', 'request not sent; the query is unaffected', false, true],
  [{}, 'unknown', 'Running', 'not known whether your request to stop arrived; you can send it again', false, true],
  [asked, 'none', 'Stop requested', 'still running until the database confirms', false, false],
  [asked, 'not_sent', 'Stop requested', 'still running until the database confirms', false, false],
  [{ ...asked, stopAskedSeconds: 31 }, 'none', 'Not stopped yet', 'asked to stop 31 s ago, and the database has not confirmed it', false, false],
  [{ status: 'input_required' }, 'none', 'Needs your answer', null, false, true],
  [{ status: 'input_required' }, 'not_sent', 'Needs your answer', 'request not sent; the query is unaffected', false, true],
  [{ status: 'input_required', ...asked }, 'none', 'Stop requested', 'still running until the database confirms', false, false],
  [{ attempt: 0 }, 'none', 'Waiting to start', null, false, true],
  [{ attempt: 0, ...asked }, 'none', 'Stop requested', 'still running until the database confirms', false, false],
  [{ attempt: 2 }, 'none', 'Running again', '2nd attempt', false, true],
  [{ attempt: 3 }, 'not_sent', 'Running again', 'request not sent; the query is unaffected', false, true],
  [{ attempt: 2, ...asked }, 'none', 'Stop requested', 'still running until the database confirms', false, false],
  [{ attempt: 2, status: 'completed', outcome: 'table' }, 'none', 'Finished', null, true, false],
  [{ status: 'completed', outcome: 'table' }, 'none', 'Finished', null, true, false],
  [{ status: 'completed' }, 'not_sent', 'Finished', null, true, false],
  [{ status: 'completed', ...asked, outcome: 'table' }, 'none', 'Finished anyway', 'result kept', true, false],
  [{ status: 'completed', is_error: true }, 'none', 'Failed', null, true, false],
  [{ status: 'completed', is_error: true, ...asked }, 'none', 'Failed after you asked to stop', null, true, false],
  [{ status: 'completed', outcome: 'refusal' }, 'none', 'Not answered', null, true, false],
  [{ status: 'completed', outcome: 'question_back' }, 'none', 'Asks you back', null, true, false],
  [{ status: 'completed', outcome: 'not_run' }, 'none', 'Not run', null, true, false],
  [{ status: 'completed', ...asked, outcome: 'not_run' }, 'none', 'Finished anyway', 'result kept', true, false],
  [{ status: 'failed' }, 'none', 'Failed', null, true, false],
  [{ status: 'failed', ...asked }, 'none', 'Failed after you asked to stop', null, true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'engine_confirmed', stopped_after_seconds: 0.03 }, 'none', 'Stopped', 'confirmed by the database after 0.03 s', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'process_ended', stopped_after_seconds: 1.52 }, 'none', 'Stopped', 'confirmed after 1.5 s: the process running it has ended', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'never_started', stopped_after_seconds: 0 }, 'none', 'Stopped', 'it had not started', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'not_stopped' }, 'none', 'Not stopped yet', 'it could not be stopped and may still be having effects', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'coroutine_ended', stopped_after_seconds: 0.004 }, 'none', 'Stopped', 'confirmed after <0.01 s: the work has ended', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'thread_returned', stopped_after_seconds: 2 }, 'none', 'Stopped', 'confirmed after 2.0 s: the work has returned', true, false],
  [{ status: 'cancelled', ...asked, stopped_how: 'worker_lost' }, 'none', 'Stopped', 'the process that ran it was already gone', true, false],
  [{ status: 'cancelled' }, 'none', 'Stopped', 'the server says so', true, false],
  [{ status: 'expired' }, 'none', 'Expired', 'the server no longer keeps this run', true, false],
]

for (const [some, request, badge, sentence, isEnded, canStop] of STATES) {
  test(`${JSON.stringify(some)} with own request ${request} reads "${badge}"`, () => {
    const words = wordsFor(facts(some), request)
    assert.equal(words.badge, badge)
    assert.equal(words.sentence, sentence)
    assert.equal(words.ended, isEnded)
    assert.equal(words.canStop, canStop)
  })
}

const STALE: [Partial<Facts>, StopRequest, string, string | null][] = [
  [{}, 'none', 'Unreachable', 'it was running when last heard of, and may be still'],
  [{}, 'not_sent', 'Unreachable', 'request not sent; the query is unaffected'],
  [{ status: 'input_required' }, 'none', 'Unreachable', 'it needed your answer when last heard of'],
  [asked, 'none', 'Unreachable', 'a stop was requested, and not confirmed when last heard of'],
  [{ status: 'completed' }, 'none', 'Finished', null],
]

for (const [some, request, badge, sentence] of STALE) {
  test(`out of date, ${JSON.stringify(some)} with own request ${request} reads "${badge}"`, () => {
    const words = wordsFor(facts(some), request, false)
    assert.deepEqual([words.badge, words.sentence], [badge, sentence])
  })
}

test('no past tense is used while the work is running', () => {
  for (const [some, request] of STATES) {
    const words = wordsFor(facts(some), request)
    if (!words.ended) assert.doesNotMatch(words.badge, /^(Stopped|Finished|Failed)/)
  }
})

const up = { reachable: true, since: '2026-11-01T10:00:00Z' }
const down = { reachable: false, since: '2026-11-01T10:00:00Z' }
const clock = () => '10:00:00'

const CONNECTIONS: [Parameters<typeof connection>, string][] = [
  [['connecting', null, up, clock], 'Connecting…'],
  [['open', 0, up, clock], 'Live'],
  [['open', 11.9, up, clock], 'Live'],
  [['open', 12, up, clock], 'No connection, what you see may be out of date'],
  [['broken', 1, up, clock], 'No connection, what you see may be out of date'],
  [['broken', null, up, clock], 'No connection, what you see may be out of date'],
  [['open', 1, down, clock], 'Server not reachable since 10:00:00; what you see may be out of date'],
  [['open', 1, { reachable: false, since: null }, clock], 'Connecting to the server…'],
  [['signed-out', 1, up, clock], 'Signed out; what you see may be out of date'],
  [
    ['full', null, down, clock],
    'Too many people are here at the moment; this page goes on by itself once there is room',
  ],
  [['locked', 1, up, clock], 'Not signed in: open the address that awhile printed when it started'],
]

for (const [given, word] of CONNECTIONS) {
  test(`a ${given[0]} stream silent for ${given[1]} s reads "${word}"`, () => {
    assert.equal(connection(...given).word, word)
    assert.equal(connection(...given).current, word === 'Live')
  })
}

test('durations are never rounded up', () => {
  const said = [0, 0.03, 0.5, 4.29, 9.99, 42.9, 59.99, 185, 3599.9, 7499].map(duration)
  assert.deepEqual(said, [
    '<0.01 s', '0.03 s', '0.50 s', '4.2 s', '9.9 s', '42 s', '59 s', '3 min 05 s', '59 min 59 s', '2 h 04 min',
  ])
  assert.deepEqual([0.9, 4.9, 61].map(ticking), ['0 s', '4 s', '1 min 01 s'])
})

test('rows say whether they are all', () => {
  assert.equal(rowsInWords(0, false), '0 rows')
  assert.equal(rowsInWords(1, false), '1 row')
  assert.equal(rowsInWords(1234, false), '1,234 rows')
  assert.equal(rowsInWords(100000, true), 'First 100,000 rows of more')
})

test('a run is titled by what its owner calls it, else its question, else its SQL on one line', () => {
  const run = { title: null, question: null, sql: 'SELECT\n  1' }
  assert.equal(titleOf(run), 'SELECT 1')
  assert.equal(titleOf({ ...run, sql: null }), 'SQL query')
  assert.equal(titleOf({ ...run, question: 'How many?' }), 'How many?')
  assert.equal(titleOf({ title: 'Heads', question: 'How many?', sql: null }), 'Heads')
})

test('attempts are counted as people count', () => {
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 102, 112].map(ordinal), [
    '1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '102nd', '112th',
  ])
})

test('the age of the last news is told once it is old, and what is left only roughly', () => {
  assert.deepEqual([0, 9.9, 10, 75].map(lastNewsInWords), [null, null, 'last news 10 s ago', 'last news 1 min 15 s ago'])
  assert.deepEqual([1, 42, 200, 9000].map(leftInWords), [
    'about 5 s left', 'about 40 s left', 'about 3 min left', 'about 3 h left',
  ])
})

test('elapsed time stands still, and says so, when the page is out of date', () => {
  assert.equal(elapsedInWords(31.4, false, true), '31 s')
  assert.equal(elapsedInWords(31.4, false, false), '31 s when last heard of')
  assert.equal(elapsedInWords(1.24, true, false), 'took 1.2 s')
})

test('nothing that a reader of a shared run is told speaks of what they did or have to do', () => {
  for (const [some] of STATES) {
    for (const fresh of [true, false]) {
      const words = forReader(wordsFor(facts(some), 'none', fresh))
      assert.doesNotMatch(`${words.badge} ${words.sentence}`, /\byou(r)?\b/)
      assert.equal(words.canStop, false)
    }
  }
  const waits = forReader(wordsFor(facts({ status: 'input_required' })))
  assert.equal(waits.badge, 'Waits for its owner')
})

test('how often a link was opened is said in words', () => {
  assert.deepEqual([0, 1, 2, 1234].map(openedInWords), ['not opened yet', 'opened once', 'opened twice', 'opened 1,234 times'])
})
