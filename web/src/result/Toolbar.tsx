import type { ReactNode } from 'react'

import { Menu } from '../Menu.tsx'
import { Copy } from '../run/Copy.tsx'
import type { Column, SeenRun } from '../types.ts'
import { shownName } from './columns.ts'
import { ExportMenu } from './ExportMenu.tsx'
import type { View } from './view.ts'

const WAYS: [View['show'], string][] = [
  ['table', 'Table'],
  ['chart', 'Chart'],
  ['changes', 'What changed'],
]

/** What can be done with a result. */
export function Toolbar(props: {
  run: SeenRun
  columns: Column[]
  view: View
  /** Whether there is an earlier result of the same question. */
  comparable: boolean
  filtering: boolean
  onFilter: () => void
  onChange: (some: Partial<View>) => void
  onCopyMarkdown: () => void
}): ReactNode {
  const { columns, view } = props
  const hidden = new Set(view.hidden)
  return (
    <div className="toolbar" role="toolbar" aria-label="The result">
      <span className="ways" role="group" aria-label="Show as">
        {WAYS.filter(([show]) => show !== 'changes' || props.comparable).map(([show, name]) => (
          <button
            key={show}
            type="button"
            className="quiet"
            aria-pressed={view.show === show}
            onClick={() => props.onChange({ show })}
          >
            {name}
          </button>
        ))}
      </span>
      <button type="button" className="quiet" aria-expanded={props.filtering} onClick={props.onFilter}>
        Filter
      </button>
      <Menu label={hidden.size === 0 ? 'Columns' : `Columns (${hidden.size} hidden)`}>
        <div className="column-list">
          {hidden.size > 0 && (
            <button type="button" className="link" onClick={() => props.onChange({ hidden: [] })}>
              Show all
            </button>
          )}
          {columns.map((column, index) => (
            <label key={index}>
              <input
                type="checkbox"
                checked={!hidden.has(index)}
                disabled={!hidden.has(index) && hidden.size === columns.length - 1}
                onChange={(event) =>
                  props.onChange({
                    hidden: event.target.checked
                      ? view.hidden.filter((one) => one !== index)
                      : [...view.hidden, index].sort((a, b) => a - b),
                  })
                }
              />
              {shownName(column, index)} <span className="dim">{column.type.toLowerCase()}</span>
            </label>
          ))}
        </div>
      </Menu>
      <ExportMenu id={props.run.id} view={view} />
      <button type="button" className="quiet" onClick={props.onCopyMarkdown}>
        Copy as Markdown
      </button>
      <Copy text={location.href} label="Copy link" />
    </div>
  )
}
