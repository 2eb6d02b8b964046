import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Icon, Told } from './tab.ts'
import { iconFor, titleFor } from './tab.ts'

const quiet: Told = { running: 0, percent: null, asks: 0, unseen: 0, fresh: true }
const TABS: [Partial<Told>, string, Icon][] = [
  [{}, 'Ask your database', 'idle'],
  [{ running: 1, percent: 37.9 }, '(1) 37% · Ask your database', 'running'],
  [{ running: 2 }, '(2) Ask your database', 'running'],
  [{ running: 1, unseen: 2 }, '✓ 2 ended · Ask your database', 'ended'],
  [{ running: 1, unseen: 2, asks: 1 }, '(!) 1 needs you · Ask your database', 'asks'],
  [{ asks: 2 }, '(!) 2 need you · Ask your database', 'asks'],
  [{ running: 1, percent: 37, fresh: false }, '? Ask your database', 'away'],
]
for (const [some, title, icon] of TABS) {
  test(`${JSON.stringify(some)} is told as "${title}"`, () => {
    assert.equal(titleFor({ ...quiet, ...some }), title)
    assert.equal(iconFor({ ...quiet, ...some }), icon)
  })
}
