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
