-- The newest calls of each subscription. Numbers grow in the order of recording, over all subscriptions.
CREATE TABLE call_log (
    subscription_id TEXT NOT NULL,
    no INTEGER NOT NULL,
    at INTEGER NOT NULL,
    method TEXT NOT NULL,
    route TEXT NOT NULL,
    status INTEGER NOT NULL,
    latency_us INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    client_id TEXT,
    tenant_id TEXT,
    refusal TEXT,
    PRIMARY KEY (subscription_id, no)
) WITHOUT ROWID;
CREATE INDEX call_log_by_at ON call_log (at);

-- The last number of the log of calls: one row.
CREATE TABLE call_log_head (
    no INTEGER NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO call_log_head (no, last) VALUES (0, 0);

-- Counts for charts. Resolutions: 1 minute, 2 hour; starts count minutes or hours from the first of year 1.
CREATE TABLE figures (
    resolution INTEGER NOT NULL,
    start INTEGER NOT NULL,
    series BLOB NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (resolution, start, series)
) WITHOUT ROWID;
