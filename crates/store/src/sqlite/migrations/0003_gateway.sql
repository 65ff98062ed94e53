-- Null: as many calls a day as the configuration says.
ALTER TABLE subscriptions ADD COLUMN daily_quota INTEGER;
ALTER TABLE subscriptions ADD COLUMN cancelled_at INTEGER;
ALTER TABLE subscription_keys ADD COLUMN last_used_at INTEGER;

-- What each subscription called, day by day; days count from the first of year 1.
CREATE TABLE calls (
    subscription_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    route TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (subscription_id, day, route)
) WITHOUT ROWID;
CREATE INDEX calls_by_day ON calls (day);

-- The programs that work on this store, and when each was last heard of.
CREATE TABLE nodes (
    id BLOB NOT NULL PRIMARY KEY,
    seen_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Rows of this length belong into a table with row numbers: without, SQLite puts whole rows into the inner pages of
-- the tree too, and a page of records costs twice the reads.
CREATE TABLE numbered_records (
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    correlation_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    version INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_no, company_no, resource, ordinal)
);
INSERT INTO numbered_records SELECT tenant_no, company_no, resource, ordinal, correlation_id, state, version, sequence, body
    FROM records ORDER BY tenant_no, company_no, resource, ordinal;
DROP TABLE records;
ALTER TABLE numbered_records RENAME TO records;
CREATE UNIQUE INDEX records_by_id ON records (tenant_no, correlation_id, company_no, resource);
