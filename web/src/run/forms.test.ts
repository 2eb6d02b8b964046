import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answerInWords, contentOf, faultOf, fieldsOf } from './forms.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2, maxLength: 5, description: 'As on the list' },
    mail: { type: 'string', format: 'email' },
    rows: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
    share: { type: 'number' },
    sure: { type: 'boolean', default: true },
    how: { type: 'string', enum: ['run', 'narrow'], enumNames: ['Run it', 'Narrow it'] },
    which: { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
    many: { type: 'array', items: { enum: ['x', 'y', 'z'] }, minItems: 1, maxItems: 2 },
  },
  required: ['name', 'how', 'many'],
}
const fields = fieldsOf(SCHEMA)
const field = (name: string) => fields.find((one) => one.name === name)!

test('a form becomes fields of the kinds that MCP knows, with their defaults', () => {
  assert.deepEqual(
    fields.map((one) => [one.name, one.kind, one.label, one.required, one.start]),
    [
      ['name', 'text', 'Your name', true, ''],
      ['mail', 'text', 'mail', false, ''],
      ['rows', 'integer', 'rows', false, '3'],
      ['share', 'number', 'share', false, ''],
      ['sure', 'yes_no', 'sure', false, 'true'],
      ['how', 'choice', 'how', true, ''],
      ['which', 'choice', 'which', false, ''],
      ['many', 'choices', 'many', true, []],
    ],
  )
  assert.deepEqual(field('how').options, [{ value: 'run', label: 'Run it' }, { value: 'narrow', label: 'Narrow it' }])
  assert.deepEqual(field('which').options, [{ value: 'a', label: 'A' }, { value: 'b', label: 'b' }])
  assert.deepEqual(fieldsOf('no schema at all'), [])
})

const FAULTS: [string, string | string[], string | null][] = [
  ['name', '', 'needed'],
  ['name', 'A', 'at least 2 characters'],
  ['name', 'Abcdef', 'at most 5 characters'],
  ['name', 'Ada', null],
  ['mail', '', null],
  ['mail', 'nobody', 'an e-mail address'],
  ['rows', '1.5', 'a whole number'],
  ['rows', '0', 'at least 1'],
  ['rows', '10', 'at most 9'],
  ['rows', '1e1x', 'a number'],
  ['share', '1.5', null],
  ['how', '', 'choose one'],
  ['many', [], 'choose at least 1'],
  ['many', ['x', 'y', 'z'], 'choose at most 2'],
]
for (const [name, held, fault] of FAULTS) {
  test(`"${held}" for ${name}: ${fault ?? 'fits'}`, () => assert.equal(faultOf(field(name), held), fault))
}

test('an answer is sent in the types that were asked for, without what was left empty', () => {
  const held = new Map<string, string | string[]>([
    ['name', 'Ada'], ['how', 'run'], ['many', ['x']], ['share', '0.5'], ['sure', 'false'],
  ])
  assert.deepEqual(contentOf(fields, held), { name: 'Ada', rows: 3, share: 0.5, sure: false, how: 'run', many: ['x'] })
})

test('a given answer is told as it was given', () => {
  assert.equal(answerInWords('accept', { how: 'run', rows: 3, sure: false, many: ['x', 'y'] }), 'run · 3 · no · x, y')
  assert.equal(answerInWords('accept', null), 'yes')
  assert.equal(answerInWords('decline', null), 'declined')
})
