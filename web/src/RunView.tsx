import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { ApiError, fetchRun } from './api.ts'
import { useAsk } from './ask.ts'
import { ErrorPanel } from './ErrorPanel.tsx'
import { Grid } from './Grid.tsx'
import { Link } from './Link.tsx'
import { useLive } from './live.ts'
import { Reading } from './Reading.tsx'
import { QuestionBack, RefusalPanel } from './Refusal.tsx'
import { SqlBlock } from './SqlBlock.tsx'
import { StatusLine } from './StatusLine.tsx'
import type { RunDetail, SeenRun } from './types.ts'
import { titleOf } from './words.ts'

export function RunView(props: { id: string; fresh: boolean }): ReactNode {
  const heard = useLive().runs.get(props.id)
  const detail = useQuery({
    // What ended does not change any more, so it is kept; what runs is told by the stream. Before
    // the stream has spoken neither is known: that answer must not be kept as the ended run's.
    queryKey: ['run', props.id, heard === undefined ? 'not heard of' : 'ended'],
    queryFn: () => fetchRun(props.id),
    enabled: heard === undefined || heard.ended_at !== null,
  })
  const run = heard ?? seen(detail.data, detail.dataUpdatedAt)
  if (run === null) return <Missing error={detail.error} />
  const { result, error_text: errorText } = detail.data ?? { result: null, error_text: null }
  const sql = result?.sql ?? detail.data?.run.sql ?? run.sql
  const failed = run.status === 'failed' || run.is_error
  return (
    <article className="run">
      <Link to="/" className="back">
        ← All questions
      </Link>
      <div className="asked">
        <h1 className={run.question === null ? 'sql-title' : undefined}>{titleOf(run)}</h1>
        {run.ended_at !== null && !askedBack(run) && <AskAgain question={run.question} sql={sql} />}
      </div>
      <StatusLine run={run} fresh={props.fresh} />
      <Reading reading={result?.reading ?? detail.data?.run.reading ?? run.reading} meanings={result?.meanings ?? []} />
      {sql !== null && <SqlBlock sql={sql} open={run.ended_at === null || failed} mark={result?.error ?? null} />}
      {run.ended_at !== null && detail.isPending && (
        <p className="dim">
          {detail.failureCount > 0
            ? 'The result is kept by the server, which cannot be reached now. Trying again…'
            : 'Fetching the result…'}
        </p>
      )}
      {detail.error && <p className="problem">{detail.error.message}</p>}
      {failed && detail.data && (
        <ErrorPanel error={result?.error ?? null} text={errorText ?? run.message} />
      )}
      {result?.refusal && <RefusalPanel refusal={result.refusal} />}
      {result?.question_back && <QuestionBack back={result.question_back} />}
      {result?.columns && run.outcome !== 'error' && <Grid id={run.id} result={result} />}
    </article>
  )
}

function AskAgain(props: { question: string | null; sql: string | null }): ReactNode {
  const { question, sql } = props
  const ask = useAsk()
  const text = question ?? sql
  if (text === null) return null
  return (
    <>
      <button type="button" disabled={ask.sending} onClick={() => void ask.send(text, question === null)}>
        {question === null ? 'Run again' : 'Ask again'}
      </button>
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </>
  )
}

/** Asking the same again would be answered the same; its panel offers what to ask instead. */
function askedBack(run: SeenRun): boolean {
  return run.outcome === 'refusal' || run.outcome === 'question_back'
}

function seen(detail: RunDetail | undefined, at: number): SeenRun | null {
  return detail ? { ...detail.run, seenAt: at } : null
}

function Missing(props: { error: Error | null }): ReactNode {
  if (props.error === null) return <p className="dim">Looking for this run…</p>
  const gone = props.error instanceof ApiError && props.error.status === 404
  return (
    <section className="front">
      <h1>{gone ? 'No such run' : 'This run cannot be shown'}</h1>
      <p>{gone ? 'It may have been deleted; ask its question again.' : props.error.message}</p>
      <p>
        <Link to="/">All questions</Link>
      </p>
    </section>
  )
}
