import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Chart } from '../types.ts'
import { beginsAtZero, pointsOf, readChoice, writeChoice } from './charts.ts'

test('a choice is written into an address and read back', () => {
  const choice = { kind: 'bar', x: 0, y: 12, series: null, aggregate: 'average' } as const
  assert.equal(writeChoice(choice), 'bar.x0.y12.aaverage')
  assert.deepEqual(readChoice('bar.x0.y12.aaverage'), choice)
  assert.equal(writeChoice(readChoice(null)), null)
  assert.deepEqual(readChoice('pie.z1.adrop'), readChoice(null))
})

test('bars begin at 0 always, lines unless that would hide their changes', () => {
  assert.equal(beginsAtZero('bar', [98, 100]), true)
  assert.equal(beginsAtZero('line', [10, 100]), true)
  assert.equal(beginsAtZero('line', [98, 100]), false)
  assert.equal(beginsAtZero('line', [-100, -98]), false)
  assert.equal(beginsAtZero('line', [-100, -10]), true)
  assert.equal(beginsAtZero('line', [-5, 100]), true)
  assert.equal(beginsAtZero('scatter', [1, 2]), false)
})

test('a day is drawn as the day it is, wherever one sits', () => {
  const chart = {
    x: { label: 'day', column: 0, type: 'time' },
    points: [['2011-12-30', '9007199254740993', null], ['2026-03-29T02:30:00.000', '1.5', 'a']],
  } as unknown as Chart
  const [day, instant] = pointsOf(chart)
  assert.equal((day!.x as Date).toISOString(), '2011-12-30T00:00:00.000Z')
  assert.equal((instant!.x as Date).toISOString(), '2026-03-29T02:30:00.000Z')
  assert.deepEqual([instant!.y, instant!.series], [1.5, 'a'])
})
