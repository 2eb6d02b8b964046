// What the page backend sends. One place; `src/awhile/ask/web/` writes exactly these.

export type Status =
  | 'working'
  | 'input_required'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'expired'

/** What a completed run came to. */
export type Outcome = 'table' | 'refusal' | 'question_back' | 'not_run' | 'error'

/** One run: its facts, as last reported. Durations are seconds; instants ISO 8601. */
export interface Run {
  id: string
  /** Grows with every change the backend saw; only meaningful within one epoch. */
  rev: number
  tool: string
  question: string | null
  /** Null until known; and in the stream of a finished question, whose result has it. */
  sql: string | null
  /** The values of the SQL's `:names`, where it has any. */
  parameters: Parameters | null
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
  /** Since something of the run last changed, as of the moment the backend sent this row. */
  news_seconds: number
  /** 0: nobody has begun it yet; more than 1: the process that ran it before was lost. */
  attempt: number
  /** What it asks now. */
  inputs: Asking[]
  /** What it asked before, with the answers as given. */
  answers: Answer[]
  /** What its owner calls it, in place of its question. */
  title: string | null
  pinned: boolean
  /** Whether it is stopped once no page is open any more. */
  stop_when_left: boolean
  /** The run whose question this one goes on from. */
  follows: string | null
  /** What its rows are called in later SQL. */
  result_name: string | null
  /** How long it goes on while nobody looks; null: to its end. */
  unobserved_seconds: number | null
}

/** A value for a `:name`: JSON's own, or a text with its type. */
export type ParameterValue = string | number | boolean | null | { type: string; value: string }
export type Parameters = Record<string, ParameterValue>

/** A question of the work to the person: `schema` is MCP's flat form of the answer. */
export interface Asking {
  key: string
  message: string
  schema: unknown
  /** Where the answer is given on another page instead. */
  url: string | null
}

export type AnswerContent = Record<string, string | number | boolean | string[] | null>

export interface Answer {
  question: string
  action: string
  content: AnswerContent | null
  at: string
}

/** One thing that happened to a run; `said`: by the work, of itself. */
export interface Step {
  at: string
  words: string
  said: boolean
}

export interface History {
  steps: Step[]
  /** How many came before these. */
  earlier: number
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

/** One way to go on: what to show, and what to ask instead, or to confirm. */
export interface Choice {
  label: string
  question?: string | null
  confirm_cost?: boolean | null
}

/** Why a query gave no result; `line` and `column` count from 1. */
export interface Failure {
  message: string
  line?: number | null
  column?: number | null
  /** What to do about it. */
  hints?: string[]
}

/** What is known of a SQL text before it runs. */
export interface Check {
  may_run: boolean
  estimate: { rows: number; cost: number } | null
  asks_first: boolean
  error: Failure | null
}

/** What asking a model took. */
export interface ModelUse {
  model: string
  requests: number
  input_tokens: number
  output_tokens: number
  seconds: number
  price_usd?: number | null
}

export interface Result {
  run_id?: string
  question?: string | null
  sql?: string | null
  parameters?: Parameters | null
  reading?: string | null
  meanings?: { words: string; meaning: string }[]
  /** Whether the SQL can be trusted to mean the question; null: a person wrote it. */
  confidence?: 'grounded' | 'accepted' | 'unverified' | null
  model_use?: ModelUse | null
  columns?: Column[]
  row_count?: number
  truncated?: boolean
  truncated_by?: 'rows' | 'bytes' | null
  rows?: Cell[][]
  elapsed_seconds?: number
  refusal?: Refusal
  question_back?: { text: string; choices: Choice[] }
  /** Why nothing was run, though nothing went wrong. */
  not_run?: string | null
  error?: Failure
}

export interface RunDetail {
  run: Run
  result: Result | null
  /** What the tool or the protocol said when it ended badly. */
  error_text: string | null
}

/** What a share says of itself; the run it opens is told beside it. */
export interface Shared {
  /** What its owner is called, if that is known. */
  shared_by: string | null
  shared_at: string
  expires_at: string | null
  /** What asks the same of one's own. */
  asks: 'question' | 'sql' | null
}

export interface SharedDetail extends RunDetail {
  shared: Shared
}

/** One share of a run of one's own. */
export interface Share {
  /** What to call it when it is taken back; it opens nothing. */
  share: string
  made_at: string
  expires_at: string | null
  opened: number
}

export interface Rows {
  columns: Column[]
  rows: Cell[][]
  offset: number
  row_count: number
  /** How many meet the filters; all without any. */
  matching_rows: number
  truncated: boolean
}

export interface TableColumn extends Column {
  /** The family of the type, across databases. */
  kind: 'integer' | 'number' | 'text' | 'date' | 'timestamp' | 'time' | 'boolean' | 'other'
  comment: string | null
  primary: boolean
  /** The `table.column` it points at. */
  references: string | null
}

export interface Table {
  name: string
  row_count: number | null
  comment: string | null
  columns: TableColumn[]
}

export interface Database {
  name: string
  /** SQLGlot's name of the SQL it speaks. */
  dialect: string
  tables: Table[]
  examples: string[]
  /** What is missing from the tables, and why. */
  notes: string[]
  /** Whether runs can be shared: people are told apart here. */
  can_share: boolean
}

export type ChartKind = 'line' | 'bar' | 'scatter' | 'number'

export interface Axis {
  label: string
  /** Counted from 0; null: the number of rows. */
  column: number | null
  type: 'time' | 'category' | 'number'
}

/** A chart of a result, chosen and summed up by the server. Values are text, exact. */
export interface Chart {
  /** Why there is no chart. */
  nothing: string | null
  kind: ChartKind | null
  title: string | null
  x: Axis | null
  y: Axis | null
  series: number | null
  series_label: string | null
  /** How several rows became one point; null: each is one row. */
  aggregate: 'sum' | 'average' | 'min' | 'max' | 'count' | null
  /** x, y and series of each, in order. */
  points: [string | null, string, (string | null)?][]
  /** What was left out or summed up on the way. */
  notes: string[]
  /** What it shows, in words. */
  text: string | null
  /** What it could be instead, and of which columns. */
  kinds: ChartKind[]
  along: number[]
  amounts: number[]
}

/** One row that changed; `differences` of the amounts: after less before, exact. */
export interface Change {
  kind: 'changed' | 'new' | 'gone'
  before: Cell[] | null
  after: Cell[] | null
  differences: Cell[]
}

export interface Changes {
  columns: Column[]
  /** The columns that tell what a row is about. */
  keys: number[]
  rows: Change[]
  changed: number
  new: number
  gone: number
  same: number
}
