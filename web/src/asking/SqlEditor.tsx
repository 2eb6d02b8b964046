import type { CompletionSource } from '@codemirror/autocomplete'
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import type { SQLNamespace } from '@codemirror/lang-sql'
import {
  keywordCompletionSource,
  MariaSQL,
  MSSQL,
  MySQL,
  PLSQL,
  PostgreSQL,
  schemaCompletionSource,
  sql,
  SQLite,
  StandardSQL,
} from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import type { Diagnostic } from '@codemirror/lint'
import { setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'

import type { Database, Result } from '../types.ts'

const DIALECTS = {
  postgres: PostgreSQL,
  duckdb: PostgreSQL,
  sqlite: SQLite,
  mysql: MySQL,
  mariadb: MariaSQL,
  tsql: MSSQL,
  oracle: PLSQL,
}

const LOOK = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--bg)', font: '13px/1.55 var(--mono)', maxHeight: '46vh' },
  '&.cm-focused': { outline: '2px solid var(--run)', outlineOffset: '0' },
  '.cm-scroller': { font: 'inherit' },
  '.cm-content, .cm-gutter': { minHeight: '9em' },
  '.cm-content': { caretColor: 'var(--text)', paddingBlock: '8px' },
  '.cm-gutters': { color: 'var(--dim)', backgroundColor: 'var(--panel)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--run) 7%, transparent)' },
  '.cm-placeholder': { color: 'var(--dim)' },
  '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--bg)', border: '1px solid var(--line)', borderRadius: '4px', font: '13px/1.5 var(--mono)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { color: '#fff', backgroundColor: 'var(--primary)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.75', marginInlineStart: '1em', fontStyle: 'normal' },
  '.cm-diagnostic': { color: 'var(--bad)', borderInlineStartColor: 'var(--bad)', maxInlineSize: '70ch', whiteSpace: 'pre-wrap' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'wavy underline var(--bad)', backgroundColor: 'color-mix(in srgb, var(--bad) 14%, transparent)' },
})
const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--run)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: tags.comment, color: 'var(--dim)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
])

/** What the page may do with an open editor. */
export interface EditorHandle {
  insert: (text: string) => void
}

/** A SQL editor. It stands in a shadow root, where its styles need no exception from the policy. */
export default function SqlEditor(props: {
  start: string
  onChange: (text: string) => void
  onRun: () => void
  database: Database | undefined
  mark: Result['error'] | null
  handle: { current: EditorHandle | null }
  autoFocus: boolean
}): ReactNode {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const language = useRef(new Compartment())
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })

  useEffect(() => {
    if (!host.current) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const { start, autoFocus, handle } = latest.current
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: start,
        selection: { anchor: start.length },
        extensions: [
          keymap.of([
            { key: 'Mod-Enter', run: () => (latest.current.onRun(), true) },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...historyKeymap,
            ...defaultKeymap,
          ]),
          language.current.of(languageOf(latest.current.database)),
          history(),
          lineNumbers(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          indentOnInput(),
          placeholder('SELECT …'),
          syntaxHighlighting(COLOURS),
          LOOK,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    handle.current = {
      insert: (text) => {
        editor.dispatch(editor.state.replaceSelection(text))
        editor.focus()
      },
    }
    if (autoFocus) editor.focus()
    return () => {
      handle.current = null
      editor.destroy()
    }
  }, [])

  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(languageOf(props.database)) })
  }, [props.database])
  useEffect(() => {
    const editor = view.current
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnostics(editor.state, props.mark)))
  }, [props.mark])

  return <div ref={host} className="sql-editor" />
}

function languageOf(database: Database | undefined) {
  const dialect = DIALECTS[(database?.dialect ?? '') as keyof typeof DIALECTS] ?? StandardSQL
  const schema: SQLNamespace = Object.fromEntries(
    (database?.tables ?? []).map((table) => [
      table.name,
      table.columns.map((column) => ({ label: column.name, type: 'property', detail: column.type })),
    ]),
  )
  const config = { dialect, schema, upperCaseKeywords: true }
  return [
    sql(config),
    autocompletion({
      icons: false,
      override: [schemaCompletionSource(config), keywordCompletionSource(dialect, true)].map(notInParameters),
    }),
  ]
}

/** The name of a parameter is the writer's own: Enter after it must not turn it into a keyword. */
function notInParameters(complete: CompletionSource): CompletionSource {
  return (context) => (context.matchBefore(/:\w*/) ? null : complete(context))
}

/** The word at the error's place, or its line where no column is known. */
function diagnostics(state: EditorState, error: Result['error'] | null): Diagnostic[] {
  if (error?.line == null || error.line > state.doc.lines) return []
  const line = state.doc.line(error.line)
  const at = line.from + Math.min(Math.max(0, (error.column ?? 1) - 1), line.length)
  const word = error.column == null ? null : state.wordAt(at)
  const from = word?.from ?? (error.column == null ? line.from : at)
  const to = word?.to ?? (error.column == null ? line.to : Math.min(at + 1, line.to))
  return [{ from, to: Math.max(from, to), severity: 'error', message: error.message }]
}
