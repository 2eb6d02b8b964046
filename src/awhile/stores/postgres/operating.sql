-- What operators ask of the PostgreSQL store, by name, and the notices of endings. `:outline` is
-- what `:row` is, without what a task was given, asked, noted, and what came of it.

-- name: waiting_by_tool
-- How many tasks of each tool stand in line, and when the oldest was made.
SELECT tool, count(*), min(created_at_ms) FROM awhile.task WHERE waits GROUP BY tool;

-- name: held_by_tool
-- How many are held, in which state, and what was asked to stop although nobody has it.
SELECT tool, state, count(*), min(created_at_ms) FROM (
    SELECT
        tool, created_at_ms,
        CASE WHEN cancel_asked_at_ms IS NULL THEN status ELSE 'stopping' END AS state
    FROM awhile.task WHERE lease_until_ms IS NOT NULL
    UNION ALL
    SELECT tool, created_at_ms, 'stopping' FROM awhile.task
    WHERE ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
        AND lease_until_ms IS NULL
) AS living
GROUP BY tool, state;

-- name: lines
-- Who waits for what, the oldest first.
SELECT tool, owner, count(*), (array_agg(created_at_ms ORDER BY ordinal))[1]
FROM awhile.task WHERE waits
GROUP BY tool, owner ORDER BY min(ordinal) LIMIT :limit;

-- name: leases
-- What somebody holds, whose lease runs out soonest first.
SELECT :outline FROM awhile.task
WHERE lease_until_ms IS NOT NULL ORDER BY lease_until_ms LIMIT :limit;

-- name: endings
-- What ended among the last changes, newest first; not our own processes' messages.
SELECT :outline FROM (SELECT *, xmin FROM awhile.task ORDER BY rev DESC LIMIT :changes) AS recent
WHERE ended_at_ms IS NOT NULL AND NOT starts_with(owner, :ours)
ORDER BY rev DESC LIMIT :limit;

-- name: unstopped
-- Living tasks that nobody asked to stop.
SELECT task_id FROM awhile.task
WHERE waits AND (:owner::text IS NULL OR owner = :owner) AND (:tool::text IS NULL OR tool = :tool)
UNION ALL
SELECT task_id FROM awhile.task
WHERE lease_until_ms IS NOT NULL AND cancel_asked_at_ms IS NULL
    AND (:owner::text IS NULL OR owner = :owner) AND (:tool::text IS NULL OR tool = :tool)
LIMIT :limit;

-- name: note_endings
-- Keep a notice of each ending from now on.
UPDATE awhile.store SET notices = true WHERE NOT notices RETURNING notices;

-- name: take_notices
-- The notices to be sent now, with their tasks; each is due again if nobody says that it was sent.
WITH due AS MATERIALIZED (
    SELECT ordinal, due_ms AS was_due_ms FROM awhile.notice WHERE due_ms <= :at_ms
    ORDER BY due_ms LIMIT :limit FOR UPDATE SKIP LOCKED
), taken AS (
    UPDATE awhile.notice SET due_ms = :until_ms, tries = tries + 1
    FROM due WHERE notice.ordinal = due.ordinal
    RETURNING notice.ordinal, tries, was_due_ms
)
SELECT tries, :outline FROM taken JOIN (SELECT *, xmin FROM awhile.task) AS task USING (ordinal)
ORDER BY was_due_ms;

-- name: settle_notices
-- These were sent, those are to be sent again later.
WITH told AS (
    DELETE FROM awhile.notice USING awhile.task
    WHERE notice.ordinal = task.ordinal AND task.task_id = ANY(:told::text[])
)
UPDATE awhile.notice SET due_ms = again.due_ms
FROM unnest(:task_ids::text[], :due_ms::bigint[]) AS again (task_id, due_ms)
JOIN awhile.task USING (task_id)
WHERE notice.ordinal = task.ordinal
RETURNING notice.ordinal;
