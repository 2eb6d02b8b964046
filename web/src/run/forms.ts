// The form of an answer (MCP's flat `requestedSchema`) as fields, and an answer as it is sent.
// Labels and texts come from the server and are shown as text only.

import type { AnswerContent } from '../types.ts'

export type Kind = 'text' | 'number' | 'integer' | 'yes_no' | 'choice' | 'choices'

export interface Option {
  value: string
  label: string
}

export interface FormField {
  name: string
  label: string
  help: string | null
  kind: Kind
  required: boolean
  /** What it holds at first: a text, or the chosen values. */
  start: string | string[]
  options: Option[]
  /** The browser's own kind of input. */
  input: 'text' | 'email' | 'url' | 'date' | 'datetime-local'
  shortest: number | null
  longest: number | null
  least: number | null
  most: number | null
}

type Schema = Record<string, unknown>

const INPUTS: Record<string, FormField['input']> = {
  email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local',
}

/** The fields of a form; what has no form MCP knows is a text. */
export function fieldsOf(schema: unknown): FormField[] {
  const whole = object(schema)
  const required = list(whole.required)
  return Object.entries(object(whole.properties)).map(([name, value]) => {
    const one = object(value)
    const options = optionsOf(one)
    const kind = kindOf(one, options)
    return {
      name,
      label: text(one.title) ?? name,
      help: text(one.description),
      kind,
      required: required.includes(name),
      start: startOf(kind, one.default),
      options,
      input: INPUTS[text(one.format) ?? ''] ?? 'text',
      shortest: number(one.minLength ?? one.minItems),
      longest: number(one.maxLength ?? one.maxItems),
      least: number(one.minimum),
      most: number(one.maximum),
    }
  })
}

function kindOf(one: Schema, options: Option[]): Kind {
  if (one.type === 'array') return 'choices'
  if (options.length > 0) return 'choice'
  if (one.type === 'boolean') return 'yes_no'
  return one.type === 'integer' || one.type === 'number' ? one.type : 'text'
}

function optionsOf(one: Schema): Option[] {
  const from = one.type === 'array' ? object(one.items) : one
  const titled = [...list(from.oneOf), ...list(from.anyOf)].map(object)
  if (titled.length > 0) {
    return titled.map((option) => ({ value: String(option.const), label: text(option.title) ?? String(option.const) }))
  }
  const names = list(from.enumNames)
  return list(from.enum).map((value, index) => ({ value: String(value), label: text(names[index]) ?? String(value) }))
}

function startOf(kind: Kind, given: unknown): string | string[] {
  if (kind === 'choices') return list(given).map(String)
  return given === undefined || given === null ? '' : String(given)
}

/** What is wrong with what a field holds, in words; null if nothing is. */
export function faultOf(field: FormField, held: string | string[]): string | null {
  if (Array.isArray(held)) {
    if (field.shortest !== null && held.length < field.shortest) return `choose at least ${field.shortest}`
    if (field.longest !== null && held.length > field.longest) return `choose at most ${field.longest}`
    return field.required && held.length === 0 ? 'choose at least one' : null
  }
  if (held.trim() === '') return field.required ? (field.options.length > 0 ? 'choose one' : 'needed') : null
  if (field.kind === 'number' || field.kind === 'integer') return faultOfNumber(field, held.trim())
  if (field.kind !== 'text') return null
  if (field.shortest !== null && held.length < field.shortest) return `at least ${field.shortest} characters`
  if (field.longest !== null && held.length > field.longest) return `at most ${field.longest} characters`
  if (field.input === 'email' && !/^\S+@\S+$/.test(held)) return 'an e-mail address'
  if (field.input === 'url' && !URL.canParse(held)) return 'a whole address, such as https://example.com'
  return null
}

function faultOfNumber(field: FormField, held: string): string | null {
  const value = Number(held)
  if (!Number.isFinite(value)) return 'a number'
  if (field.kind === 'integer' && !Number.isInteger(value)) return 'a whole number'
  if (field.least !== null && value < field.least) return `at least ${field.least}`
  if (field.most !== null && value > field.most) return `at most ${field.most}`
  return null
}

/** An answer as it is sent; fields left empty are left out. */
export function contentOf(fields: FormField[], held: ReadonlyMap<string, string | string[]>): AnswerContent {
  const content: AnswerContent = {}
  for (const field of fields) {
    const value = held.get(field.name) ?? field.start
    if (Array.isArray(value)) {
      if (value.length > 0 || field.required) content[field.name] = value
    } else if (value.trim() !== '') {
      content[field.name] = sent(field, value)
    }
  }
  return content
}

function sent(field: FormField, value: string): string | number | boolean {
  if (field.kind === 'yes_no') return value === 'true'
  if (field.kind === 'number' || field.kind === 'integer') return Number(value)
  if (field.input === 'datetime-local' && !/[Zz]|[+-]\d\d:\d\d$/.test(value)) return new Date(value).toISOString()
  return value
}

/** An answer that was given, in words. */
export function answerInWords(action: string, content: AnswerContent | null): string {
  if (action === 'decline') return 'declined'
  if (action === 'cancel') return 'left open'
  const values = Object.values(content ?? {}).map((value) => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    return Array.isArray(value) ? value.join(', ') : String(value)
  })
  return values.length > 0 ? values.join(' · ') : 'yes'
}

function object(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
