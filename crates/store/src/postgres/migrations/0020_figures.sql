-- The newest calls of each subscription. Numbers grow in the order of recording, over all subscriptions.
CREATE TABLE call_log (
    subscription_id TEXT COLLATE "C" NOT NULL,
    no BIGINT NOT NULL,
    at BIGINT NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    route TEXT COLLATE "C" NOT NULL,
    status BIGINT NOT NULL,
    latency_us BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C",
    tenant_id TEXT COLLATE "C",
    refusal TEXT COLLATE "C",
    PRIMARY KEY (subscription_id, no)
);
CREATE INDEX call_log_by_at ON call_log (at);

-- The last number of the log of calls: one row.
CREATE TABLE call_log_head (
    no BIGINT NOT NULL PRIMARY KEY,
    last BIGINT NOT NULL
);
INSERT INTO call_log_head (no, last) VALUES (0, 0);

-- Counts for charts. Resolutions: 1 minute, 2 hour; starts count minutes or hours from the first of year 1.
CREATE TABLE figures (
    resolution BIGINT NOT NULL,
    start BIGINT NOT NULL,
    series BYTEA NOT NULL,
    counts BYTEA NOT NULL,
    PRIMARY KEY (resolution, start, series)
);
