-- Named tokens of the operator's API. Roles: 0 viewer, 1 support, 2 admin.
CREATE TABLE operator_tokens (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    role INTEGER NOT NULL,
    -- A keyed hash of the secret.
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- Who added it, as the audit names them.
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX operator_tokens_by_hash ON operator_tokens (hash);
CREATE UNIQUE INDEX operator_tokens_by_name ON operator_tokens (name) WHERE revoked_at IS NULL;
CREATE INDEX operator_tokens_by_created_at ON operator_tokens (created_at, id);
