import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { View } from './view.ts'
import { nextSort, readView, WHOLE, writeView } from './view.ts'

test('an address says the whole view, and is read back to the same', () => {
  const view: View = {
    sort: { column: 2, descending: true },
    filters: [
      { column: 0, operator: 'contains', value: 'a & b = "c"\n ' },
      { column: 1, operator: 'is not null', value: null },
      { column: 3, operator: '>=', value: '9007199254740993' },
      { column: 3, operator: '=', value: '' },
    ],
    hidden: [4, 7],
    show: 'chart',
    chart: 'bar.x0.y1',
  }
  assert.deepEqual(readView(`?${writeView(view)}`), view)
  assert.equal(writeView(WHOLE).toString(), '')
  assert.deepEqual(readView(''), WHOLE)
})

test('what an address does not mean is left out', () => {
  const odd = readView('?sort=x&where=1+drops+table&where=1+%3E&hide=a.2&show=all&chart=<b>')
  assert.deepEqual(odd, { ...WHOLE, hidden: [2] })
})

test('a column is sorted up, then down, then not', () => {
  const up = nextSort(null, 1)
  assert.deepEqual(up, { column: 1, descending: false })
  const down = nextSort(up, 1)
  assert.deepEqual(down, { column: 1, descending: true })
  assert.equal(nextSort(down, 1), null)
  assert.deepEqual(nextSort(down, 2), { column: 2, descending: false })
})
