// Asking, once: a question keeps its key until it is known to have arrived, so that a double
// click, a retry or a reload in between finds the same run instead of starting a second one.

import { useRef, useState } from 'react'

import { ApiError, startRun } from './api.ts'
import { adopt } from './live.ts'
import { go, pathOf } from './path.ts'

interface Pending {
  text: string
  inSql: boolean
  key: string
}

const KEPT_AS = 'awhile:pending'

function kept(): Pending | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? 'null') as Pending | null
  } catch {
    return null
  }
}

export interface Ask {
  /** What was sent and not confirmed before a reload. */
  pending: Pending | null
  sending: boolean
  problem: string | null
  /** Whether the run is known to be started; then the page shows it. */
  send: (text: string, inSql: boolean) => Promise<boolean>
}

export function useAsk(): Ask {
  const [pending] = useState(kept)
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const inFlight = useRef(false)

  const send = async (text: string, inSql: boolean): Promise<boolean> => {
    if (inFlight.current) return false
    inFlight.current = true
    setSending(true)
    setProblem(null)
    const before = kept()
    const same = before !== null && before.text === text && before.inSql === inSql
    const key = same ? before.key : crypto.randomUUID()
    sessionStorage.setItem(KEPT_AS, JSON.stringify({ text, inSql, key } satisfies Pending))
    try {
      const { run } = await startRun(inSql ? { sql: text } : { question: text }, key)
      sessionStorage.removeItem(KEPT_AS)
      adopt(run)
      go(pathOf(run.id))
      return true
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error))
      return false
    } finally {
      inFlight.current = false
      setSending(false)
    }
  }
  return { pending, sending, problem, send }
}
