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
    cancel_reason, stopped_at_ms, stopped_how, progress, steps, inputs, journal, unobserved_ms,
    looked_at_ms, rev
) VALUES (
    1, :task_id, :owner, :tool, :arguments, :context, :request_key, :status, :status_message,
    :created_at_ms, :last_updated_at_ms, :ended_at_ms, :keep_ms, :expires_at_ms, :result, :is_error,
    :error, :lease_worker, :lease_until_ms, :generation, :attempt, :max_attempts,
    :cancel_asked_at_ms, :cancel_reason, :stopped_at_ms, :stopped_how, :progress, :steps, :inputs,
    :journal, :unobserved_ms, :looked_at_ms, :rev
) RETURNING ordinal;

-- name: update_task
-- All that an event may change. Read and written under the write lock, so it needs no comparison.
UPDATE task SET
    history_seq = :history_seq, status = :status, status_message = :status_message,
    last_updated_at_ms = :last_updated_at_ms, ended_at_ms = :ended_at_ms,
    keep_ms = :keep_ms, expires_at_ms = :expires_at_ms, result = :result, is_error = :is_error, error = :error,
    lease_worker = :lease_worker, lease_until_ms = :lease_until_ms, generation = :generation,
    attempt = :attempt, cancel_asked_at_ms = :cancel_asked_at_ms, cancel_reason = :cancel_reason,
    stopped_at_ms = :stopped_at_ms, stopped_how = :stopped_how, progress = :progress,
    steps = :steps, inputs = :inputs, journal = :journal, rev = :rev
WHERE ordinal = :ordinal;

-- name: insert_histories
-- More entries of tasks' histories, as a JSON array of arrays.
INSERT INTO history (ordinal, seq, at_ms, kind, fields)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
FROM json_each(:entries);

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

-- name: briefs_of_owner
-- The same without the results, none of which is read.
SELECT * FROM task_brief
WHERE owner = :owner
    AND rev > :after_rev
    AND (:ordinal IS NULL OR ordinal < :ordinal)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:tools IS NULL OR tool IN (SELECT value FROM json_each(:tools)))
ORDER BY ordinal DESC LIMIT :limit;

-- name: outlines_of_owner
-- The same without anything that may be long.
SELECT * FROM task_outline
WHERE owner = :owner
    AND rev > :after_rev
    AND (:ordinal IS NULL OR ordinal < :ordinal)
    AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
    AND (:tools IS NULL OR tool IN (SELECT value FROM json_each(:tools)))
ORDER BY ordinal DESC LIMIT :limit;

-- name: ordinal_of_task
-- Where one of an owner's tasks comes in their list.
SELECT ordinal FROM task WHERE task_id = :task_id AND owner = :owner;

-- name: waiting
-- How many tasks stand in line in all.
SELECT waiting FROM counter;

-- name: waiting_of_owner
-- How many tasks of one owner stand in line.
SELECT coalesce(sum(waiting), 0) FROM line WHERE owner = :owner;

-- name: oldest_in_line
-- When the oldest task in line was made.
SELECT created_at_ms FROM task WHERE ordinal = (SELECT min(head) FROM line);

-- name: oldest_of_owner
-- When the oldest task of one owner in line was made.
SELECT created_at_ms FROM task WHERE ordinal = (SELECT min(head) FROM line WHERE owner = :owner);

-- name: held_of_owner
-- How many tasks of one owner somebody holds.
SELECT count(*) FROM task WHERE owner = :owner AND lease_worker IS NOT NULL;

-- name: anything_to_claim
-- Whether a claim could take or end anything at all, whatever the tool. Mostly it could not.
SELECT
    waiting > 0
    OR EXISTS (SELECT 1 FROM task WHERE lease_until_ms IS NOT NULL AND lease_until_ms <= :at_ms)
    OR EXISTS (
        SELECT 1 FROM task
        WHERE cancel_asked_at_ms >= 0
            AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
    )
FROM counter;

-- name: next_in_line
-- Whose task of one tool is next, and which. Read again after each claim, which moves the lines.
SELECT running, head FROM line
WHERE tool = :tool AND running < :per_owner
    AND owner NOT IN (SELECT value FROM json_each(:without))
ORDER BY running, head LIMIT 1;

-- name: next_behind
-- Who comes next in one line behind one that was passed over.
SELECT line.running, task.ordinal
FROM line CROSS JOIN task ON task.tool = line.tool AND task.owner = line.owner
WHERE line.tool = :tool AND line.owner = :owner AND line.running < :per_owner
    AND task.waits AND task.ordinal > :ordinal
ORDER BY task.ordinal LIMIT 1;

-- name: task_at
-- One task whole, by its place in the order of creation.
SELECT * FROM task_row WHERE ordinal = :ordinal;

-- name: again
-- Preselects what ran before and may run again, of one tool; `tasks.may_claim` decides.
SELECT * FROM task_row
WHERE tool = :tool
    AND lease_until_ms IS NOT NULL AND attempt < max_attempts AND lease_until_ms <= :at_ms
    AND cancel_asked_at_ms IS NULL
ORDER BY lease_until_ms LIMIT :limit;

-- name: to_reach
-- Preselects what was asked to stop and left something running, of one tool; `tasks.may_claim`
-- decides.
SELECT * FROM task_row
WHERE tool = :tool
    AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
    AND (lease_until_ms IS NULL OR lease_until_ms <= :at_ms)
ORDER BY ordinal LIMIT :limit;

-- name: unclaimed
-- Preselects what no worker of these tools takes: the heads of the lines of other tools, and what
-- of those ran before; `tasks.may_claim` decides.
SELECT * FROM task_row
WHERE ordinal IN (
        SELECT head FROM line
        WHERE head > 0 AND tool NOT IN (SELECT value FROM json_each(:besides))
        UNION ALL
        SELECT ordinal FROM task
        WHERE lease_until_ms IS NOT NULL AND attempt < max_attempts AND lease_until_ms <= :at_ms
            AND tool NOT IN (SELECT value FROM json_each(:besides))
    )
    AND cancel_asked_at_ms IS NULL
ORDER BY ordinal LIMIT :limit;

-- name: stands
-- Where a task in line stands: its level is the number of tasks of its owner that are held or come
-- before it, of which as many are counted as any place is.
SELECT
    task.ordinal,
    line.running + (
        SELECT count(*) FROM (
            SELECT 1 FROM task AS older
            WHERE older.owner = task.owner AND older.waits AND older.ordinal < task.ordinal
            LIMIT :limit
        )
    )
FROM task JOIN line ON line.tool = task.tool AND line.owner = task.owner
WHERE task.task_id = :task_id AND task.waits;

-- name: lines_before
-- Whose tasks come before that: everybody's at a lower level, and at the same one the older.
SELECT owner, running, waiting FROM line
WHERE (running, head) < (:level, :ordinal) ORDER BY running, head LIMIT :limit;

-- name: nth_in_line
-- The task of one owner at a place in their own line.
SELECT ordinal FROM task WHERE owner = :owner AND waits ORDER BY ordinal LIMIT 1 OFFSET :nth;

-- name: looked
-- Its caller looked at it.
UPDATE task SET looked_at_ms = :at_ms
WHERE task_id = :task_id AND coalesce(looked_at_ms, 0) < :at_ms;

-- name: lost
-- Preselects what a lost worker left behind and nobody may run again; `tasks.worker_lost` decides.
SELECT * FROM task_row
WHERE lease_until_ms <= :at_ms
    AND ended_at_ms IS NULL AND (cancel_asked_at_ms IS NOT NULL OR attempt >= max_attempts)
    AND (cancel_asked_at_ms IS NULL OR journal = '{}')
ORDER BY lease_until_ms LIMIT :limit;

-- name: unreached
-- Preselects what was asked to stop and left something running that nobody has reached, whatever
-- the tool; `tasks.worker_lost` decides.
SELECT * FROM task_row
WHERE cancel_asked_at_ms <= :at_ms
    AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
    AND (lease_until_ms IS NULL OR lease_until_ms <= :at_ms)
ORDER BY cancel_asked_at_ms;

-- name: renew
-- Extend one lease that is still held at this generation (an ended task has no lease).
UPDATE task SET lease_until_ms = :until_ms
WHERE task_id = :task_id AND generation = :generation AND lease_worker IS NOT NULL;

-- name: expired
-- What may be deleted now.
SELECT ordinal, task_id FROM task WHERE expires_at_ms <= :at_ms ORDER BY expires_at_ms LIMIT :limit;

-- name: delete_histories
-- The history goes with its task; the ordinals are a JSON array.
DELETE FROM history WHERE ordinal IN (SELECT value FROM json_each(:ordinals));

-- name: delete_tasks
-- The tasks themselves.
DELETE FROM task WHERE ordinal IN (SELECT value FROM json_each(:ordinals));

-- name: changed
-- What changed after a change, each task once, at its latest.
SELECT task_id, rev FROM task WHERE rev > :rev ORDER BY rev LIMIT :limit;
