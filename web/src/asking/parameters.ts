// The `:names` of a SQL text, and the fields for their values. The server finds names by the same
// rules (`awhile.ask.engines.parameters`) and binds the values; none is ever pasted into the text.

import type { Database, Parameters, ParameterValue } from '../types.ts'

export const TYPES = ['text', 'integer', 'decimal', 'date', 'timestamp', 'boolean', 'null'] as const
export type FieldType = (typeof TYPES)[number]

/** A value as it is typed in, with the type it is sent as. */
export interface Field {
  type: FieldType
  text: string
}

const LEXEMES =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\$([A-Za-z_]\w*)?\$[\s\S]*?(?:\$\1\$|$)|(?<![\w$])[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|::|[A-Za-z0-9_]:(?!:)|:([A-Za-z_]\w*)/g

/** The names in a text, in order, each once. */
export function namesIn(sql: string): string[] {
  const names = new Set<string>()
  for (const match of sql.matchAll(LEXEMES)) if (match[2]) names.add(match[2])
  return [...names]
}

/** How many statements a text has: where more than one, it is a script. */
export function countStatements(sql: string): number {
  const bare = sql.replace(LEXEMES, (found) => (found.startsWith(':') ? 'x' : /^(--|\/\*)/.test(found) ? ' ' : 'x'))
  return bare.split(';').filter((part) => part.trim() !== '').length
}

const BY_KIND: Record<string, FieldType> = {
  integer: 'integer',
  number: 'decimal',
  date: 'date',
  timestamp: 'timestamp',
  boolean: 'boolean',
}

/** The type of the column that a parameter is compared with; text where that is not plain. */
export function guessedType(sql: string, name: string, database: Database | undefined): FieldType {
  const before = new RegExp(
    `(\\w+)"?\\s*(?:=|<>|!=|<=?|>=?|(?:not\\s+)?between(?:\\s+:\\w+\\s+and)?)\\s*:${name}\\b`,
    'i',
  )
  const column = before.exec(sql)?.[1]?.toLowerCase()
  const kinds = new Set(
    (database?.tables ?? [])
      .filter((table) => sql.toLowerCase().includes(table.name.toLowerCase()))
      .flatMap((table) => table.columns)
      .filter((one) => one.name.toLowerCase() === column)
      .map((one) => one.kind),
  )
  const [kind] = kinds
  if (kinds.size === 1 && kind) return BY_KIND[kind] ?? 'text'
  return new RegExp(`\\b(limit|offset)\\s+:${name}\\b`, 'i').test(sql) ? 'integer' : 'text'
}

/** What is wrong with a field, in words; null if nothing is. */
export function faultOf(field: Field): string | null {
  const text = field.text.trim()
  switch (field.type) {
    case 'integer':
      return /^[+-]?\d+$/.test(text) ? null : 'a whole number, such as 42'
    case 'decimal':
      return /^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text) ? null : 'a number, such as 4.2'
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? null : 'a date'
    case 'timestamp':
      return /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?/.test(text) ? null : 'a date and a time'
    default:
      return null
  }
}

/** A field's value as it is sent; texts keep every digit. */
export function valueOf(field: Field): ParameterValue {
  switch (field.type) {
    case 'null':
      return null
    case 'boolean':
      return field.text === 'true'
    case 'text':
      return field.text
    default:
      return { type: field.type, value: field.text.trim() }
  }
}

/** The field for a value that was sent before. */
export function fieldOf(value: ParameterValue): Field {
  if (value === null) return { type: 'null', text: '' }
  if (typeof value === 'boolean') return { type: 'boolean', text: String(value) }
  if (typeof value === 'number') return { type: 'decimal', text: String(value) }
  if (typeof value === 'string') return { type: 'text', text: value }
  const type = TYPES.find((one) => one === value.type)
  return { type: type ?? 'decimal', text: value.value }
}

/** The values to send for the names that a text has now. */
export function valuesOf(names: string[], fields: ReadonlyMap<string, Field>): Parameters {
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fields.get(name)
      return field ? [[name, valueOf(field)] as const] : []
    }),
  )
}

/** A value in words, for a person to check. */
export function shownValue(value: ParameterValue): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? value.value : String(value)
}
