-- Notices of endings: what the webhook has still to be told.

-- Whether anybody is to be told (`Notifies.note_endings`).
ALTER TABLE awhile.store ADD COLUMN notices boolean NOT NULL DEFAULT false;

CREATE TABLE awhile.notice (
    ordinal bigint PRIMARY KEY REFERENCES awhile.task ON DELETE CASCADE,
    due_ms  bigint NOT NULL,
    tries   bigint NOT NULL
);

-- What is due, longest first.
CREATE INDEX notice_due ON awhile.notice (due_ms);

-- In the transaction that ends the task, whichever process and version that is.
CREATE FUNCTION awhile.keep_notice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO awhile.notice (ordinal, due_ms, tries)
        SELECT NEW.ordinal, NEW.ended_at_ms, 0 FROM awhile.store WHERE notices
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER notice_after_end AFTER UPDATE OF ended_at_ms ON awhile.task FOR EACH ROW
WHEN (OLD.ended_at_ms IS NULL AND NEW.ended_at_ms IS NOT NULL)
EXECUTE FUNCTION awhile.keep_notice();
