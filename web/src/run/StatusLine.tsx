import type { ReactNode, RefObject } from 'react'
import { useState } from 'react'

import { ApiError, stopRun } from '../api.ts'
import { carriedOn, timeOfDay, useNow } from '../clock.ts'
import { AskToNotify } from '../comfort/AskToNotify.tsx'
import { elapsedOf, wordsOf } from '../facts.ts'
import { adopt } from '../live.ts'
import type { SeenRun } from '../types.ts'
import type { StopRequest } from '../words.ts'
import { elapsedInWords, forReader, lastNewsInWords, leftInWords, percentInWords, rowsInWords } from '../words.ts'
import { Leaving } from './Leaving.tsx'
import { Steps } from './Steps.tsx'
import { useSecondsLeft } from './useSecondsLeft.ts'

/** From here on somebody is waiting. */
const WAITING_SECONDS = 10

export function StatusLine(props: {
  run: SeenRun
  fresh: boolean
  stopButton?: RefObject<HTMLButtonElement | null>
  /** Whether it is somebody else's: there is nothing to do about it then. */
  readOnly?: boolean
}): ReactNode {
  const { run, fresh, readOnly = false } = props
  const [request, setRequest] = useState<StopRequest>('none')
  const [stepsOpen, setStepsOpen] = useState(false)
  const now = useNow(run.ended_at === null)
  const own = wordsOf(run, now, fresh, request)
  const words = readOnly ? forReader(own) : own
  const elapsed = elapsedOf(run, now, fresh)
  const percent = words.ended ? null : run.percent
  const left = useSecondsLeft(run)
  const told = [
    words.ended || run.row_count === null ? null : `${rowsInWords(run.row_count, false)} so far`,
    elapsedInWords(elapsed, words.ended, fresh),
    left !== null && fresh && run.cancel_asked_at === null ? leftInWords(left) : null,
    words.ended ? null : run.message,
    words.ended || !fresh ? null : lastNewsInWords(carriedOn(run.news_seconds, run.seenAt, now)),
  ].filter((one) => one !== null)

  const stop = async (): Promise<void> => {
    setRequest('sending')
    try {
      const stopping = await stopRun(run.id)
      adopt(stopping.run)
      setRequest('none')
    } catch (error) {
      // Only the backend can know that nothing was sent; a lost reply may hide a taken request.
      setRequest(error instanceof ApiError && error.code === 'not_sent' ? 'not_sent' : 'unknown')
    }
  }

  return (
    <div className="status" data-state={run.status}>
      <div className="status-line">
        <div className="told">
          <p className="state">
            <span className={`badge tone-${words.tone}`}>{words.badge}</span>
            {words.sentence && `: ${words.sentence}`}
          </p>
          <p className="figures" title={run.created_at ? `Asked at ${timeOfDay(run.created_at)}` : undefined}>
            {percent !== null && (
              <span>
                <strong>{percentInWords(percent)}</strong> <span className="dim">engine’s estimate</span>
              </span>
            )}
            {told.map((one, index) => (
              <span key={index}>{one}</span>
            ))}
            {!readOnly && (
              <button
                type="button"
                className="fold"
                aria-expanded={stepsOpen}
                onClick={() => setStepsOpen(!stepsOpen)}
              >
                Steps
              </button>
            )}
          </p>
        </div>
        <div className="stop-slot">
          {!readOnly && !words.ended && (
            <button
              ref={props.stopButton}
              type="button"
              className="stop"
              disabled={!words.canStop}
              onClick={() => void stop()}
            >
              Stop
            </button>
          )}
        </div>
      </div>
      <Bar percent={percent} motion={words.ended ? 'done' : fresh && run.status === 'working' ? 'moving' : 'still'} />
      {!readOnly && !words.ended && <Leaving run={run} />}
      {!readOnly && !words.ended && elapsed > WAITING_SECONDS && <AskToNotify />}
      {stepsOpen && <Steps run={run} />}
    </div>
  )
}

function Bar(props: { percent: number | null; motion: 'moving' | 'still' | 'done' }): ReactNode {
  if (props.percent !== null) {
    return <progress className="bar" max={100} value={props.percent} aria-label="Engine’s estimate" />
  }
  return <div className={`bar ${props.motion}`} aria-hidden="true" />
}
