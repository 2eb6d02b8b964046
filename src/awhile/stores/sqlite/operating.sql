-- What operators ask of the SQLite store, by name, and the notices of endings.

-- name: waiting_by_tool
-- How many tasks of each tool stand in line, and when the oldest was made.
SELECT line.tool, sum(line.waiting), min(task.created_at_ms)
FROM line CROSS JOIN task ON task.ordinal = line.head
GROUP BY line.tool;

-- name: held_by_tool
-- How many are held, in which state, and what was asked to stop although nobody has it.
SELECT
    tool, CASE WHEN cancel_asked_at_ms IS NULL THEN status ELSE 'stopping' END AS state,
    count(*), min(created_at_ms)
FROM (
    SELECT tool, status, cancel_asked_at_ms, created_at_ms FROM task
    WHERE lease_until_ms IS NOT NULL
    UNION ALL
    SELECT tool, status, cancel_asked_at_ms, created_at_ms FROM task
    WHERE ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}'
        AND lease_until_ms IS NULL
)
GROUP BY tool, state;

-- name: lines
-- Who waits for what, the oldest first.
SELECT line.tool, line.owner, line.waiting, task.created_at_ms
FROM line CROSS JOIN task ON task.ordinal = line.head
ORDER BY line.head LIMIT :limit;

-- name: held
-- What somebody holds, whose lease runs out soonest first.
SELECT * FROM task_outline WHERE lease_until_ms IS NOT NULL ORDER BY lease_until_ms LIMIT :limit;

-- name: endings
-- What ended among the last changes, newest first; not our own processes' messages.
SELECT * FROM (SELECT * FROM task_outline ORDER BY rev DESC LIMIT :changes)
WHERE ended_at_ms IS NOT NULL AND substr(owner, 1, length(:ours)) <> :ours
ORDER BY rev DESC LIMIT :limit;

-- name: unstopped
-- Living tasks that nobody asked to stop.
SELECT task_id FROM task
WHERE waits AND (:owner IS NULL OR owner = :owner) AND (:tool IS NULL OR tool = :tool)
UNION ALL
SELECT task_id FROM task
WHERE lease_until_ms IS NOT NULL AND cancel_asked_at_ms IS NULL
    AND (:owner IS NULL OR owner = :owner) AND (:tool IS NULL OR tool = :tool)
LIMIT :limit;

-- name: note_endings
-- Keep a notice of each ending from now on.
UPDATE counter SET notices = 1;

-- name: notices_due
-- The notices to be sent now, with their tasks.
SELECT notice.tries, task_outline.*
FROM notice CROSS JOIN task_outline ON task_outline.ordinal = notice.ordinal
WHERE notice.due_ms <= :at_ms ORDER BY notice.due_ms LIMIT :limit;

-- name: notice_taken
-- One of them is being sent; it is due again if nobody says that it was.
UPDATE notice SET due_ms = :until_ms, tries = tries + 1 WHERE ordinal = :ordinal;

-- name: notice_told
-- It was sent.
DELETE FROM notice WHERE ordinal = (SELECT ordinal FROM task WHERE task_id = :task_id);

-- name: notice_again
-- It was not, and is to be sent again.
UPDATE notice SET due_ms = :due_ms
WHERE ordinal = (SELECT ordinal FROM task WHERE task_id = :task_id);
