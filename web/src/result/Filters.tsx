import type { FormEvent, ReactNode } from 'react'
import { useId, useState } from 'react'

import type { Column } from '../types.ts'
import { isNumeric, shownName } from './columns.ts'
import type { Filter, Operator } from './view.ts'
import { needsValue, OPERATORS, operatorInWords } from './view.ts'

/** The conditions that rows have to meet, and a form to add one. */
export function Filters(props: {
  columns: Column[]
  filters: Filter[]
  open: boolean
  onChange: (filters: Filter[]) => void
}): ReactNode {
  const { columns, filters } = props
  return (
    <div className="filters">
      {filters.length > 0 && (
        <ul aria-label="Filters">
          {filters.map((filter, index) => (
            <li key={index} className="word">
              <span>
                {nameOf(columns, filter.column)} {operatorInWords(filter.operator)}
                {filter.value !== null && ` “${filter.value}”`}
              </span>
              <button
                type="button"
                className="quiet"
                aria-label={`Remove the filter on ${nameOf(columns, filter.column)}`}
                onClick={() => props.onChange(filters.filter((_, other) => other !== index))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {props.open && <OneMore columns={columns} onAdd={(filter) => props.onChange([...filters, filter])} />}
    </div>
  )
}

function nameOf(columns: Column[], index: number): string {
  const column = columns[index]
  return column ? shownName(column, index) : `column ${index + 1}`
}

function OneMore(props: { columns: Column[]; onAdd: (filter: Filter) => void }): ReactNode {
  const { columns } = props
  const [column, setColumn] = useState(0)
  const [operator, setOperator] = useState<Operator>(columns[0] && isNumeric(columns[0]) ? '=' : 'contains')
  const [value, setValue] = useState('')
  const id = useId()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    props.onAdd({ column, operator, value: needsValue(operator) ? value : null })
    setValue('')
  }
  return (
    <form className="acts" onSubmit={submit} aria-label="Filter rows">
      <select
        // Whoever pressed "Filter" wants to choose here.
        autoFocus
        aria-label="Column"
        value={column}
        onChange={(event) => {
          const next = Number(event.target.value)
          setColumn(next)
          setOperator(columns[next] && isNumeric(columns[next]) ? '=' : 'contains')
        }}
      >
        {columns.map((one, index) => (
          <option key={index} value={index}>
            {shownName(one, index)}
          </option>
        ))}
      </select>
      <select aria-label="Condition" value={operator} onChange={(event) => setOperator(event.target.value as Operator)}>
        {OPERATORS.map((one) => (
          <option key={one} value={one}>
            {operatorInWords(one)}
          </option>
        ))}
      </select>
      {needsValue(operator) && (
        <input
          id={id}
          type="text"
          aria-label="Value"
          autoComplete="off"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
      )}
      <button type="submit">Add</button>
    </form>
  )
}
