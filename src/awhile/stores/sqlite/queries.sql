-- Every statement of the SQLite store, by name. `:at_ms` is the caller's clock.

-- name: counter
-- The number of the last change in this store.
SELECT rev FROM counter;

-- name: move_counter
-- Remember the last number given out, once in each transaction that gave one out.
UPDATE counter SET rev = :rev;

-- name: one_task
-- One task whole; the first two columns are the store's own.
SELECT * FROM task_row WHERE task_id = :task_id;

-- name: task_of_request
-- The task an owner already created for a tool under a key.
SELECT * FROM task_row WHERE owner = :owner AND tool = :tool AND request_key = :request_key;

-- name: insert_task
-- A new task; its first history entry follows in the same transaction.
INSERT INTO task (
    history_seq, task_id, owner, tool, arguments, context, request_key, status, status_message,
    created_at_ms, last_updated_at_ms, ended_at_ms, keep_ms, expires_at_ms, result, is_error, error,
    lease_worker, lease_until_ms, generation, attempt, max_attempts, cancel_asked_at_ms,
    cancel_reason, stopped_at_ms, stopped_how, progress, steps, inputs, rev
) VALUES (
    1, :task_id, :owner, :tool, :arguments, :context, :request_key, :status, :status_message,
    :created_at_ms, :last_updated_at_ms, :ended_at_ms, :keep_ms, :expires_at_ms, :result, :is_error,
    :error, :lease_worker, :lease_until_ms, :generation, :attempt, :max_attempts,
    :cancel_asked_at_ms, :cancel_reason, :stopped_at_ms, :stopped_how, :progress, :steps, :inputs,
    :rev
) RETURNING ordinal;

-- name: update_task
-- All that an event may change. Read and written under the write lock, so it needs no comparison.
UPDATE task SET
    history_seq = :history_seq, status = :status, status_message = :status_message,
    last_updated_at_ms = :last_updated_at_ms, ended_at_ms = :ended_at_ms,
    expires_at_ms = :expires_at_ms, result = :result, is_error = :is_error, error = :error,
    lease_worker = :lease_worker, lease_until_ms = :lease_until_ms, generation = :generation,
    attempt = :attempt, cancel_asked_at_ms = :cancel_asked_at_ms, cancel_reason = :cancel_reason,
    stopped_at_ms = :stopped_at_ms, stopped_how = :stopped_how, progress = :progress,
    steps = :steps, inputs = :inputs, rev = :rev
WHERE ordinal = :ordinal;

-- name: insert_history
-- One more entry of a task's history.
INSERT INTO history (ordinal, seq, at_ms, kind, fields)
VALUES (:ordinal, :seq, :at_ms, :kind, :fields);

-- name: history
-- A task's history in order.
SELECT history.seq, history.at_ms, history.kind, history.fields
FROM task CROSS JOIN history ON history.ordinal = task.ordinal
WHERE task.task_id = :task_id AND history.seq > :after_seq
ORDER BY history.seq LIMIT :limit;

-- name: tasks_of_owner
-- One owner's tasks, newest creation first; the lists are JSON arrays, or NULL for any.
SELECT * FROM task_row
WHERE owner = :owner
    AND rev > :after_rev
    AND (:ordinal IS NULL OR ordinal < :ordinal)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:tools IS NULL OR tool IN (SELECT value FROM json_each(:tools)))
ORDER BY ordinal DESC LIMIT :limit;

-- name: place_of_task
-- Where one of an owner's tasks comes in their list.
SELECT ordinal FROM task WHERE task_id = :task_id AND owner = :owner;

-- name: claimable
-- Preselects what one tool's workers may take, oldest first; `tasks.may_claim` decides.
SELECT * FROM task_row
WHERE tool = :tool
    AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NULL AND attempt < max_attempts
    AND (lease_until_ms IS NULL OR lease_until_ms <= :at_ms)
ORDER BY ordinal LIMIT :limit;

-- name: lost
-- Preselects what a lost worker left behind and nobody may run again; `tasks.worker_lost` decides.
SELECT * FROM task_row
WHERE lease_until_ms <= :at_ms
    AND ended_at_ms IS NULL AND (cancel_asked_at_ms IS NOT NULL OR attempt >= max_attempts)
ORDER BY lease_until_ms LIMIT :limit;

-- name: renew
-- Extend one lease that is still held at this generation (an ended task has no lease).
UPDATE task SET lease_until_ms = :until_ms
WHERE task_id = :task_id AND generation = :generation AND lease_worker IS NOT NULL;

-- name: expired
-- What may be deleted now.
SELECT ordinal, task_id FROM task WHERE expires_at_ms <= :at_ms ORDER BY expires_at_ms LIMIT :limit;

-- name: delete_history
-- The history goes with its task.
DELETE FROM history WHERE ordinal = :ordinal;

-- name: delete_task
-- The task itself.
DELETE FROM task WHERE ordinal = :ordinal;

-- name: changed
-- What changed after a change, each task once, at its latest.
SELECT task_id, rev FROM task WHERE rev > :rev ORDER BY rev LIMIT :limit;
