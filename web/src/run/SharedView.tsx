import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'

import type { Asked } from '../api.ts'
import { ApiError, fetchShared } from '../api.ts'
import { useAsk } from '../asking/ask.ts'
import { dayAndTime } from '../clock.ts'
import { wordsOf } from '../facts.ts'
import { Link } from '../Link.tsx'
import type { SeenRun, Shared } from '../types.ts'
import { announcement, forReader, titleOf } from '../words.ts'
import { askedAsOwn } from './again.ts'
import './run.css'
import { RunBody } from './RunBody.tsx'
import { StatusLine } from './StatusLine.tsx'
import { Title } from './Title.tsx'

const LOOK_AGAIN_MS = 1000

/** A run that somebody shares: to be read, while it runs as well, and to be asked oneself. */
export default function SharedView(props: { shareId: string; fresh: boolean }): ReactNode {
  const { shareId, fresh } = props
  const opened = useRef(false)
  const { data, error, failureCount, dataUpdatedAt } = useQuery({
    queryKey: ['shared', shareId],
    queryFn: async () => {
      const found = await fetchShared(shareId, opened.current)
      opened.current = true
      return found
    },
    staleTime: 0, // it may have been taken back since
    refetchInterval: ({ state }) => (state.data?.run.ended_at === null ? LOOK_AGAIN_MS : false),
  })
  // Only the server says that a link opens nothing; whoever was signed out may still open it.
  const closed = error instanceof ApiError && error.status === 404
  if (closed || (error && !data)) return <Closed closed={closed} why={error.message} />
  if (!data) return <p className="dim">{failureCount > 0 ? 'The server cannot be reached. Trying again…' : 'Opening…'}</p>
  const run: SeenRun = { ...data.run, seenAt: dataUpdatedAt }
  const own = askedAsOwn(data.shared.asks, run)
  return (
    <article className="run">
      <Link to="/" className="back">
        ← Your own questions
      </Link>
      <Heading run={run} shared={data.shared} own={own} />
      <StatusLine run={run} fresh={fresh && failureCount === 0} readOnly />
      <RunBody run={run} detail={data} sql={run.sql} again={own} readOnly />
      <Announcing run={run} />
    </article>
  )
}

function Heading(props: { run: SeenRun; shared: Shared; own: Asked | null }): ReactNode {
  const { run, shared, own } = props
  const ask = useAsk()
  return (
    <>
      <p className="notice">
        {shared.shared_by ? `Shared by ${shared.shared_by}` : 'Shared with you'}. You can read it, and nothing more.
        {shared.expires_at !== null && ` The link works until ${dayAndTime(shared.expires_at)}.`}
      </p>
      <div className="asked">
        <Title run={run} />
        {own !== null && (
          <div className="acts">
            <button type="button" disabled={ask.sending} onClick={() => void ask.send(own)}>
              {'sql' in own ? 'Run this yourself' : 'Ask this yourself'}
            </button>
          </div>
        )}
        <p className="problem" role="alert">
          {ask.problem}
        </p>
      </div>
    </>
  )
}

/** Says each change of state once to a screen reader; of one's own runs the page does so itself. */
function Announcing(props: { run: SeenRun }): ReactNode {
  const words = forReader(wordsOf(props.run, Date.now(), true))
  const badge = useRef(words.badge)
  const [said, setSaid] = useState('')
  const news = announcement(titleOf(props.run), words)
  useEffect(() => {
    if (badge.current === words.badge) return
    badge.current = words.badge
    setSaid(news)
  }, [words.badge, news])
  return (
    <p className="unseen" aria-live="polite">
      {said}
    </p>
  )
}

function Closed(props: { closed: boolean; why: string }): ReactNode {
  return (
    <section className="front">
      <h1>{props.closed ? 'Nothing to read here' : 'This cannot be shown'}</h1>
      <p>{props.why}</p>
      <p>
        <Link to="/">Your own questions</Link>
      </p>
    </section>
  )
}
