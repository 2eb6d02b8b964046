import type { ReactNode } from 'react'
import { lazy, Suspense } from 'react'

import type { Asked } from '../api.ts'
import type { RunDetail, SeenRun } from '../types.ts'
import { ErrorPanel } from './ErrorPanel.tsx'
import { GoOn } from './GoOn.tsx'
import { Reading } from './Reading.tsx'
import { QuestionBack, RefusalPanel } from './Refusal.tsx'
import { SqlBlock } from './SqlBlock.tsx'

const ResultView = lazy(async () => ({ default: (await import('../result/ResultView.tsx')).ResultView }))

/** What a run computes, and what it came to. */
export function RunBody(props: {
  run: SeenRun
  detail: RunDetail | undefined
  sql: string | null
  again: Asked | null
  /** Whether it is somebody else's: to be read, and nothing more. */
  readOnly?: boolean
  /** What there is to say before the result. */
  children?: ReactNode
}): ReactNode {
  const { run, detail, sql, readOnly = false } = props
  const result = detail?.result ?? null
  const failed = run.status === 'failed' || run.is_error
  return (
    <>
      <Reading
        run={run}
        result={result}
        reading={result?.reading ?? detail?.run.reading ?? run.reading}
        readOnly={readOnly}
      />
      <div className="beside">
        {sql !== null && (
          <SqlBlock
            run={run}
            sql={sql}
            parameters={result?.parameters ?? run.parameters}
            open={run.ended_at === null || failed}
            mark={result?.error ?? null}
            readOnly={readOnly}
          />
        )}
        {!readOnly && run.question !== null && run.outcome === 'table' && <GoOn run={run} />}
      </div>
      {props.children}
      {failed && detail && <ErrorPanel error={result?.error ?? null} text={detail.error_text ?? run.message} />}
      {result?.refusal && <RefusalPanel refusal={result.refusal} />}
      {result?.question_back && <QuestionBack back={result.question_back} asked={props.again} />}
      {result?.not_run && <p className="notice">Nothing was run: {result.not_run}.</p>}
      {result?.columns && run.outcome === 'table' && (
        <Suspense fallback={<p className="dim">Opening the table…</p>}>
          <ResultView run={run} result={result} readOnly={readOnly} />
        </Suspense>
      )}
    </>
  )
}
