-- The clients that got an id_token in a session: they are told when it ends. No backup contains sessions that go on.
CREATE TABLE session_clients (
    -- The id of the session, as its owner sees it.
    session_id BYTEA NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    -- When the session expires.
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (session_id, client_id)
);
CREATE INDEX session_clients_by_expires_at ON session_clients (expires_at);

-- Back-channel logouts: a client has yet to be told, or was told, that a session has ended.
CREATE TABLE logouts (
    id BYTEA NOT NULL PRIMARY KEY,
    client_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    session_id BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- Attempts that have started.
    attempts BIGINT NOT NULL,
    -- When the next attempt is due.
    next_at BIGINT NOT NULL,
    -- Until then one node alone may send it; 0: no node has it.
    leased_until BIGINT NOT NULL,
    last_error TEXT COLLATE "C" NOT NULL,
    -- When the last attempt was made.
    ended_at BIGINT,
    -- 0 waiting, 1 delivered, 2 failed.
    state BIGINT NOT NULL,
    -- No attempt is made from here on.
    expires_at BIGINT NOT NULL
);
CREATE INDEX logouts_by_next_at ON logouts (next_at) WHERE ended_at IS NULL;
CREATE INDEX logouts_by_client ON logouts (client_id, created_at);
CREATE INDEX logouts_by_expires_at ON logouts (expires_at);
