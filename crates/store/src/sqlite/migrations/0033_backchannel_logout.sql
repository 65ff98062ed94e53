-- The clients that got an id_token in a session: they are told when it ends. No backup contains sessions that go on.
CREATE TABLE session_clients (
    -- The id of the session, as its owner sees it.
    session_id BLOB NOT NULL,
    client_id TEXT NOT NULL,
    -- When the session expires.
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, client_id)
) WITHOUT ROWID;
CREATE INDEX session_clients_by_expires_at ON session_clients (expires_at);

-- Back-channel logouts: a client has yet to be told, or was told, that a session has ended.
CREATE TABLE logouts (
    id BLOB NOT NULL PRIMARY KEY,
    client_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- Attempts that have started.
    attempts INTEGER NOT NULL,
    -- When the next attempt is due.
    next_at INTEGER NOT NULL,
    -- Until then one node alone may send it; 0: no node has it.
    leased_until INTEGER NOT NULL,
    last_error TEXT NOT NULL,
    -- When the last attempt was made.
    ended_at INTEGER,
    -- 0 waiting, 1 delivered, 2 failed.
    state INTEGER NOT NULL,
    -- No attempt is made from here on.
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX logouts_by_next_at ON logouts (next_at) WHERE ended_at IS NULL;
CREATE INDEX logouts_by_client ON logouts (client_id, created_at);
CREATE INDEX logouts_by_expires_at ON logouts (expires_at);
