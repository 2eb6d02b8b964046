import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ROW_PX, mostTop, scrollOfTop, topOfScroll, topShowing, trackPx, view } from './scroll.ts'

const MILLIONS = 5_000_000
const HEIGHT = 600

test('a small table scrolls pixel by pixel', () => {
  assert.equal(trackPx(1000), 28_000)
  assert.equal(topOfScroll(560, 1000, HEIGHT), 560)
  assert.equal(scrollOfTop(560, 1000, HEIGHT), 560)
})

test('the scrollbar reaches the last of five million rows', () => {
  const end = trackPx(MILLIONS) - HEIGHT
  const top = topOfScroll(end, MILLIONS, HEIGHT)
  assert.equal(top, mostTop(MILLIONS, HEIGHT))
  assert.equal(view(top, MILLIONS, HEIGHT).end, MILLIONS)
})

test('scroll position and row are each other’s inverse', () => {
  for (const row of [0, 1, 999_999, 4_999_000]) {
    const top = row * ROW_PX
    const back = topOfScroll(scrollOfTop(top, MILLIONS, HEIGHT), MILLIONS, HEIGHT)
    assert.ok(Math.abs(back - top) < 0.01)
  }
})

test('only rows in view and a margin are drawn', () => {
  const drawn = view(2_800, 1000, HEIGHT)
  assert.deepEqual([drawn.first, drawn.end], [92, 130])
})

test('a table shorter than its viewport does not scroll', () => {
  assert.deepEqual(view(50, 3, HEIGHT), { top: 0, first: 0, end: 3 })
})

test('moving to a row scrolls no further than needed', () => {
  assert.equal(topShowing(5, 0, HEIGHT), 0)
  assert.equal(topShowing(0, 280, HEIGHT), 0)
  assert.equal(topShowing(30, 0, HEIGHT), 31 * ROW_PX - HEIGHT)
})
