// How a result is looked at, as its address says it: a link shows the same to whoever opens it.

export interface Sort {
  column: number
  descending: boolean
}

export const OPERATORS = ['contains', '=', '!=', '<', '<=', '>', '>=', 'is null', 'is not null'] as const
export type Operator = (typeof OPERATORS)[number]

/** A condition on one column; the server compares numbers as numbers and dates as dates. */
export interface Filter {
  column: number
  operator: Operator
  value: string | null
}

export interface View {
  sort: Sort | null
  filters: Filter[]
  /** Columns that are not shown. */
  hidden: number[]
  show: 'table' | 'chart' | 'changes'
  /** What the person has chosen of the chart (`charts.ts`). */
  chart: string | null
}

export const WHOLE: View = { sort: null, filters: [], hidden: [], show: 'table', chart: null }

export function needsValue(operator: Operator): boolean {
  return operator !== 'is null' && operator !== 'is not null'
}

/** The view that an address describes; what it does not understand is left out. */
export function readView(search: string): View {
  const said = new URLSearchParams(search)
  const sort = /^(\d{1,6})([ad])$/.exec(said.get('sort') ?? '')
  const show = said.get('show')
  const chart = said.get('chart')
  return {
    sort: sort ? { column: Number(sort[1]), descending: sort[2] === 'd' } : null,
    filters: said.getAll('where').flatMap(readFilter),
    hidden: (said.get('hide') ?? '').split('.').filter((one) => /^\d{1,6}$/.test(one)).map(Number),
    show: show === 'chart' || show === 'changes' ? show : 'table',
    chart: chart !== null && /^[a-z0-9.]{1,60}$/.test(chart) ? chart : null,
  }
}

function readFilter(text: string): Filter[] {
  const match = /^(\d{1,6}) (contains|=|!=|<=?|>=?|is null|is not null)(?: ([\s\S]*))?$/.exec(text)
  if (!match) return []
  const operator = match[2] as Operator
  const value = needsValue(operator) ? (match[3] ?? null) : null
  return needsValue(operator) && value === null ? [] : [{ column: Number(match[1]), operator, value }]
}

export function writeView(view: View): URLSearchParams {
  const said = new URLSearchParams()
  if (view.sort) said.set('sort', `${view.sort.column}${view.sort.descending ? 'd' : 'a'}`)
  for (const { column, operator, value } of view.filters) {
    said.append('where', value === null ? `${column} ${operator}` : `${column} ${operator} ${value}`)
  }
  if (view.hidden.length > 0) said.set('hide', view.hidden.join('.'))
  if (view.show !== 'table') said.set('show', view.show)
  if (view.chart !== null) said.set('chart', view.chart)
  return said
}

/** The next order of a column: up, down, as it came. */
export function nextSort(sort: Sort | null, column: number): Sort | null {
  if (sort?.column !== column) return { column, descending: false }
  return sort.descending ? null : { column, descending: true }
}

const SAID: Record<Operator, string> = {
  contains: 'contains',
  '=': 'is',
  '!=': 'is not',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
  'is null': 'is null',
  'is not null': 'is not null',
}

export function operatorInWords(operator: Operator): string {
  return SAID[operator]
}
