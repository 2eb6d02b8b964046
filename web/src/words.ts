// The only place where facts become words. Checked by words.test.ts; the states are those of the
// client's display model (`awhile.client`), so that no page contradicts a terminal.

import type { Run, Server } from './types.ts'

export type Tone = 'run' | 'ok' | 'warn' | 'bad' | 'dim'

export interface Words {
  /** The state in one or two words. */
  badge: string
  tone: Tone
  /** What there is to say after it and a colon, if anything. */
  sentence: string | null
  ended: boolean
  /** Whether asking to stop makes sense now. */
  canStop: boolean
}

/** What this browser knows of its own request to stop. */
export type StopRequest = 'none' | 'sending' | 'not_sent' | 'unknown'

export type Facts = Pick<
  Run,
  'status' | 'is_error' | 'outcome' | 'cancel_asked_at' | 'stopped_how' | 'stopped_after_seconds' | 'attempt'
> & {
  /** How long ago the stop was asked, now. */
  stopAskedSeconds: number | null
}

/** The states of the client's display model (`awhile.client.display.State`) that a run can have. */
export type State =
  | 'working'
  | 'needs_input'
  | 'cancel_requested'
  | 'not_stopped_yet'
  | 'finished'
  | 'finished_anyway'
  | 'failed'
  | 'failed_after_cancel'
  | 'cancelled'
  | 'expired'
  | 'unreachable'

/** From here on a stop that was asked and not confirmed is called "not stopped yet". */
export const NOT_STOPPED_AFTER_SECONDS = 30

/** How it is known that the work stopped; `after` is " after 0.03 s", or empty. */
const HOW: Record<string, (after: string) => string> = {
  never_started: () => 'it had not started',
  coroutine_ended: (after) => `confirmed${after}: the work has ended`,
  thread_returned: (after) => `confirmed${after}: the work has returned`,
  engine_confirmed: (after) => `confirmed by the database${after}`,
  process_ended: (after) => `confirmed${after}: the process running it has ended`,
  worker_lost: () => 'the process that ran it was already gone',
}

/**
 * What the run is, from its facts alone; the client decides the same way. `fresh` is whether the
 * facts are current: of work that ran when last heard of, a stale page does not know more.
 */
export function stateOf(run: Facts, fresh = true): State {
  const asked = run.cancel_asked_at !== null
  switch (run.status) {
    case 'expired':
      return 'expired'
    case 'cancelled':
      // A status cannot say that nobody managed to stop the work; this fact can.
      return run.stopped_how === 'not_stopped' ? 'not_stopped_yet' : 'cancelled'
    case 'failed':
      return asked ? 'failed_after_cancel' : 'failed'
    case 'completed':
      if (run.is_error) return asked ? 'failed_after_cancel' : 'failed'
      return asked ? 'finished_anyway' : 'finished'
    case 'working':
    case 'input_required':
      if (!fresh) return 'unreachable'
      if (asked) {
        const overdue = (run.stopAskedSeconds ?? 0) >= NOT_STOPPED_AFTER_SECONDS
        return overdue ? 'not_stopped_yet' : 'cancel_requested'
      }
      return run.status === 'working' ? 'working' : 'needs_input'
  }
}

const BADGES: Record<State, [string, Tone]> = {
  working: ['Running', 'run'],
  needs_input: ['Needs your answer', 'warn'],
  cancel_requested: ['Stop requested', 'warn'],
  not_stopped_yet: ['Not stopped yet', 'bad'],
  finished: ['Finished', 'ok'],
  finished_anyway: ['Finished anyway', 'ok'],
  failed: ['Failed', 'bad'],
  failed_after_cancel: ['Failed after you asked to stop', 'bad'],
  cancelled: ['Stopped', 'dim'],
  expired: ['Expired', 'dim'],
  unreachable: ['Unreachable', 'dim'],
}

const OWN_REQUEST: Record<StopRequest, string | null> = {
  none: null,
  sending: 'sending your request to stop…',
  not_sent: 'request not sent; the query is unaffected',
  unknown: 'not known whether your request to stop arrived; you can send it again',
}

export function wordsFor(run: Facts, request: StopRequest = 'none', fresh = true): Words {
  const state = stateOf(run, fresh)
  const [badge, tone] = BADGES[state]
  const ended = run.status !== 'working' && run.status !== 'input_required'
  const words = { badge, tone, ended, sentence: sentenceFor(state, run, request) }
  const said = state === 'finished' ? withoutTable(run) : state === 'working' ? begun(run, words.sentence) : {}
  const waiting = !ended && run.cancel_asked_at === null
  return { ...words, ...said, canStop: waiting && request !== 'sending' }
}

/** The same words where they speak to "you", who is not the run's owner but reads what they share. */
const TO_A_READER: Record<string, string> = {
  'Needs your answer': 'Waits for its owner',
  'Failed after you asked to stop': 'Failed after a stop was asked',
  'Asks you back': 'Asked its owner back',
  'it needed your answer when last heard of': 'it waited for its owner when last heard of',
}

export function forReader(words: Words): Words {
  const said = (text: string): string => TO_A_READER[text] ?? text
  return { ...words, badge: said(words.badge), sentence: words.sentence && said(words.sentence), canStop: false }
}

function lastHeard(run: Facts): string {
  if (run.cancel_asked_at !== null) return 'a stop was requested, and not confirmed when last heard of'
  return run.status === 'input_required'
    ? 'it needed your answer when last heard of'
    : 'it was running when last heard of, and may be still'
}

function sentenceFor(state: State, run: Facts, request: StopRequest): string | null {
  switch (state) {
    case 'working':
    case 'needs_input':
      return OWN_REQUEST[request]
    case 'cancel_requested':
      return 'still running until the database confirms'
    case 'not_stopped_yet':
      return run.status === 'cancelled'
        ? 'it could not be stopped and may still be having effects'
        : `asked to stop ${duration(run.stopAskedSeconds ?? 0)} ago, and the database has not confirmed it`
    case 'finished_anyway':
      return 'result kept'
    case 'cancelled':
      return cancelledBecause(run)
    case 'unreachable':
      return OWN_REQUEST[request] ?? lastHeard(run)
    case 'expired':
      return 'the server no longer keeps this run'
    default:
      return null
  }
}

/** Work that nobody has begun yet, or that was begun again. */
function begun(run: Facts, sentence: string | null): Partial<Words> {
  if (run.attempt === 0) return { badge: 'Waiting to start', tone: 'dim' }
  if (run.attempt === 1) return {}
  return { badge: 'Running again', sentence: sentence ?? `${ordinal(run.attempt)} attempt` }
}

function withoutTable(run: Facts): Partial<Words> {
  if (run.outcome === 'refusal') return { badge: 'Not answered', tone: 'warn' }
  if (run.outcome === 'not_run') return { badge: 'Not run', tone: 'dim' }
  return run.outcome === 'question_back' ? { badge: 'Asks you back', tone: 'warn' } : {}
}

function cancelledBecause(run: Facts): string {
  const seconds = run.stopped_after_seconds
  const how = run.stopped_how ? HOW[run.stopped_how] : undefined
  return how ? how(seconds === null ? '' : ` after ${duration(seconds)}`) : 'the server says so'
}

/** 1st, 2nd, 3rd, 4th, … 11th, 12th, 13th, … 21st */
export function ordinal(count: number): string {
  const tens = Math.floor(count / 10) % 10
  const endings: Record<number, string> = { 1: 'st', 2: 'nd', 3: 'rd' }
  return `${count}${(tens === 1 ? undefined : endings[count % 10]) ?? 'th'}`
}

/** How old the last news of running work is; said once it is old enough to wonder. */
export function lastNewsInWords(seconds: number): string | null {
  return seconds < NEWS_AFTER_SECONDS ? null : `last news ${ticking(seconds)} ago`
}

/** What is left, where it can be told; in steps coarse enough to be true. */
export function leftInWords(seconds: number): string {
  if (seconds < 60) return `about ${Math.max(5, Math.round(seconds / 5) * 5)} s left`
  if (seconds < 3600) return `about ${Math.round(seconds / 60)} min left`
  return `about ${Math.round(seconds / 3600)} h left`
}

/** A run in the words of the live region: said once per change of state. */
export function announcement(title: string, words: Words): string {
  return `${title}. ${words.badge}${words.sentence ? `: ${words.sentence}` : ''}`
}

/** How old news has to be to say so. */
const NEWS_AFTER_SECONDS = 10

export type Stream = 'connecting' | 'open' | 'broken' | 'locked' | 'signed-out' | 'full'

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
  if (stream === 'signed-out') {
    return { word: 'Signed out; what you see may be out of date', tone: 'bad', current: false }
  }
  if (stream === 'full') {
    return {
      word: 'Too many people are here at the moment; this page goes on by itself once there is room',
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

/** How often a link was opened. */
export function openedInWords(times: number): string {
  if (times === 0) return 'not opened yet'
  return times === 1 ? 'opened once' : times === 2 ? 'opened twice' : `opened ${whole(times)} times`
}

/** The title of a run: what its owner calls it, its question, or its SQL. */
export function titleOf(run: Pick<Run, 'title' | 'question' | 'sql'>): string {
  return run.title ?? run.question ?? (run.sql ? oneLine(run.sql) : 'SQL query')
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

/** <0.01 s · 0.03 s · 4.2 s · 42 s · 3 min 05 s · 2 h 04 min; never rounded up to the next unit. */
export function duration(seconds: number): string {
  if (seconds < 0.01) return '<0.01 s'
  if (seconds < 1) return `${(Math.floor(seconds * 100) / 100).toFixed(2)} s`
  if (seconds < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`
  const all = Math.floor(seconds)
  if (all < 60) return `${all} s`
  if (all < 3600) return `${Math.floor(all / 60)} min ${two(all % 60)} s`
  return `${Math.floor(all / 3600)} h ${two(Math.floor((all % 3600) / 60))} min`
}

/** How long it has taken, beside its state; a stale page says that it does not know more. */
export function elapsedInWords(seconds: number, ended: boolean, fresh: boolean): string {
  if (ended) return `took ${duration(seconds)}`
  return fresh ? ticking(seconds) : `${ticking(seconds)} when last heard of`
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
