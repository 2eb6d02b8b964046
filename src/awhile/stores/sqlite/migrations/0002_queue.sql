-- The journal of a task, who looks at it, and a queue that is fair between owners.

ALTER TABLE task ADD COLUMN journal TEXT NOT NULL DEFAULT '{}';
ALTER TABLE task ADD COLUMN unobserved_ms INTEGER;
ALTER TABLE task ADD COLUMN looked_at_ms INTEGER;

-- Whether it stands in line: nobody has it, and it may be begun.
ALTER TABLE task ADD COLUMN waits INTEGER NOT NULL GENERATED ALWAYS AS (
    lease_worker IS NULL AND ended_at_ms IS NULL AND cancel_asked_at_ms IS NULL
    AND attempt < max_attempts
) VIRTUAL;

-- One row for each tool and owner with tasks in line: how many, the first of them, and how many
-- tasks of this owner are held (of any tool). Its index is the order of claims: the owner with the
-- fewest held tasks first, of those the oldest. Kept by triggers, so that whatever writes keeps it.
CREATE TABLE line (
    tool    TEXT NOT NULL,
    owner   TEXT NOT NULL,
    waiting INTEGER NOT NULL,
    head    INTEGER NOT NULL,
    running INTEGER NOT NULL,
    PRIMARY KEY (tool, owner)
) STRICT, WITHOUT ROWID;

-- Who is next, for one tool.
CREATE INDEX line_next ON line (tool, running, head);

-- Who comes before a given place, whatever the tool.
CREATE INDEX line_place ON line (running, head);

-- The lines of one owner, and the oldest in any.
CREATE INDEX line_owner ON line (owner, head);
CREATE INDEX line_head ON line (head);

-- How many tasks stand in all the lines.
ALTER TABLE counter ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;

-- The tasks in line, in the order of creation: of one tool's owner, and of one owner.
CREATE INDEX task_waits ON task (tool, owner) WHERE waits;
CREATE INDEX task_waits_owner ON task (owner) WHERE waits;

-- The held tasks of one owner.
CREATE INDEX task_held ON task (owner) WHERE lease_worker IS NOT NULL;

-- What was to run again if its lease ran out, by tool.
CREATE INDEX task_again ON task (tool, lease_until_ms)
    WHERE lease_until_ms IS NOT NULL AND attempt < max_attempts;

-- What was asked to stop and has left something running elsewhere: by tool, and longest first.
CREATE INDEX task_to_reach ON task (tool)
    WHERE ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}';
CREATE INDEX task_unreached ON task (cancel_asked_at_ms)
    WHERE ended_at_ms IS NULL AND cancel_asked_at_ms IS NOT NULL AND journal <> '{}';

DROP INDEX task_claimable;

-- Most tasks never stand in line, so what they cost here is one look for a line of their owner.
CREATE TRIGGER line_after_held_insert AFTER INSERT ON task WHEN NEW.lease_worker IS NOT NULL
BEGIN
    UPDATE line SET running = running + 1 WHERE owner = NEW.owner;
END;

CREATE TRIGGER line_after_held_update AFTER UPDATE OF lease_worker ON task
WHEN (NEW.lease_worker IS NULL) <> (OLD.lease_worker IS NULL) AND NEW.waits = OLD.waits
BEGIN
    UPDATE line
        SET running = running + (NEW.lease_worker IS NOT NULL) - (OLD.lease_worker IS NOT NULL)
        WHERE owner = NEW.owner;
END;

CREATE TRIGGER line_after_insert AFTER INSERT ON task WHEN NEW.waits
BEGIN
    INSERT INTO line (tool, owner, waiting, head, running)
        SELECT NEW.tool, NEW.owner, 1, NEW.ordinal,
            (SELECT count(*) FROM task WHERE owner = NEW.owner AND lease_worker IS NOT NULL)
        WHERE true
        ON CONFLICT (tool, owner) DO UPDATE SET
            waiting = waiting + 1, head = min(head, excluded.head);
    UPDATE counter SET waiting = waiting + 1;
END;

CREATE TRIGGER line_after_update
AFTER UPDATE OF lease_worker, ended_at_ms, cancel_asked_at_ms, attempt ON task
WHEN NEW.waits <> OLD.waits
BEGIN
    UPDATE line
        SET running = running + (NEW.lease_worker IS NOT NULL) - (OLD.lease_worker IS NOT NULL)
        WHERE owner = NEW.owner;
    UPDATE line SET
        waiting = waiting - 1,
        head = coalesce(
            (
                SELECT task.ordinal FROM task
                WHERE task.tool = NEW.tool AND task.owner = NEW.owner AND task.waits
                ORDER BY task.ordinal LIMIT 1
            ),
            head
        )
        WHERE tool = NEW.tool AND owner = NEW.owner AND OLD.waits;
    DELETE FROM line WHERE tool = NEW.tool AND owner = NEW.owner AND waiting = 0;
    INSERT INTO line (tool, owner, waiting, head, running)
        SELECT NEW.tool, NEW.owner, 1, NEW.ordinal,
            (SELECT count(*) FROM task WHERE owner = NEW.owner AND lease_worker IS NOT NULL)
        WHERE NEW.waits
        ON CONFLICT (tool, owner) DO UPDATE SET
            waiting = waiting + 1, head = min(head, excluded.head);
    UPDATE counter SET waiting = waiting + NEW.waits - OLD.waits;
END;

CREATE TRIGGER line_after_delete AFTER DELETE ON task
WHEN OLD.waits OR OLD.lease_worker IS NOT NULL
BEGIN
    UPDATE line SET running = running - 1 WHERE owner = OLD.owner AND OLD.lease_worker IS NOT NULL;
    UPDATE line SET
        waiting = waiting - 1,
        head = coalesce(
            (
                SELECT task.ordinal FROM task
                WHERE task.tool = OLD.tool AND task.owner = OLD.owner AND task.waits
                ORDER BY task.ordinal LIMIT 1
            ),
            head
        )
        WHERE tool = OLD.tool AND owner = OLD.owner AND OLD.waits;
    DELETE FROM line WHERE tool = OLD.tool AND owner = OLD.owner AND waiting = 0;
    UPDATE counter SET waiting = waiting - 1 WHERE OLD.waits;
END;

-- What a store of the version before has in line already.
INSERT INTO line (tool, owner, waiting, head, running)
SELECT
    tool, owner, count(*), min(ordinal),
    (
        SELECT count(*) FROM task AS held
        WHERE held.owner = task.owner AND held.lease_worker IS NOT NULL
    )
FROM task WHERE waits GROUP BY tool, owner;
UPDATE counter SET waiting = (SELECT count(*) FROM task WHERE waits);

DROP VIEW task_row;
CREATE VIEW task_row AS
SELECT
    ordinal, history_seq,
    task_id, owner, tool, arguments, context, request_key, status, status_message, created_at_ms,
    last_updated_at_ms, ended_at_ms, keep_ms, result, is_error, error, lease_worker,
    lease_until_ms, generation, attempt, max_attempts, cancel_asked_at_ms, cancel_reason,
    stopped_at_ms, stopped_how, progress, steps, inputs, journal, unobserved_ms, looked_at_ms, rev
FROM task;

-- The same without the result, which may be megabytes.
CREATE VIEW task_brief AS
SELECT
    ordinal, history_seq,
    task_id, owner, tool, arguments, context, request_key, status, status_message, created_at_ms,
    last_updated_at_ms, ended_at_ms, keep_ms, NULL AS result, is_error, error, lease_worker,
    lease_until_ms, generation, attempt, max_attempts, cancel_asked_at_ms, cancel_reason,
    stopped_at_ms, stopped_how, progress, steps, inputs, journal, unobserved_ms, looked_at_ms, rev
FROM task;
