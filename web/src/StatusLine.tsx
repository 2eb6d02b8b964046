import type { ReactNode } from 'react'
import { useState } from 'react'

import { ApiError, stopRun } from './api.ts'
import { timeOfDay, useNow } from './clock.ts'
import { elapsedOf, wordsOf } from './facts.ts'
import { adopt } from './live.ts'
import type { SeenRun } from './types.ts'
import type { StopRequest } from './words.ts'
import { elapsedInWords, percentInWords, rowsInWords } from './words.ts'

export function StatusLine(props: { run: SeenRun; fresh: boolean }): ReactNode {
  const { run, fresh } = props
  const [request, setRequest] = useState<StopRequest>('none')
  const now = useNow(run.ended_at === null)
  const words = wordsOf(run, now, fresh, request)
  const elapsed = elapsedOf(run, now, fresh)
  const percent = words.ended ? null : run.percent
  const stage = words.ended ? null : run.message

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
          <p className="figures">
            {percent !== null && (
              <span>
                <strong>{percentInWords(percent)}</strong> <span className="dim">engine’s estimate</span>
              </span>
            )}
            {run.row_count !== null && !words.ended && <span>{rowsInWords(run.row_count, false)} so far</span>}
            <span title={run.created_at ? `Asked at ${timeOfDay(run.created_at)}` : undefined}>
              {elapsedInWords(elapsed, words.ended, fresh)}
            </span>
            {stage && <span className="dim stage">{stage}</span>}
          </p>
        </div>
        <div className="stop-slot">
          {!words.ended && (
            <button type="button" className="stop" disabled={!words.canStop} onClick={() => void stop()}>
              Cancel
            </button>
          )}
        </div>
      </div>
      <Bar percent={percent} motion={words.ended ? 'done' : fresh ? 'moving' : 'still'} />
    </div>
  )
}

function Bar(props: { percent: number | null; motion: 'moving' | 'still' | 'done' }): ReactNode {
  if (props.percent !== null) {
    return <progress className="bar" max={100} value={props.percent} aria-label="Engine’s estimate" />
  }
  return <div className={`bar ${props.motion}`} aria-hidden="true" />
}
