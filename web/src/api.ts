// The page backend's HTTP interface, all of it.

import type { Database, Rows, Run, RunDetail } from './types.ts'

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

async function request<T>(path: string, init?: RequestInit): Promise<T> {
  let reply: Response
  try {
    reply = await fetch(path, { ...init, credentials: 'same-origin' })
  } catch {
    throw new ApiError(0, 'no_connection', 'The page has no connection to awhile on this computer.')
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

function post<T>(path: string, body: object): Promise<T> {
  return request<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

export type Asked = { question: string } | { sql: string }

/** Starts a run, or finds the one this key already started. */
export function startRun(what: Asked, requestKey: string): Promise<{ run: Run }> {
  return post('/api/runs', { ...what, request_key: requestKey })
}

/** Resolves once the server has taken the request to stop; whether it stopped is told by the run. */
export function stopRun(id: string): Promise<{ run: Run }> {
  return post(`/api/runs/${encodeURIComponent(id)}/cancel`, {})
}

export function fetchRun(id: string): Promise<RunDetail> {
  return request(`/api/runs/${encodeURIComponent(id)}`)
}

export function fetchDatabase(): Promise<Database> {
  return request('/api/database')
}

export interface Sort {
  column: number
  descending: boolean
}

export function fetchRows(
  id: string,
  offset: number,
  limit: number,
  sort: Sort | null,
  signal: AbortSignal,
): Promise<Rows> {
  const query = new URLSearchParams({ offset: String(offset), limit: String(limit) })
  if (sort) {
    query.set('sort', String(sort.column))
    query.set('desc', String(sort.descending))
  }
  return request(`/api/runs/${encodeURIComponent(id)}/rows?${query}`, { signal })
}
