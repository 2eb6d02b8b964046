-- The tasks, their history, and the counter every change takes its number from.

-- One row a task. `ordinal` is the order of creation; `history_seq` the last number used in the
-- task's history. Nested values are JSON text, instants are Unix milliseconds.
CREATE TABLE task (
    ordinal            INTEGER PRIMARY KEY,
    history_seq        INTEGER NOT NULL,
    task_id            TEXT NOT NULL UNIQUE,
    owner              TEXT NOT NULL,
    tool               TEXT NOT NULL,
    arguments          TEXT NOT NULL,
    context            TEXT NOT NULL,
    request_key        TEXT,
    status             TEXT NOT NULL,
    status_message     TEXT,
    created_at_ms      INTEGER NOT NULL,
    last_updated_at_ms INTEGER NOT NULL,
    ended_at_ms        INTEGER,
    keep_ms            INTEGER,
    expires_at_ms      INTEGER,
    result             TEXT,
    is_error           INTEGER NOT NULL,
    error              TEXT,
    lease_worker       TEXT,
    lease_until_ms     INTEGER,
    generation         INTEGER NOT NULL,
    attempt            INTEGER NOT NULL,
    max_attempts       INTEGER NOT NULL,
    cancel_asked_at_ms INTEGER,
    cancel_reason      TEXT,
    stopped_at_ms      INTEGER,
    stopped_how        TEXT,
    progress           TEXT,
    steps              TEXT NOT NULL,
    inputs             TEXT NOT NULL,
    rev                INTEGER NOT NULL
) STRICT;

-- One task per (owner, tool, key): what makes a repeated create find the first one.
CREATE UNIQUE INDEX task_request_key ON task (owner, tool, request_key)
    WHERE request_key IS NOT NULL;

-- One owner's tasks in the order of their creation.
CREATE INDEX task_owner ON task (owner);

-- What changed after a given change.
CREATE UNIQUE INDEX task_rev ON task (rev);

-- What may be run, by tool in the order of creation. Most tasks may run once: claimed, they leave.
CREATE INDEX task_claimable ON task (tool)
    WHERE ended_at_ms IS NULL AND cancel_asked_at_ms IS NULL AND attempt < max_attempts;

-- The leases there are, soonest to run out first.
CREATE INDEX task_lease ON task (lease_until_ms) WHERE lease_until_ms IS NOT NULL;

-- What will expire, soonest first.
CREATE INDEX task_expiry ON task (expires_at_ms) WHERE expires_at_ms IS NOT NULL;

-- The append-only history, clustered behind the task it belongs to.
CREATE TABLE history (
    ordinal INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    fields  TEXT NOT NULL,
    PRIMARY KEY (ordinal, seq)
) STRICT, WITHOUT ROWID;

-- The number of the last change. Kept, not derived: deleting the last changed task must not let
-- its number be given out again, or a watcher would miss the change that gets it.
CREATE TABLE counter (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), rev INTEGER NOT NULL) STRICT;
INSERT INTO counter (only_row, rev) VALUES (1, 0);

-- A record as `awhile.stores.rows.from_row` reads it, behind the two columns only the store uses.
CREATE VIEW task_row AS
SELECT
    ordinal, history_seq,
    task_id, owner, tool, arguments, context, request_key, status, status_message, created_at_ms,
    last_updated_at_ms, ended_at_ms, keep_ms, result, is_error, error, lease_worker,
    lease_until_ms, generation, attempt, max_attempts, cancel_asked_at_ms, cancel_reason,
    stopped_at_ms, stopped_how, progress, steps, inputs, rev
FROM task;
