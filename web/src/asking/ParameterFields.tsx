import type { ReactNode } from 'react'
import { useId } from 'react'

import type { Field, FieldType } from './parameters.ts'
import { faultOf, TYPES } from './parameters.ts'

const INPUTS: Partial<Record<FieldType, string>> = { date: 'date', timestamp: 'datetime-local' }
const NAMES: Record<FieldType, string> = {
  text: 'text',
  integer: 'whole number',
  decimal: 'number',
  date: 'date',
  timestamp: 'date and time',
  boolean: 'true or false',
  null: 'nothing (null)',
}

/** A field for each `:name` of a statement; values are bound, never pasted. */
export function ParameterFields(props: {
  fields: ReadonlyMap<string, Field>
  /** Whether what is missing is told already. */
  told: boolean
  onChange: (name: string, field: Field) => void
}): ReactNode {
  if (props.fields.size === 0) return null
  return (
    <fieldset className="parameters">
      <legend>Values</legend>
      {[...props.fields].map(([name, field]) => (
        <OneField key={name} name={name} field={field} told={props.told} onChange={(next) => props.onChange(name, next)} />
      ))}
    </fieldset>
  )
}

function OneField(props: {
  name: string
  field: Field
  told: boolean
  onChange: (field: Field) => void
}): ReactNode {
  const { name, field } = props
  const id = useId()
  const fault = props.told || field.text !== '' ? faultOf(field) : null
  return (
    <div className="parameter">
      <label htmlFor={id}>:{name}</label>
      {field.type === 'boolean' ? (
        <select id={id} value={field.text || 'false'} onChange={(event) => props.onChange({ ...field, text: event.target.value })}>
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input
          id={id}
          type={INPUTS[field.type] ?? 'text'}
          step={field.type === 'timestamp' ? 1 : undefined}
          disabled={field.type === 'null'}
          value={field.text}
          autoComplete="off"
          aria-invalid={fault !== null}
          aria-describedby={`${id}-fault`}
          onChange={(event) => props.onChange({ ...field, text: event.target.value })}
        />
      )}
      <select
        aria-label={`Type of :${name}`}
        value={field.type}
        onChange={(event) => props.onChange({ ...field, type: event.target.value as FieldType })}
      >
        {TYPES.map((type) => (
          <option key={type} value={type}>
            {NAMES[type]}
          </option>
        ))}
      </select>
      <span id={`${id}-fault`} className="problem">
        {fault && `Needs ${fault}`}
      </span>
    </div>
  )
}
