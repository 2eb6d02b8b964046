import assert from 'node:assert/strict'
import { test } from 'node:test'

import { asMarkdown, asTabbed } from './copying.ts'

test('a single cell is copied as its exact text', () => {
  for (const text of ['9007199254740993', ' a\t"b"\nc ', '']) assert.equal(asTabbed([[text]]), text)
  assert.equal(asTabbed([[null]]), '')
})

test('several cells are copied so that a spreadsheet finds the same cells', () => {
  const rows = [['1', 'a\tb', null], ['2', 'say "hi"', 'x\ny']]
  assert.equal(asTabbed(rows), '1\t"a\tb"\t\n2\t"say ""hi"""\t"x\ny"')
})

test('Markdown keeps every cell in its place, whatever is in it', () => {
  const columns = [{ name: 'n', type: 'BIGINT' }, { name: ' ', type: 'VARCHAR' }]
  assert.equal(
    asMarkdown(columns, [['1', 'a|b'], [null, '<img src=x>\nnext\\']]),
    '| n | column 2 |\n| ---: | --- |\n| 1 | a\\|b |\n|  | &lt;img src=x><br>next\\\\ |',
  )
})
