-- The ledger's statements. Each begins with "-- name:", followed by what it does.

-- name: migration_1
-- One row per handle. `ending` is the whole task as last seen once it had ended (JSON), because a
-- server may delete a task after its time to live; `gone` marks one deleted before that was seen.
CREATE TABLE IF NOT EXISTS handles (
    server              TEXT NOT NULL,
    task_id             TEXT NOT NULL,
    tool                TEXT,
    arguments           TEXT NOT NULL,
    created_at_ms       INTEGER NOT NULL,
    updated_at_ms       INTEGER NOT NULL,
    status              TEXT NOT NULL,
    message             TEXT,
    cancel_asked_at_ms  INTEGER,
    ending              TEXT,
    gone                INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (server, task_id)
) STRICT, WITHOUT ROWID;

-- name: migration_2
-- The protocol revision a task was started under: every one there is came from the only one known.
ALTER TABLE handles ADD COLUMN era TEXT NOT NULL DEFAULT '2026-07-28';

-- name: add
-- A new handle. One that is known already keeps what is known of it.
INSERT INTO handles
    (server, task_id, tool, arguments, created_at_ms, updated_at_ms, status, message, era)
VALUES
    (:server, :task_id, :tool, :arguments, :created_at_ms, :created_at_ms, :status, :message, :era)
ON CONFLICT (server, task_id) DO NOTHING;

-- name: note
-- How a task stands. An ending that is kept is never overwritten.
UPDATE handles
SET updated_at_ms = :at_ms,
    status = :status,
    message = :message,
    cancel_asked_at_ms = coalesce(cancel_asked_at_ms, :cancel_asked_at_ms),
    ending = :ending,
    gone = :gone
WHERE server = :server AND task_id = :task_id AND ending IS NULL;

-- name: find
SELECT server, task_id, tool, arguments, created_at_ms, updated_at_ms, status, message,
       cancel_asked_at_ms, ending, gone, era
FROM handles WHERE server = :server AND task_id = :task_id;

-- name: list
-- Newest first.
SELECT server, task_id, tool, arguments, created_at_ms, updated_at_ms, status, message,
       cancel_asked_at_ms, ending, gone, era
FROM handles WHERE :server IS NULL OR server = :server ORDER BY created_at_ms DESC, task_id;

-- name: forget
DELETE FROM handles WHERE task_id = :task_id AND (:server IS NULL OR server = :server);

-- name: prune
-- Ended handles nobody forgot by hand.
DELETE FROM handles WHERE (ending IS NOT NULL OR gone) AND updated_at_ms < :before_ms;
