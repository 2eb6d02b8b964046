-- Every statement of the PostgreSQL store, by name. `:at_ms` is the caller's clock, `:row` the
-- columns `transaction.stored` reads. The schema is written `awhile`; a store may be told another.

-- name: identity
-- What the store says of itself, and the server of itself.
SELECT
    version, min_version, current_setting('server_encoding'), current_setting('fsync'),
    current_setting('synchronous_commit'), pg_is_in_recovery()
FROM awhile.store;

-- name: move_revs
-- In a database restored elsewhere the transactions are counted anew: lift the new ones' revs.
UPDATE awhile.store SET rev_base = rev_base + greatest(0, coalesce((
    SELECT max(rev) + 4096
        - (store.rev_base + (pg_snapshot_xmax(pg_current_snapshot())::text::bigint << 12))
    FROM awhile.task
), 0))
WHERE EXISTS (
    SELECT FROM awhile.task
    WHERE rev >= store.rev_base + (pg_snapshot_xmax(pg_current_snapshot())::text::bigint << 12)
)
RETURNING rev_base;

-- name: tasks
-- Some tasks whole; the first three columns are the store's own.
SELECT :row FROM awhile.task WHERE task_id = ANY(:task_ids);

-- name: tasks_at_rest
-- The same, once whoever is writing them has ended.
SELECT :row FROM awhile.task WHERE task_id = ANY(:task_ids) ORDER BY ordinal FOR UPDATE;

-- name: give_up_when_frozen
-- Ends this transaction, and its locks with it, if this process stops in the middle of it.
SELECT set_config('idle_in_transaction_session_timeout', :ms, true);

-- name: tasks_of_requests
-- The tasks owners already created for tools under keys.
SELECT :row FROM awhile.task
WHERE (owner, tool, request_key) IN (
    SELECT * FROM unnest(:owners::text[], :tools::text[], :keys::text[])
) AND request_key IS NOT NULL;

-- name: create
-- New tasks with their first history entry, but for those whose id or key is there already.
WITH writing AS (
    SELECT (pg_current_xact_id()::text::bigint << 12) + rev_base AS rev FROM awhile.store
), given AS (
    SELECT * FROM unnest(
        :n::bigint[], :fields::text[],
        :task_id::text[], :owner::text[], :tool::text[], :arguments::text[], :context::text[],
        :request_key::text[], :status::text[], :status_message::text[], :created_at_ms::bigint[],
        :last_updated_at_ms::bigint[], :ended_at_ms::bigint[], :keep_ms::bigint[],
        :expires_at_ms::bigint[], :result::text[], :is_error::bigint[], :error::text[],
        :lease_worker::text[], :lease_until_ms::bigint[], :generation::bigint[],
        :attempt::bigint[], :max_attempts::bigint[], :cancel_asked_at_ms::bigint[],
        :cancel_reason::text[], :stopped_at_ms::bigint[], :stopped_how::text[],
        :progress::text[], :steps::text[], :inputs::text[], :journal::text[],
        :unobserved_ms::bigint[], :looked_at_ms::bigint[]
    ) AS given (
        n, fields,
        task_id, owner, tool, arguments, context, request_key, status, status_message,
        created_at_ms, last_updated_at_ms, ended_at_ms, keep_ms, expires_at_ms, result, is_error,
        error, lease_worker, lease_until_ms, generation, attempt, max_attempts,
        cancel_asked_at_ms, cancel_reason, stopped_at_ms, stopped_how, progress, steps, inputs,
        journal, unobserved_ms, looked_at_ms
    )
), made AS (
    INSERT INTO awhile.task (
        history_seq, task_id, owner, tool, arguments, context, request_key, status,
        status_message, created_at_ms, last_updated_at_ms, ended_at_ms, keep_ms, expires_at_ms,
        result, is_error, error, lease_worker, lease_until_ms, generation, attempt, max_attempts,
        cancel_asked_at_ms, cancel_reason, stopped_at_ms, stopped_how, progress, steps, inputs,
        journal, unobserved_ms, looked_at_ms, rev
    )
    SELECT
        1, task_id, owner, tool, arguments, context, request_key, status,
        status_message, created_at_ms, last_updated_at_ms, ended_at_ms, keep_ms, expires_at_ms,
        result, is_error, error, lease_worker, lease_until_ms, generation, attempt, max_attempts,
        cancel_asked_at_ms, cancel_reason, stopped_at_ms, stopped_how, progress, steps, inputs,
        journal, unobserved_ms, looked_at_ms, writing.rev + given.n
    FROM given CROSS JOIN writing ORDER BY given.n
    ON CONFLICT DO NOTHING
    RETURNING ordinal, created_at_ms, rev
), told AS (
    INSERT INTO awhile.history (ordinal, seq, at_ms, kind, fields)
    SELECT made.ordinal, 1, made.created_at_ms, 'Created', given.fields
    FROM made CROSS JOIN writing JOIN given ON given.n = made.rev - writing.rev
)
SELECT made.rev - writing.rev, made.rev FROM made CROSS JOIN writing;

-- name: change
-- All that events may change, of each task that is still as it was read, with its new history.
-- `version` is the row's `xmin`, which every write to it moves: this is the compare-and-set. The
-- rows are locked in one order by everybody, so nobody waits in a circle.
WITH writing AS (
    SELECT (pg_current_xact_id()::text::bigint << 12) + rev_base AS rev FROM awhile.store
), given AS (
    SELECT * FROM unnest(
        :n::bigint[], :ordinal::bigint[], :version::text[], :history_seq::bigint[],
        :status::text[], :status_message::text[], :last_updated_at_ms::bigint[],
        :ended_at_ms::bigint[], :keep_ms::bigint[], :expires_at_ms::bigint[], :result::text[],
        :is_error::bigint[], :error::text[], :lease_worker::text[], :lease_until_ms::bigint[],
        :generation::bigint[], :attempt::bigint[], :cancel_asked_at_ms::bigint[], :cancel_reason::text[],
        :stopped_at_ms::bigint[], :stopped_how::text[], :progress::text[], :steps::text[],
        :inputs::text[], :journal::text[]
    ) AS given (
        n, ordinal, version, history_seq, status, status_message, last_updated_at_ms,
        ended_at_ms, keep_ms, expires_at_ms, result, is_error, error, lease_worker, lease_until_ms,
        generation, attempt, cancel_asked_at_ms, cancel_reason, stopped_at_ms, stopped_how,
        progress, steps, inputs, journal
    )
), locked AS MATERIALIZED (
    SELECT ordinal FROM awhile.task WHERE ordinal = ANY(:ordinal) ORDER BY ordinal FOR UPDATE
), changed AS (
    UPDATE awhile.task SET
        history_seq = given.history_seq, status = given.status,
        status_message = given.status_message, last_updated_at_ms = given.last_updated_at_ms,
        ended_at_ms = given.ended_at_ms, keep_ms = given.keep_ms,
        expires_at_ms = given.expires_at_ms,
        result = given.result, is_error = given.is_error, error = given.error,
        lease_worker = given.lease_worker, lease_until_ms = given.lease_until_ms,
        generation = given.generation, attempt = given.attempt,
        cancel_asked_at_ms = given.cancel_asked_at_ms, cancel_reason = given.cancel_reason,
        stopped_at_ms = given.stopped_at_ms, stopped_how = given.stopped_how,
        progress = given.progress, steps = given.steps, inputs = given.inputs,
        journal = given.journal,
        rev = coalesce(writing.rev + given.n, task.rev)
    FROM given, writing, locked
    WHERE task.ordinal = given.ordinal
        AND locked.ordinal = given.ordinal
        AND task.xmin = given.version::xid
        AND task.rev < writing.rev
    RETURNING task.ordinal, task.rev
), told AS (
    INSERT INTO awhile.history (ordinal, seq, at_ms, kind, fields)
    SELECT ordinal, seq, at_ms, kind, fields
    FROM unnest(
        :h_ordinal::bigint[], :h_seq::bigint[], :h_at_ms::bigint[], :h_kind::text[],
        :h_fields::text[]
    ) AS one (ordinal, seq, at_ms, kind, fields)
    JOIN changed USING (ordinal)
)
SELECT ordinal, rev FROM changed;

-- name: history
-- A task's history in order.
SELECT history.seq, history.at_ms, history.kind, history.fields
FROM awhile.task JOIN awhile.history USING (ordinal)
WHERE task.task_id = :task_id AND history.seq > :after_seq
ORDER BY history.seq LIMIT :limit;

-- name: entries
-- Single history entries of several tasks: whether a write whose reply was lost was made.
SELECT history.ordinal, history.seq, history.at_ms, history.kind, history.fields
FROM awhile.history JOIN unnest(:ordinals::bigint[], :seqs::bigint[]) AS asked (ordinal, seq)
    ON history.ordinal = asked.ordinal AND history.seq = asked.seq;

-- name: tasks_of_owner
-- One owner's tasks, newest creation first; the lists are NULL for any. With the reader's snapshot.
SELECT pg_current_snapshot()::text, (SELECT rev_base FROM awhile.store), :row
FROM awhile.task
WHERE owner = :owner
    AND rev > :after_rev
    AND (:before::bigint IS NULL OR ordinal < :before)
    AND (NOT :living OR ended_at_ms IS NULL)
    AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
    AND (:tools::text[] IS NULL OR tool = ANY(:tools))
ORDER BY ordinal DESC LIMIT :limit;

-- name: briefs_of_owner
-- The same without the results, none of which is read.
SELECT pg_current_snapshot()::text, (SELECT rev_base FROM awhile.store), :brief
FROM awhile.task
WHERE owner = :owner
    AND rev > :after_rev
    AND (:before::bigint IS NULL OR ordinal < :before)
    AND (NOT :living OR ended_at_ms IS NULL)
    AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
    AND (:tools::text[] IS NULL OR tool = ANY(:tools))
ORDER BY ordinal DESC LIMIT :limit;

-- name: outlines_of_owner
-- The same without anything that may be long.
SELECT pg_current_snapshot()::text, (SELECT rev_base FROM awhile.store), :outline
FROM awhile.task
WHERE owner = :owner
    AND rev > :after_rev
    AND (:before::bigint IS NULL OR ordinal < :before)
    AND (NOT :living OR ended_at_ms IS NULL)
    AND (:statuses::text[] IS NULL OR status = ANY(:statuses))
    AND (:tools::text[] IS NULL OR tool = ANY(:tools))
ORDER BY ordinal DESC LIMIT :limit;

-- name: unsettled
-- Which of these transactions, running when a snapshot was taken, may yet show changes of tasks or
-- have shown some since. One of ours holds a lock on the table from before it has an id until it
-- has ended: without that lock, and still running afterwards, it is somebody else's.
SELECT xid FROM unnest(:xids::bigint[]) AS asked (xid)
WHERE CASE
    WHEN EXISTS (
        SELECT FROM pg_locks AS own JOIN pg_locks AS lock USING (virtualtransaction)
        WHERE own.locktype = 'transactionid'
            AND own.mode = 'ExclusiveLock'
            AND own.transactionid::text::bigint = xid & 4294967295
            AND lock.locktype = 'relation'
            AND lock.relation = 'awhile.task'::regclass
    ) THEN true
    ELSE pg_xact_status(xid::text::xid8) = 'committed'
END;

-- name: ordinal_of_task
-- Where one of an owner's tasks comes in their list.
SELECT ordinal FROM awhile.task WHERE task_id = :task_id AND owner = :owner;

-- name: lock_queue
-- One transaction at a time fills places in the queue.
SELECT pg_advisory_xact_lock(:space::int, 0);

-- name: room
-- How much of the queue is taken, and when the oldest in it was made; then of each owner, how much
-- they hold, how much of the queue is theirs, and the oldest of that. Counted as far as needed.
SELECT
    NULL, NULL,
    (SELECT count(*) FROM (SELECT FROM awhile.task WHERE waits LIMIT :most) AS waiting),
    (SELECT created_at_ms FROM awhile.task WHERE waits ORDER BY ordinal LIMIT 1)
UNION ALL
SELECT
    asked.owner,
    (SELECT count(*) FROM awhile.task WHERE task.owner = asked.owner AND lease_worker IS NOT NULL),
    (
        SELECT count(*) FROM (
            SELECT FROM awhile.task WHERE task.owner = asked.owner AND waits LIMIT :most_of_one
        ) AS waiting
    ),
    (
        SELECT created_at_ms FROM awhile.task WHERE task.owner = asked.owner AND waits
        ORDER BY ordinal LIMIT 1
    )
FROM unnest(:owners::text[]) AS asked (owner);

-- name: held
-- How many tasks each owner holds.
SELECT owner, count(*) FROM awhile.task WHERE lease_worker IS NOT NULL GROUP BY owner;

-- name: heads_near
-- Whose lines of these tools begin among the oldest tasks in line, and where; with how many of
-- those each owner has, of any tool.
SELECT owner, min(ordinal) FILTER (WHERE tool = ANY(:tools::text[])), count(*)
FROM (
    SELECT owner, tool, ordinal FROM awhile.task WHERE waits ORDER BY ordinal LIMIT :window
) AS near
GROUP BY owner;

-- name: heads
-- Whose lines of these tools there are, and where they begin; with how many lines each owner has.
-- From one to the next by the index, however long they are.
WITH RECURSIVE head AS (
    SELECT one.* FROM unnest(:tools::text[]) AS asked (tool) CROSS JOIN LATERAL (
        SELECT tool, owner, ordinal FROM awhile.task
        WHERE task.tool = asked.tool AND waits ORDER BY owner, ordinal LIMIT 1
    ) AS one
    UNION ALL
    SELECT one.* FROM head CROSS JOIN LATERAL (
        SELECT tool, owner, ordinal FROM awhile.task
        WHERE task.tool = head.tool AND waits AND task.owner > head.owner
        ORDER BY owner, ordinal LIMIT 1
    ) AS one
)
SELECT owner, min(ordinal), count(*) FROM (SELECT * FROM head LIMIT :window) AS head GROUP BY owner;

-- name: next_in_line
-- Which tasks of these owners and tools are next. The n-th task of an owner's line is at the level
-- of what they hold and n - 1; the lowest level comes first, in it the oldest.
SELECT one.ordinal, line.owner
FROM unnest(:owners::text[], :held::bigint[]) AS line (owner, running) CROSS JOIN LATERAL (
    SELECT ordinal, line.running + row_number() OVER (ORDER BY ordinal) - 1 AS level
    FROM unnest(:tools::text[]) AS asked (tool) CROSS JOIN LATERAL (
        SELECT ordinal FROM awhile.task
        WHERE task.tool = asked.tool AND task.owner = line.owner AND waits
            AND ordinal <> ALL(:besides::bigint[])
        ORDER BY ordinal LIMIT :limit
    ) AS first
) AS one
WHERE :per_owner::bigint IS NULL OR one.level < :per_owner
ORDER BY one.level, one.ordinal LIMIT :limit;

-- name: held_of
-- How many tasks these owners hold.
SELECT owner, count(*) FROM awhile.task
WHERE lease_worker IS NOT NULL AND owner = ANY(:owners) GROUP BY owner;

-- name: lock_owners
-- One transaction at a time claims of an owner for whom there is a bound.
SELECT pg_advisory_xact_lock(:space::int, key) FROM (
    SELECT DISTINCT hashtext(owner) AS key FROM unnest(:owners::text[]) AS asked (owner) ORDER BY 1
) AS one;

-- name: in_line
-- The same tasks, locked by nobody.
SELECT :row FROM awhile.task WHERE ordinal = ANY(:ordinals) AND waits;

-- name: take
-- These tasks in line, but for those that somebody else is just taking or has taken.
SELECT :row FROM awhile.task WHERE ordinal = ANY(:ordinals) AND waits FOR UPDATE SKIP LOCKED;

-- name: again
-- Preselects what ran before and may run again, of these tools; `tasks.may_claim` decides.
SELECT :row FROM awhile.task
WHERE tool = ANY(:tools)
    AND lease_until_ms IS NOT NULL AND attempt < max_attempts AND lease_until_ms <= :at_ms
    AND cancel_asked_at_ms IS NULL
ORDER BY ordinal LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: to_reach
-- Preselects what was asked to stop and left something running, of these tools; `tasks.may_claim`
-- decides.
SELECT :row FROM awhile.task
WHERE tool = ANY(:tools)
    AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
    AND (lease_until_ms IS NULL OR lease_until_ms <= :at_ms)
ORDER BY ordinal LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: unclaimed
-- Preselects what no worker of these tools takes: the heads of the lines of other tools, and what
-- of those ran before; `tasks.may_claim` decides.
WITH RECURSIVE head AS (
    (
        SELECT tool, owner, ordinal FROM awhile.task
        WHERE waits ORDER BY tool, owner, ordinal LIMIT 1
    )
    UNION ALL
    SELECT one.* FROM head CROSS JOIN LATERAL (
        SELECT tool, owner, ordinal FROM awhile.task
        WHERE waits AND (task.tool, task.owner) > (head.tool, head.owner)
        ORDER BY tool, owner, ordinal LIMIT 1
    ) AS one
)
SELECT :row FROM awhile.task
WHERE ordinal IN (
        SELECT ordinal FROM head WHERE tool <> ALL(:besides::text[])
        UNION ALL
        SELECT ordinal FROM awhile.task
        WHERE lease_until_ms IS NOT NULL AND attempt < max_attempts AND lease_until_ms <= :at_ms
            AND tool <> ALL(:besides::text[])
    )
    AND cancel_asked_at_ms IS NULL
ORDER BY ordinal LIMIT :limit;

-- name: place
-- How many come before a task in line, by level and age (`next_in_line`), counted up to a limit;
-- no row where the task is not in line.
WITH RECURSIVE mine AS (
    SELECT
        task.ordinal,
        (
            SELECT count(*) FROM awhile.task AS held
            WHERE held.owner = task.owner AND held.lease_worker IS NOT NULL
        ) + (
            SELECT count(*) FROM (
                SELECT FROM awhile.task AS older
                WHERE older.owner = task.owner AND older.waits AND older.ordinal < task.ordinal
                LIMIT :limit
            ) AS older
        ) AS level
    FROM awhile.task WHERE task.task_id = :task_id AND task.waits
), held AS (
    SELECT owner, count(*) AS running FROM awhile.task WHERE lease_worker IS NOT NULL GROUP BY owner
), line AS (
    (SELECT owner FROM awhile.task WHERE waits ORDER BY owner LIMIT 1)
    UNION ALL
    SELECT one.owner FROM line CROSS JOIN LATERAL (
        SELECT owner FROM awhile.task WHERE waits AND task.owner > line.owner
        ORDER BY owner LIMIT 1
    ) AS one
)
SELECT (
    SELECT count(*) FROM (
        SELECT FROM line LEFT JOIN held USING (owner) CROSS JOIN LATERAL (
            SELECT
                ordinal,
                coalesce(held.running, 0) + row_number() OVER (ORDER BY ordinal) - 1 AS level
            FROM (
                SELECT ordinal FROM awhile.task WHERE task.owner = line.owner AND waits
                ORDER BY ordinal
                LIMIT greatest(0, mine.level - coalesce(held.running, 0) + 1)
            ) AS first
        ) AS one
        WHERE (one.level, one.ordinal) < (mine.level, mine.ordinal)
        LIMIT :limit
    ) AS before
)
FROM mine;

-- name: looked
-- Their caller looked at them.
WITH locked AS MATERIALIZED (
    SELECT ordinal FROM awhile.task
    WHERE task_id = ANY(:task_ids) AND coalesce(looked_at_ms, 0) < :at_ms
    ORDER BY ordinal FOR UPDATE
)
UPDATE awhile.task SET looked_at_ms = :at_ms
FROM locked WHERE task.ordinal = locked.ordinal AND coalesce(task.looked_at_ms, 0) < :at_ms
RETURNING task.task_id;

-- name: lost
-- Preselects what a lost worker left behind and nobody may run again; `tasks.worker_lost` decides.
SELECT :row FROM awhile.task
WHERE lease_until_ms <= :at_ms
    AND ended_at_ms IS NULL AND (cancel_asked_at_ms IS NOT NULL OR attempt >= max_attempts)
    AND (cancel_asked_at_ms IS NULL OR journal = '{}')
ORDER BY lease_until_ms LIMIT :limit
FOR UPDATE SKIP LOCKED;

-- name: unreached
-- Preselects what was asked to stop and left something running that nobody has reached, whatever
-- the tool; `tasks.worker_lost` decides.
SELECT :row FROM awhile.task
WHERE cancel_asked_at_ms <= :at_ms
    AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
    AND (lease_until_ms IS NULL OR lease_until_ms <= :at_ms)
ORDER BY cancel_asked_at_ms
FOR UPDATE SKIP LOCKED;

-- name: renew
-- Extend leases that are still held at their generation (an ended task has no lease).
WITH locked AS MATERIALIZED (
    SELECT ordinal, task_id FROM awhile.task WHERE task_id = ANY(:task_ids)
    ORDER BY ordinal FOR UPDATE
)
UPDATE awhile.task SET lease_until_ms = :until_ms
FROM locked JOIN unnest(:task_ids::text[], :generations::bigint[]) AS held (task_id, generation)
    ON locked.task_id = held.task_id
WHERE task.ordinal = locked.ordinal
    AND task.generation = held.generation AND task.lease_worker IS NOT NULL
RETURNING task.task_id, task.generation;

-- name: sweep
-- Delete what may be deleted now, with its history.
WITH expired AS MATERIALIZED (
    SELECT ordinal FROM awhile.task WHERE expires_at_ms <= :at_ms
    ORDER BY expires_at_ms LIMIT :limit FOR UPDATE SKIP LOCKED
), forgotten AS (
    DELETE FROM awhile.history USING expired WHERE history.ordinal = expired.ordinal
)
DELETE FROM awhile.task USING expired WHERE task.ordinal = expired.ordinal
RETURNING task.task_id;

-- name: now
-- What a reader sees now. With the base of the revs, and the highest of them.
SELECT pg_current_snapshot()::text, rev_base, (SELECT coalesce(max(rev), 0) FROM awhile.task)
FROM awhile.store;

-- name: changed
-- What a snapshot did not see and this one does, each task once, at its latest. First, as a row
-- without a task, this snapshot.
SELECT pg_current_snapshot()::text, rev_base FROM awhile.store
UNION ALL
SELECT task_id, rev FROM awhile.task WHERE rev >= :from_rev
UNION ALL
SELECT task.task_id, task.rev
FROM unnest(:unseen::bigint[]) AS one (rev)
JOIN awhile.task ON task.rev >= one.rev AND task.rev < one.rev + 4096;

-- name: ring
-- Wake the others.
SELECT pg_notify(:channel, :sender);
