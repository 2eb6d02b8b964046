// What the page backend sends. One place; `src/awhile/ask/web/` writes exactly these.

export type Status =
  | 'working'
  | 'input_required'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'expired'

/** What a completed run came to. */
export type Outcome = 'table' | 'refusal' | 'question_back' | 'error'

/** One run: its facts, as last reported. Durations are seconds; instants ISO 8601. */
export interface Run {
  id: string
  /** Grows with every change the backend saw; only meaningful within one epoch. */
  rev: number
  tool: string
  question: string | null
  /** Null until known; and in the stream of a finished question, whose result has it. */
  sql: string | null
  /** What the question was taken to mean; told and left out like `sql`. */
  reading: string | null
  status: Status
  is_error: boolean
  outcome: Outcome | null
  message: string | null
  /** 0 to 100, only when the database gave one: its own estimate. */
  percent: number | null
  row_count: number | null
  created_at: string | null
  ended_at: string | null
  /** As of the moment the backend sent this row. */
  elapsed_seconds: number
  cancel_asked_at: string | null
  /** How long ago the stop was asked, as of the moment the backend sent this row. */
  cancel_asked_seconds: number | null
  /** How it is known that the work stopped: a word of `awhile.tasks.StoppedHow`. */
  stopped_how: string | null
  /** From the request to stop until the work had stopped. */
  stopped_after_seconds: number | null
}

/** A run and when this browser heard of it (`Date.now()`), so that clocks tick without skew. */
export interface SeenRun extends Run {
  seenAt: number
}

export interface Server {
  reachable: boolean
  /** Since when it is (not) reachable; null before the first try. */
  since: string | null
}

export interface Sync {
  epoch: string
  rev: number
  /** Whether `runs` is everything there is, rather than what changed. */
  full: boolean
  server: Server
  runs: Run[]
}

export interface Column {
  name: string
  type: string
}

export type Cell = string | null

export interface Refusal {
  text: string
  understood?: string[]
  not_understood?: string[]
  tables?: string[]
  measures?: string[]
}

/** One way to read the question: what to show, and what to ask instead. */
export interface Choice {
  label: string
  question: string
}

export interface Result {
  run_id?: string
  question?: string | null
  sql?: string | null
  reading?: string | null
  meanings?: { words: string; meaning: string }[]
  columns?: Column[]
  row_count?: number
  truncated?: boolean
  rows?: Cell[][]
  elapsed_seconds?: number
  refusal?: Refusal
  question_back?: { text: string; choices: Choice[] }
  error?: { message: string; line?: number | null; column?: number | null }
}

export interface RunDetail {
  run: Run
  result: Result | null
  /** What the tool or the protocol said when it ended badly. */
  error_text: string | null
}

export interface Rows {
  columns: Column[]
  rows: Cell[][]
  offset: number
  row_count: number
  truncated: boolean
}

export interface Database {
  name: string
  tables: {
    name: string
    row_count: number | null
    comment: string | null
    columns: Column[]
  }[]
  examples: string[]
}
