// The page backend's HTTP interface, all of it.

import type { ChartChoice } from './result/charts.ts'
import type { Filter, View } from './result/view.ts'
import type { AnswerContent, Changes, Chart, Check, Database, History, Parameters, Rows, Run, RunDetail, Share, SharedDetail } from './types.ts'

/** The backend said no, or could not be reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** What went wrong, in a sentence. */
export function saidBy(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function request<T>(path: string, init?: RequestInit): Promise<T> {
  let reply: Response
  try {
    reply = await fetch(path, { ...init, credentials: 'same-origin' })
  } catch {
    throw new ApiError(0, 'no_connection', 'The page has no connection to awhile.')
  }
  const body = (await reply.json().catch(() => null)) as { error?: { code: string; message: string } } | null
  if (!reply.ok) {
    throw new ApiError(
      reply.status,
      body?.error?.code ?? 'unexpected',
      body?.error?.message ?? `Unexpected reply (HTTP ${reply.status}).`,
    )
  }
  return body as T
}

function post<T>(path: string, body: object, signal: AbortSignal | null = null): Promise<T> {
  return request<T>(path, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** What is asked; a question may go on from that of another run, `follows`. */
export type Asked = { question: string; follows?: string } | { sql: string; parameters: Parameters }

export interface Started {
  run: Run
  /** The very same was running already, so it was not started again. */
  attached: boolean
  /** What became of stopping the version before; null if there was nothing to stop. */
  superseded: 'stop_asked' | 'not_sent' | 'unknown' | null
}

export interface StartOptions {
  /** Start it even if the very same is running. */
  anew?: boolean
  /** The run whose edited version this is: it is stopped once this one is started. */
  supersedes?: string
  /** Run it however expensive it is expected to be. */
  confirm_cost?: boolean
}

/** Starts a run, or finds the one this key already started. */
export function startRun(what: Asked, requestKey: string, options: StartOptions = {}): Promise<Started> {
  return post('/api/runs', { ...what, ...options, request_key: requestKey })
}

/** Resolves once the server has taken the request to stop; whether it stopped is told by the run. */
export function stopRun(id: string): Promise<{ run: Run }> {
  return post(`/api/runs/${encodeURIComponent(id)}/cancel`, {})
}

/** Starts several statements, each as a run of its own, one after the other. */
export function startScript(sql: string, parameters: Parameters, requestKey: string): Promise<{ runs: string[] }> {
  return post('/api/scripts', { sql, parameters, request_key: requestKey })
}

/** Keeps a run's SQL as the right answer to its question, or forgets it. */
export function acceptAnswer(id: string, accept: boolean): Promise<object> {
  return post(`/api/runs/${encodeURIComponent(id)}/accept`, { accept })
}

/** Whether a text may run, what is wrong with it, and what it would cost; nothing is run. */
export function checkSql(sql: string, parameters: Parameters, signal: AbortSignal): Promise<Check> {
  return post('/api/check', { sql, parameters }, signal)
}

/** Accepts a question of the run with an answer, or declines it; declining is not stopping. */
export function answerRun(
  id: string,
  key: string,
  answer: { action: 'accept'; content: AnswerContent } | { action: 'decline' },
): Promise<{ run: Run }> {
  return post(`/api/runs/${encodeURIComponent(id)}/answer`, { key, ...answer })
}

/** What a person says of a run; what is left out stays as it is. */
export type LabelChange = Partial<Pick<Run, 'title' | 'pinned' | 'stop_when_left'>>

export function labelRun(id: string, label: LabelChange): Promise<{ run: Run }> {
  return post(`/api/runs/${encodeURIComponent(id)}/label`, label)
}

/** Deletes an ended run with its result. */
export function deleteRun(id: string): Promise<object> {
  return post(`/api/runs/${encodeURIComponent(id)}/delete`, {})
}

export function fetchHistory(id: string): Promise<History> {
  return request(`/api/runs/${encodeURIComponent(id)}/history`)
}

export function fetchRun(id: string): Promise<RunDetail> {
  return request(`/api/runs/${encodeURIComponent(id)}`)
}

/** Makes a link to a run; only this answer has the id that it leads to. */
export function shareRun(id: string, days: number | null): Promise<{ share_id: string; share: string }> {
  return post(`/api/runs/${encodeURIComponent(id)}/shares`, { days })
}

export function fetchShares(id: string): Promise<{ shares: Share[] }> {
  return request(`/api/runs/${encodeURIComponent(id)}/shares`)
}

/** Takes a link back, or (null) all links of the run; those that are left. */
export function revokeShare(id: string, share: string | null): Promise<{ shares: Share[] }> {
  return post(`/api/runs/${encodeURIComponent(id)}/shares/revoke`, { share })
}

/** A run that somebody shares; `again`: it is open here already. */
export function fetchShared(shareId: string, again: boolean): Promise<SharedDetail> {
  return request(`/api/shared/${encodeURIComponent(shareId)}${again ? '?again' : ''}`)
}

export function fetchDatabase(): Promise<Database> {
  return request('/api/database')
}

export function fetchRows(
  id: string,
  part: { offset: number; limit: number },
  view: Pick<View, 'sort' | 'filters'>,
  signal: AbortSignal,
): Promise<Rows> {
  const { offset, limit } = part
  const { sort, filters } = view
  return post(`/api/runs/${encodeURIComponent(id)}/rows`, { offset, limit, sort, filters }, signal)
}

export function fetchChart(
  id: string,
  choice: ChartChoice,
  filters: Filter[],
  signal: AbortSignal,
): Promise<Chart> {
  const chosen = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== null))
  return post(`/api/runs/${encodeURIComponent(id)}/chart`, { ...chosen, filters }, signal)
}

/** A cell's exact text, however long: a page of rows has only the beginning of a very long one. */
export async function fetchCell(
  id: string,
  at: { row: number; column: number },
  view: Pick<View, 'sort' | 'filters'>,
): Promise<string> {
  const { sort, filters } = view
  const parts: string[] = []
  let start = 0
  for (;;) {
    const part = await post<{ text: string | null; characters: number }>(
      `/api/runs/${encodeURIComponent(id)}/cell`,
      { ...at, start, sort, filters },
    )
    if (!part.text) return parts.join('')
    parts.push(part.text)
    for (const _ of part.text) start += 1 // characters, of which some are two of JavaScript's
    if (start >= part.characters) return parts.join('')
  }
}

/** What changed since an earlier run of the same question. */
export function fetchChanges(id: string, earlier: string, signal: AbortSignal): Promise<Changes> {
  return post(`/api/runs/${encodeURIComponent(id)}/changes`, { earlier }, signal)
}

/** Signs out; where the browser goes to be signed out at the provider as well. */
export function signOut(): Promise<{ go: string }> {
  return post('/api/sign-out', {})
}
