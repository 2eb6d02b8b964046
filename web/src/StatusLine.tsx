import type { ReactNode } from 'react'
import { useState } from 'react'

import { ApiError, stopRun } from './api.ts'
import { timeOfDay, useNow } from './clock.ts'
import { elapsedOf, wordsOf } from './facts.ts'
import type { SeenRun } from './types.ts'
import type { StopRequest } from './words.ts'
import { duration, percentInWords, rowsInWords, ticking } from './words.ts'

export function StatusLine(props: { run: SeenRun; fresh: boolean }): ReactNode {
  const { run, fresh } = props
  const [request, setRequest] = useState<StopRequest>('none')
  const now = useNow(500, run.ended_at === null)
  const words = wordsOf(run, now, request)
  const elapsed = elapsedOf(run, now, fresh)
  const percent = words.ended ? null : run.percent
  const stage = words.ended ? null : run.message

  const stop = async (): Promise<void> => {
    setRequest('sending')
    try {
      await stopRun(run.id)
      setRequest('none')
    } catch (error) {
      const unsure = !(error instanceof ApiError) || error.code === 'unknown'
      setRequest(unsure ? 'unknown' : 'not_sent')
    }
  }

  return (
    <div className="status" data-state={run.status}>
      <div className="status-line">
        <p className="state">
          <span className={`badge tone-${words.tone}`}>{words.badge}</span>
          {words.sentence && <span>{words.sentence}</span>}
        </p>
        <p className="figures">
          {percent !== null && (
            <span>
              <strong>{percentInWords(percent)}</strong> <span className="dim">engine’s estimate</span>
            </span>
          )}
          {run.row_count !== null && !words.ended && <span>{rowsInWords(run.row_count, false)} so far</span>}
          <span title={run.created_at ? `Asked at ${timeOfDay(run.created_at)}` : undefined}>
            {words.ended ? duration(elapsed) : ticking(elapsed)}
          </span>
          {stage && <span className="dim stage">{stage}</span>}
        </p>
        <div className="stop-slot">
          {!words.ended && (
            <button type="button" className="stop" disabled={!words.canStop} onClick={() => void stop()}>
              Cancel
            </button>
          )}
        </div>
      </div>
      <Bar percent={percent} running={!words.ended && fresh} />
    </div>
  )
}

function Bar(props: { percent: number | null; running: boolean }): ReactNode {
  if (props.percent !== null) {
    return <progress className="bar" max={100} value={props.percent} aria-label="Engine’s estimate" />
  }
  return <div className={props.running ? 'bar moving' : 'bar'} aria-hidden="true" />
}
