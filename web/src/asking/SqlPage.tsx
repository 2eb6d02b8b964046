import type { ReactNode } from 'react'
import { useRef } from 'react'

import { useDatabase } from '../database.ts'
import { SchemaBrowser } from './SchemaBrowser.tsx'
import type { EditorHandle } from './SqlEditor.tsx'
import { SqlForm } from './SqlForm.tsx'

const KEPT_AS = 'awhile:draft'

/** Where a statement is written; what was begun is still there after a reload. */
export default function SqlPage(): ReactNode {
  const database = useDatabase()
  const editor = useRef<EditorHandle>(null)
  return (
    <section className="sql-page">
      <div className="sql-write">
        <h1>Run SQL</h1>
        <SqlForm
          sql={sessionStorage.getItem(KEPT_AS) ?? ''}
          parameters={null}
          editor={editor}
          onEdit={(sql) => sessionStorage.setItem(KEPT_AS, sql)}
        />
      </div>
      {database && <SchemaBrowser database={database} onPick={(text) => editor.current?.insert(text)} />}
    </section>
  )
}
