-- Null: as many calls a day as the configuration says.
ALTER TABLE subscriptions ADD COLUMN daily_quota BIGINT;
ALTER TABLE subscriptions ADD COLUMN cancelled_at BIGINT;
ALTER TABLE subscription_keys ADD COLUMN last_used_at BIGINT;

-- What each subscription called, day by day; days count from the first of year 1.
CREATE TABLE calls (
    subscription_id TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    route TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    PRIMARY KEY (subscription_id, day, route)
);
CREATE INDEX calls_by_day ON calls (day);

-- The programs that work on this store, and when each was last heard of.
CREATE TABLE nodes (
    id BYTEA NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
