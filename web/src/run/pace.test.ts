import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Sample } from './pace.ts'
import { sampled, secondsLeft } from './pace.ts'

const run = (percentAt: (second: number) => number, seconds: number): Sample[] => {
  let samples: Sample[] = []
  for (let at = 0; at <= seconds; at += 0.5) samples = sampled(samples, { at, percent: percentAt(at) })
  return samples
}

test('a steady percentage tells what is left', () => {
  assert.equal(secondsLeft(run((at) => 2 * at, 30)), 20)
})

test('nothing is told of a percentage that is young, small, slowing down or standing still', () => {
  assert.equal(secondsLeft(run((at) => 10 * at, 5)), null)
  assert.equal(secondsLeft(run((at) => at / 10, 60)), null)
  assert.equal(secondsLeft(run((at) => 90 * (1 - Math.exp(-at / 8)), 30)), null)
  assert.equal(secondsLeft(run((at) => Math.min(40, 4 * at), 30)), null)
  assert.equal(secondsLeft([]), null)
})

test('a percentage that went back is looked at anew', () => {
  const samples = sampled(run((at) => 2 * at, 30), { at: 31, percent: 5 })
  assert.deepEqual(samples, [{ at: 31, percent: 5 }])
})
