// The only place where facts become words. Checked by words.test.ts; the states are those of the
// client's display model (`awhile.client`), so that no page contradicts a terminal.

import type { Run, Server } from './types.ts'

export type Tone = 'run' | 'ok' | 'warn' | 'bad' | 'dim'

export interface Words {
  /** The state in one or two words. */
  badge: string
  tone: Tone
  /** What there is to say beside it, if anything. */
  sentence: string | null
  ended: boolean
  /** Whether asking to stop makes sense now. */
  canStop: boolean
}

/** What this browser knows of its own request to stop. */
export type StopRequest = 'none' | 'sending' | 'not_sent' | 'unknown'

export type Facts = Pick<
  Run,
  'status' | 'is_error' | 'outcome' | 'cancel_asked_at' | 'stopped_how' | 'stopped_after_seconds'
> & {
  /** How long ago the stop was asked, now. */
  stopAskedSeconds: number | null
}

/** From here on a stop that was asked and not confirmed is called "not stopped yet". */
export const NOT_STOPPED_AFTER_SECONDS = 30

const HOW: Record<string, string> = {
  never_started: 'it had not started',
  coroutine_ended: 'the work has ended',
  thread_returned: 'the work has returned',
  engine_confirmed: 'confirmed by the engine',
  process_ended: 'confirmed by the engine: the process running it has ended',
  worker_lost: 'the process that ran it was already gone',
}

export function wordsFor(run: Facts, request: StopRequest = 'none'): Words {
  const asked = run.cancel_asked_at !== null
  switch (run.status) {
    case 'working':
      return working(run, asked, request)
    case 'input_required':
      return {
        badge: 'Needs your answer',
        tone: 'warn',
        sentence: asked ? 'Stop requested, not confirmed yet' : null,
        ended: false,
        canStop: !asked && request !== 'sending',
      }
    case 'completed':
      return completed(run, asked)
    case 'failed':
      return ended('Failed', 'bad', asked ? 'Failed after you asked to stop' : null)
    case 'cancelled':
      return ended('Cancelled', 'dim', cancelledBecause(run))
    case 'expired':
      return ended('Expired', 'dim', 'The server no longer keeps this run')
  }
}

function working(run: Facts, asked: boolean, request: StopRequest): Words {
  const words = { tone: 'warn' as Tone, ended: false, canStop: false }
  if (asked) {
    const seconds = run.stopAskedSeconds ?? 0
    return seconds >= NOT_STOPPED_AFTER_SECONDS
      ? {
          ...words,
          badge: 'Not stopped yet',
          sentence: `Asked to stop ${duration(seconds)} ago; the database has not confirmed it`,
        }
      : {
          ...words,
          badge: 'Stop requested',
          sentence: 'Still running until the database confirms',
        }
  }
  if (request === 'sending') {
    return { ...words, badge: 'Running', sentence: 'Sending your request to stop…' }
  }
  const running: Words = { badge: 'Running', tone: 'run', sentence: null, ended: false, canStop: true }
  if (request === 'not_sent') {
    return { ...running, sentence: 'Request not sent; the query is unaffected' }
  }
  if (request === 'unknown') {
    return { ...running, sentence: 'Not known whether your request to stop arrived; you can ask again' }
  }
  return running
}

function completed(run: Facts, asked: boolean): Words {
  if (run.is_error || run.outcome === 'error') {
    return ended('Failed', 'bad', asked ? 'Failed after you asked to stop' : null)
  }
  if (run.outcome === 'refusal') return ended('Not answered', 'warn', null)
  if (run.outcome === 'question_back') return ended('Asks you back', 'warn', null)
  return asked
    ? ended('Finished anyway', 'ok', 'It finished before the stop took hold; the result is kept')
    : ended('Finished', 'ok', null)
}

function cancelledBecause(run: Facts): string {
  if (run.stopped_how === 'not_stopped') {
    return 'It could not be stopped and may still be having effects'
  }
  const how = (run.stopped_how && HOW[run.stopped_how]) ?? 'the server says so'
  return run.stopped_after_seconds === null || run.stopped_how === 'never_started'
    ? how
    : `${how} after ${duration(run.stopped_after_seconds)}`
}

function ended(badge: string, tone: Tone, sentence: string | null): Words {
  return { badge, tone, sentence, ended: true, canStop: false }
}

/** A run in the words of the live region: said once per change of state. */
export function announcement(title: string, words: Words): string {
  return `${title}: ${words.badge}${words.sentence ? `, ${words.sentence}` : ''}`
}

export type Stream = 'connecting' | 'open' | 'broken' | 'locked'

/** Silence after which "Live" would be a guess: two heartbeats of 5 s missed, and 2 s grace. */
export const LIVE_FOR_SECONDS = 12

export interface Connection {
  word: string
  tone: Tone
  /** Whether what the page shows is current. */
  current: boolean
}

export function connection(
  stream: Stream,
  silentSeconds: number | null,
  server: Server,
  clock: (iso: string) => string,
): Connection {
  if (stream === 'locked') {
    return {
      word: 'Not signed in: open the address that awhile printed when it started',
      tone: 'bad',
      current: false,
    }
  }
  if (silentSeconds === null && stream === 'connecting') {
    return { word: 'Connecting…', tone: 'dim', current: false }
  }
  if (stream === 'broken' || silentSeconds === null || silentSeconds >= LIVE_FOR_SECONDS) {
    return { word: 'No connection, what you see may be out of date', tone: 'bad', current: false }
  }
  if (!server.reachable) {
    return server.since === null
      ? { word: 'Connecting to the server…', tone: 'dim', current: false }
      : {
          word: `Server not reachable since ${clock(server.since)}; what you see may be out of date`,
          tone: 'bad',
          current: false,
        }
  }
  return { word: 'Live', tone: 'ok', current: true }
}

/** The title of a run: its question, or that it is SQL. */
export function titleOf(run: Pick<Run, 'question' | 'sql' | 'tool'>): string {
  return run.question ?? (run.sql ? oneLine(run.sql) : 'SQL query')
}

function oneLine(sql: string): string {
  const line = sql.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

/** The number of rows, and whether that is all of them. */
export function rowsInWords(count: number, truncated: boolean): string {
  if (truncated) return `First ${whole(count)} rows of more`
  return count === 1 ? '1 row' : `${whole(count)} rows`
}

export function percentInWords(percent: number): string {
  return `${Math.floor(percent)} %`
}

/** 0.03 s · 4.2 s · 42 s · 3 min 05 s · 2 h 04 min; never rounded up to the next unit. */
export function duration(seconds: number): string {
  if (seconds < 0.005) return '0 s'
  if (seconds < 1) return `${seconds.toFixed(2)} s`
  if (seconds < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`
  const all = Math.floor(seconds)
  if (all < 60) return `${all} s`
  if (all < 3600) return `${Math.floor(all / 60)} min ${two(all % 60)} s`
  return `${Math.floor(all / 3600)} h ${two(Math.floor((all % 3600) / 60))} min`
}

/** A running clock: whole seconds, so that nothing flickers. */
export function ticking(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)} s` : duration(seconds)
}

export function whole(count: number): string {
  return count.toLocaleString('en')
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
