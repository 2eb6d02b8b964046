-- Notices of endings: what the webhook has still to be told.

-- Whether anybody is to be told (`Notifies.note_endings`).
ALTER TABLE counter ADD COLUMN notices INTEGER NOT NULL DEFAULT 0;

CREATE TABLE notice (
    ordinal INTEGER PRIMARY KEY,
    due_ms  INTEGER NOT NULL,
    tries   INTEGER NOT NULL
) STRICT;

-- What is due, longest first.
CREATE INDEX notice_due ON notice (due_ms);

-- In the transaction that ends the task, whichever process and version that is.
CREATE TRIGGER notice_after_end AFTER UPDATE OF ended_at_ms ON task
WHEN OLD.ended_at_ms IS NULL AND NEW.ended_at_ms IS NOT NULL
BEGIN
    INSERT OR IGNORE INTO notice (ordinal, due_ms, tries)
        SELECT NEW.ordinal, NEW.ended_at_ms, 0 FROM counter WHERE notices = 1;
END;

CREATE TRIGGER notice_after_delete AFTER DELETE ON task
BEGIN
    DELETE FROM notice WHERE ordinal = OLD.ordinal;
END;

-- A record without what it was given, asked, noted, and what came of it.
CREATE VIEW task_outline AS
SELECT
    ordinal, history_seq,
    task_id, owner, tool, '{}' AS arguments, '{}' AS context, NULL AS request_key, status,
    status_message, created_at_ms, last_updated_at_ms, ended_at_ms, keep_ms, NULL AS result,
    is_error, NULL AS error, lease_worker, lease_until_ms, generation, attempt, max_attempts,
    cancel_asked_at_ms, cancel_reason, stopped_at_ms, stopped_how, NULL AS progress, '[]' AS steps,
    '{}' AS inputs, '{}' AS journal, unobserved_ms, looked_at_ms, rev
FROM task;
