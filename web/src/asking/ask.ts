// Asking, once: a question keeps its key until it is known to have arrived, so that a double
// click, a retry or a reload in between finds the same run instead of starting a second one.

import { useRef, useState } from 'react'

import type { Asked, Started, StartOptions } from '../api.ts'
import { ApiError, saidBy, startRun, startScript } from '../api.ts'
import { adopt } from '../live.ts'
import type { Note } from '../path.ts'
import { go, pathOf } from '../path.ts'
import { countStatements } from './parameters.ts'

interface Pending {
  what: Asked
  key: string
}

const KEPT_AS = 'awhile:pending'
const RETRIES_MS = [400, 1200, 3000]

function kept(): Pending | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? 'null') as Pending | null
  } catch {
    return null
  }
}

export interface Ask {
  /** What was sent and not confirmed before a reload. */
  pending: Asked | null
  sending: boolean
  problem: string | null
  /** Whether the run is known to be started; then the page shows it. */
  send: (what: Asked, options?: StartOptions) => Promise<boolean>
}

export function useAsk(): Ask {
  const [pending] = useState(() => kept()?.what ?? null)
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const inFlight = useRef(false)

  const send = async (what: Asked, options: StartOptions = {}): Promise<boolean> => {
    if (inFlight.current) return false
    inFlight.current = true
    setSending(true)
    setProblem(null)
    const before = kept()
    const same = before !== null && JSON.stringify(before.what) === JSON.stringify(what)
    const key = same ? before.key : crypto.randomUUID()
    sessionStorage.setItem(KEPT_AS, JSON.stringify({ what, key } satisfies Pending))
    try {
      if ('sql' in what && countStatements(what.sql) > 1) {
        const { runs } = await startScript(what.sql, what.parameters, key)
        go(pathOf(runs[0] ?? ''), { script: runs })
      } else {
        const started = await startedAtLast(what, key, options)
        adopt(started.run)
        go(pathOf(started.run.id), noteOf(started, options))
      }
      sessionStorage.removeItem(KEPT_AS)
      return true
    } catch (error) {
      setProblem(saidBy(error))
      return false
    } finally {
      inFlight.current = false
      setSending(false)
    }
  }
  return { pending, sending, problem, send }
}

/** Asked again with the same key while no answer came back: it may have arrived all the same. */
async function startedAtLast(what: Asked, key: string, options: StartOptions): Promise<Started> {
  for (const wait of RETRIES_MS) {
    try {
      return await startRun(what, key, options)
    } catch (error) {
      if (!(error instanceof ApiError) || !isUnanswered(error)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
  return startRun(what, key, options)
}

function isUnanswered(error: ApiError): boolean {
  return error.status === 0 || error.status === 504 || (error.status === 502 && error.code === 'unexpected')
}

function noteOf(started: Started, options: StartOptions): Note | null {
  if (started.attached) return { attached: true }
  if (started.superseded === null || options.supersedes === undefined) return null
  return { superseded: started.superseded, before: options.supersedes }
}
