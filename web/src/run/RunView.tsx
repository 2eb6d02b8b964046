import { useQuery } from '@tanstack/react-query'
import type { ReactNode, RefObject } from 'react'
import { lazy, Suspense, useState } from 'react'

import type { Asked } from '../api.ts'
import { ApiError, fetchRun } from '../api.ts'
import { useAsk } from '../asking/ask.ts'
import { useDatabase } from '../database.ts'
import { QuestionForm } from '../asking/QuestionForm.tsx'
import { askedBy } from './again.ts'
import { Answers } from './Answers.tsx'
import { Follows } from './GoOn.tsx'
import { Notice } from './Notice.tsx'
import { Link } from '../Link.tsx'
import { useLive } from '../live.ts'
import { RunBody } from './RunBody.tsx'
import { RunMenu } from './RunMenu.tsx'
import { StatusLine } from './StatusLine.tsx'
import { Title } from './Title.tsx'
import './run.css'
import type { RunDetail, SeenRun } from '../types.ts'

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
  const result = detail.data?.result ?? null
  const sql = result?.sql ?? detail.data?.run.sql ?? run.sql
  const again = askedBy(run, sql, result?.parameters ?? run.parameters)
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
      <RunBody run={run} detail={detail.data} sql={sql} again={again}>
        {run.ended_at !== null && detail.isPending && (
          <p className="dim">
            {detail.failureCount > 0
              ? 'The result is kept by the server, which cannot be reached now. Trying again…'
              : 'Fetching the result…'}
          </p>
        )}
        {detail.error && <p className="problem">{detail.error.message}</p>}
      </RunBody>
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
      <Title run={run} />
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

/** Asking the same again would be answered the same; its panel offers what to ask instead. */
function askedBack(run: SeenRun): boolean {
  return run.outcome === 'refusal' || run.outcome === 'question_back'
}

function seen(detail: RunDetail | undefined, at: number): SeenRun | null {
  return detail ? { ...detail.run, seenAt: at } : null
}

function Missing(props: { error: Error | null }): ReactNode {
  const database = useDatabase()
  if (props.error === null) return <p className="dim">Looking for this run…</p>
  const gone = props.error instanceof ApiError && props.error.status === 404
  return (
    <section className="front">
      <h1>{gone ? 'No such run' : 'This run cannot be shown'}</h1>
      <p>{gone ? whyGone(database?.can_share ?? false) : props.error.message}</p>
      <p>
        <Link to="/">All questions</Link>
      </p>
    </section>
  )
}

function whyGone(canShare: boolean): string {
  return canShare
    ? 'It may have been deleted, or be somebody else’s, who can share it with you.'
    : 'It may have been deleted; ask its question again.'
}
