-- What an application wants to be told of. Secrets are sealed; `fingerprint` stands for the body by which a live one is
-- found again. Everything up to `cursor` is delivered, parked in a lane, or none of its business; null: before the
-- first acceptance; `began` is the first one. `moved` is the number of its last change, `replays` that of its last replay.
CREATE TABLE webhooks (
    tenant_no BIGINT NOT NULL,
    id BYTEA NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    resource BIGINT NOT NULL,
    kinds BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    secret BYTEA NOT NULL,
    old_secret BYTEA,
    old_secret_until BIGINT,
    doubt TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    handshake BIGINT NOT NULL,
    handshake_at BIGINT NOT NULL,
    handshake_accepted BIGINT NOT NULL,
    handshake_attempts BIGINT,
    handshake_failed_at BIGINT,
    handshake_next_at BIGINT,
    disabled_at BIGINT,
    disabled_why TEXT COLLATE "C",
    unsubscribed_at BIGINT,
    deleted_at BIGINT,
    revision BIGINT NOT NULL,
    cursor BIGINT,
    began BIGINT,
    lost_at BIGINT,
    lost_after BIGINT,
    lost_upto BIGINT,
    shard BIGINT NOT NULL,
    moved BIGINT NOT NULL,
    replays BIGINT NOT NULL,
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
    no BIGINT NOT NULL PRIMARY KEY,
    moved BIGINT NOT NULL
);

-- Records whose next event could not be delivered yet.
CREATE TABLE lanes (
    tenant_no BIGINT NOT NULL,
    webhook BYTEA NOT NULL,
    record_key BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    first_failed_at BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, webhook, record_key)
);

-- Attempts that failed, and those that are worth a row though they succeeded. Spans are in nanoseconds.
CREATE TABLE attempts (
    tenant_no BIGINT NOT NULL,
    webhook BYTEA NOT NULL,
    at BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    occasion BIGINT NOT NULL,
    number BIGINT NOT NULL,
    handshake BIGINT NOT NULL,
    status BIGINT,
    succeeded BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    excerpt TEXT COLLATE "C" NOT NULL,
    resolve_ns BIGINT NOT NULL,
    connect_ns BIGINT NOT NULL,
    tls_ns BIGINT NOT NULL,
    wait_ns BIGINT NOT NULL,
    total_ns BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, webhook, at, sequence, occasion, number)
);
CREATE INDEX attempts_by_sequence ON attempts (tenant_no, webhook, sequence, at);
CREATE INDEX attempts_by_at ON attempts (at);

-- Deliveries that succeeded, packed: (sequence, time, status, milliseconds) of `events` of them.
CREATE TABLE delivered (
    tenant_no BIGINT NOT NULL,
    webhook BYTEA NOT NULL,
    last_at BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    first_sequence BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    events BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (tenant_no, webhook, last_at, last_sequence, first_sequence)
);
CREATE INDEX delivered_by_sequence ON delivered (tenant_no, webhook, last_sequence, first_sequence);
CREATE INDEX delivered_by_last_at ON delivered (last_at);

-- Deliveries that somebody asked for again.
CREATE TABLE replays (
    tenant_no BIGINT NOT NULL,
    webhook BYTEA NOT NULL,
    number BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    after_sequence BIGINT NOT NULL,
    upto_sequence BIGINT NOT NULL,
    position BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    is_done BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, webhook, number)
);
CREATE INDEX replays_by_asked_at ON replays (asked_at) WHERE is_done = 1;

-- Which node works on which webhooks, and until when; `fence` counts the times that a shard was taken.
CREATE TABLE shard_leases (
    shard BIGINT NOT NULL PRIMARY KEY,
    holder BYTEA,
    fence BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Their rows change all the time, but for what is indexed: room beside each keeps the indexes out of it.
ALTER TABLE webhooks SET (fillfactor = 50);
ALTER TABLE shard_leases SET (fillfactor = 25);
INSERT INTO shard_leases (shard, fence, expires_at) SELECT shard, 0, 0 FROM generate_series(0, 255) AS shard;
