import type { ReactNode } from 'react'
import { useState } from 'react'

import { labelRun, saidBy } from '../api.ts'
import { adopt } from '../live.ts'
import type { SeenRun } from '../types.ts'
import { duration } from '../words.ts'

/** What becomes of a run when the last tab of the last browser is closed: a choice for each run. */
export function Leaving(props: { run: SeenRun }): ReactNode {
  const { run } = props
  const [problem, setProblem] = useState<string | null>(null)
  const choose = async (stops: boolean): Promise<void> => {
    setProblem(null)
    try {
      adopt((await labelRun(run.id, { stop_when_left: stops })).run)
    } catch (error) {
      setProblem(saidBy(error))
    }
  }
  return (
    <p className="leaving">
      <label>
        When I leave:{' '}
        <select
          value={run.stop_when_left ? 'stop' : 'keep'}
          onChange={(event) => void choose(event.target.value === 'stop')}
        >
          <option value="keep">{keptInWords(run.unobserved_seconds)}</option>
          <option value="stop">stop, once no tab is open</option>
        </select>
      </label>
      {problem && <span className="problem"> {problem}</span>}
    </p>
  )
}

function keptInWords(seconds: number | null): string {
  return seconds === null ? 'keep running' : `keep running, for ${duration(seconds)} at most`
}
