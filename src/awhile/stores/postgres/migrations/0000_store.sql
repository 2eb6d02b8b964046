-- What has to be known before anything else: which schema this is, and who may use it.
CREATE TABLE awhile.store (
    only_row    bigint PRIMARY KEY CHECK (only_row = 1),
    version     bigint NOT NULL,  -- the number of the last migration
    min_version bigint NOT NULL,  -- the oldest code that can use it, by the migration it knows
    rev_base    bigint NOT NULL   -- added to every rev; see `move_revs` in queries.sql
);
INSERT INTO awhile.store (only_row, version, min_version, rev_base) VALUES (1, 0, 0, 0);
