import type { ReactNode } from 'react'
import { useState } from 'react'

import { Menu } from '../Menu.tsx'
import type { View } from './view.ts'

const KINDS: [string, string][] = [
  ['csv', 'CSV, exact'],
  ['parquet', 'Parquet, exact and typed'],
  ['xlsx', 'Excel'],
]

/** The rows as they are shown, filtered and sorted, as a file. */
export function ExportMenu(props: { id: string; view: View }): ReactNode {
  const [said, setSaid] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  const save = async (kind: string): Promise<void> => {
    setBusy(true)
    setSaid(null)
    const from = fileOf(props.id, kind, props.view)
    try {
      // What is not exact in a file of this kind, or why there is none, is known before it is made.
      const head = await fetch(from, { method: 'HEAD' })
      if (!head.ok) {
        setSaid(await whyNot(from, head.status))
        return
      }
      setSaid(head.headers.get('awhile-notice'))
      const link = document.createElement('a')
      link.href = from
      link.download = ''
      link.click()
    } catch {
      setSaid('No file: the page has no connection.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Menu label="Export">
      <div className="column-list">
        {KINDS.map(([kind, name]) => (
          <button key={kind} type="button" className="link" disabled={busy} onClick={() => void save(kind)}>
            {name}
          </button>
        ))}
        <p className="dim" role="status">
          {said ?? (busy ? 'Preparing…' : 'The rows as they are shown here.')}
        </p>
      </div>
    </Menu>
  )
}

function fileOf(id: string, kind: string, view: View): string {
  const query = new URLSearchParams()
  if (view.sort) {
    query.set('sort', String(view.sort.column))
    if (view.sort.descending) query.set('desc', 'true')
  }
  if (view.filters.length > 0) query.set('filters', JSON.stringify(view.filters))
  const asked = query.toString()
  return `/api/runs/${encodeURIComponent(id)}/file.${kind}${asked && `?${asked}`}`
}

/** A refusal's sentence is in its body, which only a GET has. */
async function whyNot(from: string, status: number): Promise<string> {
  const reply = await fetch(from)
  const body = (await reply.json().catch(() => null)) as { error?: { message?: string } } | null
  return body?.error?.message ?? `No file (HTTP ${status}).`
}
