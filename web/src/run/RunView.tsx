import { useQuery } from '@tanstack/react-query'
import type { ReactNode, RefObject } from 'react'
import { lazy, Suspense, useState } from 'react'

import type { Asked } from '../api.ts'
import { ApiError, fetchRun } from '../api.ts'
import { useAsk } from '../asking/ask.ts'
import { QuestionForm } from '../asking/QuestionForm.tsx'
import { Answers } from './Answers.tsx'
import { ErrorPanel } from './ErrorPanel.tsx'
import { Follows, GoOn } from './GoOn.tsx'
import { Notice } from './Notice.tsx'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { Reading } from './Reading.tsx'
import { QuestionBack, RefusalPanel } from './Refusal.tsx'
import { SqlBlock } from './SqlBlock.tsx'
import { RunMenu } from './RunMenu.tsx'
import { StatusLine } from './StatusLine.tsx'
import './run.css'
import type { Parameters, RunDetail, SeenRun } from '../types.ts'
import { titleOf } from '../words.ts'

const ResultView = lazy(async () => ({ default: (await import('../result/ResultView.tsx')).ResultView }))
const InputCard = lazy(async () => ({ default: (await import('./InputCard.tsx')).InputCard }))

export function RunView(props: {
  id: string
  fresh: boolean
  stopButton: RefObject<HTMLButtonElement | null>
}): ReactNode {
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
  const parameters = result?.parameters ?? run.parameters
  const again = askedBy(run, sql, parameters)
  const failed = run.status === 'failed' || run.is_error
  return (
    <article className="run">
      <Link to="/" className="back">
        ← All questions
      </Link>
      <Heading run={run} again={again} />
      <Follows run={run} />
      <Notice run={run} />
      <StatusLine run={run} fresh={props.fresh} stopButton={props.stopButton} />
      {run.ended_at === null &&
        run.inputs.map((asking) => (
          <Suspense key={asking.key} fallback={<p className="dim">It asks something…</p>}>
            <InputCard id={run.id} asking={asking} />
          </Suspense>
        ))}
      <Answers answers={run.answers} />
      <Reading run={run} result={result} reading={result?.reading ?? detail.data?.run.reading ?? run.reading} />
      <div className="beside">
        {sql !== null && (
          <SqlBlock
            run={run}
            sql={sql}
            parameters={parameters}
            open={run.ended_at === null || failed}
            mark={result?.error ?? null}
          />
        )}
        {run.question !== null && run.outcome === 'table' && <GoOn run={run} />}
      </div>
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
      {result?.question_back && <QuestionBack back={result.question_back} asked={again} />}
      {result?.not_run && <p className="notice">Nothing was run: {result.not_run}.</p>}
      {result?.columns && run.outcome === 'table' && (
        <Suspense fallback={<p className="dim">Opening the table…</p>}>
          <ResultView run={run} result={result} />
        </Suspense>
      )}
    </article>
  )
}

/** What was asked; to be asked again, or changed first. */
function Heading(props: { run: SeenRun; again: Asked | null }): ReactNode {
  const { run, again } = props
  const ask = useAsk()
  const [editing, setEditing] = useState(false)
  const { question } = run
  if (editing && question !== null) {
    return <QuestionForm question={question} before={run} onLeave={() => setEditing(false)} />
  }
  return (
    <div className="asked">
      <h1 className={question === null && run.title === null ? 'sql-title' : undefined}>
        {titleOf(run)}
        {run.title !== null && question !== null && <span className="under-title">{question}</span>}
      </h1>
      <div className="acts">
        {question !== null && (
          <button type="button" className="quiet" onClick={() => setEditing(true)}>
            Edit
          </button>
        )}
        {again !== null && run.ended_at !== null && !askedBack(run) && (
          <button type="button" disabled={ask.sending} onClick={() => void ask.send(again)}>
            {question === null ? 'Run again' : 'Ask again'}
          </button>
        )}
        <RunMenu run={run} />
      </div>
      <p className="problem" role="alert">
        {ask.problem}
      </p>
    </div>
  )
}

/** How to ask for the very same again. */
function askedBy(run: SeenRun, sql: string | null, parameters: Parameters | null): Asked | null {
  if (run.question !== null) {
    return run.follows === null ? { question: run.question } : { question: run.question, follows: run.follows }
  }
  return sql === null ? null : { sql, parameters: parameters ?? {} }
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
