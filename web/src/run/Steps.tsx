import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { fetchHistory } from '../api.ts'
import { timeOfDay } from '../clock.ts'
import type { SeenRun } from '../types.ts'
import { duration, whole } from '../words.ts'

/** What happened to a run, step by step; asked for again whenever it says something new. */
export function Steps(props: { run: SeenRun }): ReactNode {
  const { run } = props
  const { data, error } = useQuery({
    queryKey: ['history', run.id, run.status, run.message, run.attempt, run.cancel_asked_at],
    queryFn: () => fetchHistory(run.id),
    placeholderData: keepPreviousData,
  })
  if (error) return <p className="problem">{error.message}</p>
  if (!data) return <p className="dim">Fetching the steps…</p>
  const began = data.earlier === 0 ? data.steps[0]?.at : undefined
  return (
    <ol className="steps" aria-label="Steps">
      {data.earlier > 0 && (
        <li className="dim gap">
          {whole(data.earlier)} earlier {data.earlier === 1 ? 'step is' : 'steps are'} not shown
        </li>
      )}
      {data.steps.map((step, index) => (
        <li key={index} className={step.said ? undefined : 'dim'}>
          <time dateTime={step.at}>{timeOfDay(step.at)}</time>
          <span className="dim">{began ? `+ ${duration(secondsBetween(began, step.at))}` : ''}</span>
          <span>{step.words}</span>
        </li>
      ))}
    </ol>
  )
}

function secondsBetween(earlier: string, later: string): number {
  return Math.max(0, Date.parse(later) - Date.parse(earlier)) / 1000
}
