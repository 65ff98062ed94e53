-- What an application wants to be told of. Secrets are sealed; `fingerprint` stands for the body by which a live one is
-- found again. Everything up to `cursor` is delivered, parked in a lane, or none of its business; null: before the
-- first acceptance; `began` is the first one. `moved` is the number of its last change, `replays` that of its last replay.
CREATE TABLE webhooks (
    tenant_no INTEGER NOT NULL,
    id BLOB NOT NULL,
    client_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    resource INTEGER NOT NULL,
    kinds INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    url TEXT NOT NULL,
    secret BLOB NOT NULL,
    old_secret BLOB,
    old_secret_until INTEGER,
    doubt TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    handshake INTEGER NOT NULL,
    handshake_at INTEGER NOT NULL,
    handshake_accepted INTEGER NOT NULL,
    handshake_attempts INTEGER,
    handshake_failed_at INTEGER,
    handshake_next_at INTEGER,
    disabled_at INTEGER,
    disabled_why TEXT,
    unsubscribed_at INTEGER,
    deleted_at INTEGER,
    revision INTEGER NOT NULL,
    cursor INTEGER,
    began INTEGER,
    lost_at INTEGER,
    lost_after INTEGER,
    lost_upto INTEGER,
    shard INTEGER NOT NULL,
    moved INTEGER NOT NULL,
    replays INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, id)
);
CREATE UNIQUE INDEX webhooks_by_id ON webhooks (id);
CREATE UNIQUE INDEX webhooks_by_fingerprint ON webhooks (tenant_no, fingerprint)
    WHERE unsubscribed_at IS NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_by_owner ON webhooks (tenant_no, client_id, created_at, id);
CREATE INDEX webhooks_by_created_at ON webhooks (created_at, id);
CREATE INDEX webhooks_by_shard ON webhooks (shard, id) WHERE unsubscribed_at IS NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_live ON webhooks (tenant_no, client_id) WHERE unsubscribed_at IS NULL AND deleted_at IS NULL;
CREATE INDEX webhooks_by_moved ON webhooks (moved);

-- The last number of a change of any webhook; its row is held until the change is committed, so that numbers are in
-- the order of the commits.
CREATE TABLE webhook_moves (
    no INTEGER NOT NULL PRIMARY KEY,
    moved INTEGER NOT NULL
);

-- Records whose next event could not be delivered yet.
CREATE TABLE lanes (
    tenant_no INTEGER NOT NULL,
    webhook BLOB NOT NULL,
    record_key INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    first_failed_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, webhook, record_key)
) WITHOUT ROWID;

-- Attempts that failed, and those that are worth a row though they succeeded. Spans are in nanoseconds.
CREATE TABLE attempts (
    tenant_no INTEGER NOT NULL,
    webhook BLOB NOT NULL,
    at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    occasion INTEGER NOT NULL,
    number INTEGER NOT NULL,
    handshake INTEGER NOT NULL,
    status INTEGER,
    succeeded INTEGER NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    resolve_ns INTEGER NOT NULL,
    connect_ns INTEGER NOT NULL,
    tls_ns INTEGER NOT NULL,
    wait_ns INTEGER NOT NULL,
    total_ns INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, webhook, at, sequence, occasion, number)
);
CREATE INDEX attempts_by_sequence ON attempts (tenant_no, webhook, sequence, at);
CREATE INDEX attempts_by_at ON attempts (at);

-- Deliveries that succeeded, packed: (sequence, time, status, milliseconds) of `events` of them.
CREATE TABLE delivered (
    tenant_no INTEGER NOT NULL,
    webhook BLOB NOT NULL,
    last_at INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    first_sequence INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    events INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (tenant_no, webhook, last_at, last_sequence, first_sequence)
);
CREATE INDEX delivered_by_sequence ON delivered (tenant_no, webhook, last_sequence, first_sequence);
CREATE INDEX delivered_by_last_at ON delivered (last_at);

-- Deliveries that somebody asked for again.
CREATE TABLE replays (
    tenant_no INTEGER NOT NULL,
    webhook BLOB NOT NULL,
    number INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    after_sequence INTEGER NOT NULL,
    upto_sequence INTEGER NOT NULL,
    position INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    is_done INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, webhook, number)
) WITHOUT ROWID;
CREATE INDEX replays_by_asked_at ON replays (asked_at) WHERE is_done = 1;

-- Which node works on which webhooks, and until when; `fence` counts the times that a shard was taken.
CREATE TABLE shard_leases (
    shard INTEGER NOT NULL PRIMARY KEY,
    holder BLOB,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
WITH RECURSIVE numbers (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM numbers WHERE shard < 255)
INSERT INTO shard_leases (shard, fence, expires_at) SELECT shard, 0, 0 FROM numbers;
