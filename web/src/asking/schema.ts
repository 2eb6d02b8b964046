// Names of tables and columns, found and written into SQL. `table` names may carry their schema.

import type { Database, Table } from '../types.ts'

const PLAIN = /^[a-z_][a-z0-9_]*$/
const RESERVED = new Set(
  ('all and any array as asc between both by case cast check collate column constraint create cross current_date ' +
    'default desc distinct do else end except exists false fetch for foreign from full grant group having in index ' +
    'inner intersect into is join key leading left like limit natural not null offset on only or order outer over ' +
    'partition primary references right row rows select set some table then to trailing true union unique update ' +
    'user using values when where window with').split(' '),
)

/** A name as the SQL of that dialect takes it: quoted where it has to be, part by part. */
export function quoted(name: string, dialect: string): string {
  const mark = ['mysql', 'mariadb', 'bigquery', 'spark', 'hive'].includes(dialect) ? '`' : '"'
  return name
    .split('.')
    .map((part) => (PLAIN.test(part) && !RESERVED.has(part) ? part : mark + part.replaceAll(mark, mark + mark) + mark))
    .join('.')
}

export function firstRowsOf(table: Table, database: Database): string {
  return `SELECT *\nFROM ${quoted(table.name, database.dialect)}\nLIMIT 100`
}

/** The tables that fit the words: by their own name, or with the columns that fit. */
export function matching(tables: Table[], words: string): Table[] {
  const wanted = words.trim().toLowerCase()
  if (wanted === '') return tables
  return tables.flatMap((table) => {
    if (table.name.toLowerCase().includes(wanted)) return [table]
    const columns = table.columns.filter((column) => column.name.toLowerCase().includes(wanted))
    return columns.length > 0 ? [{ ...table, columns }] : []
  })
}
