import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { fetchChanges } from '../api.ts'
import { timeOfDay } from '../clock.ts'
import { Link } from '../Link.tsx'
import { pathOf } from '../path.ts'
import type { Change, Changes, SeenRun } from '../types.ts'
import { whole } from '../words.ts'
import { isNumeric, shownName } from './columns.ts'

/** What changed since the same was asked before. */
export default function ChangesView(props: { run: SeenRun; earlier: SeenRun }): ReactNode {
  const { run, earlier } = props
  const { data, error } = useQuery({
    queryKey: ['changes', run.id, earlier.id],
    queryFn: ({ signal }) => fetchChanges(run.id, earlier.id, signal),
  })
  if (error) return <p className="notice">{error.message}</p>
  if (!data) return <p className="dim">Comparing…</p>
  return (
    <div className="changes">
      <p>
        {countsInWords(data)}, since{' '}
        <Link to={pathOf(earlier.id)}>{earlier.created_at ? whenOf(earlier.created_at) : 'the run before'}</Link>.
      </p>
      {data.rows.length > 0 && <Table changes={data} />}
      {data.rows.length < data.changed + data.new + data.gone && (
        <p className="dim">The first {whole(data.rows.length)} of them are shown.</p>
      )}
    </div>
  )
}

function whenOf(iso: string): string {
  return `${new Date(iso).toLocaleDateString()} ${timeOfDay(iso)}`
}

function countsInWords(changes: Changes): string {
  if (changes.changed + changes.new + changes.gone === 0) return 'Nothing changed'
  const told = [
    [changes.changed, 'changed'],
    [changes.new, 'new'],
    [changes.gone, 'gone'],
    [changes.same, 'as before'],
  ] as const
  const parts = told.filter(([count]) => count > 0).map(([count, word]) => `${whole(count)} ${word}`)
  return `Of the rows, ${parts.join(', ')}`
}

function Table(props: { changes: Changes }): ReactNode {
  const { columns, rows } = props.changes
  return (
    <div className="change-table" tabIndex={0} role="region" aria-label="What changed">
      <table>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {columns.map((column, index) => (
              <th key={index} scope="col" className={isNumeric(column) ? 'number' : undefined}>
                {shownName(column, index)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((change, index) => (
            <tr key={index} className={change.kind}>
              <th scope="row">{change.kind}</th>
              {columns.map((column, place) => (
                <td key={place} className={isNumeric(column) ? 'number' : undefined}>
                  <Cell change={change} place={place} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell(props: { change: Change; place: number }): ReactNode {
  const { before, after, differences } = props.change
  const [old, now] = [before?.[props.place], after?.[props.place]]
  if (before === null || after === null || old === now) return (after === null ? old : now) ?? <i className="dim">null</i>
  return (
    <>
      <del>{old ?? 'null'}</del> <ins>{now ?? 'null'}</ins>
      {differences[props.place] && <span className="dim"> ({differences[props.place]})</span>}
    </>
  )
}
