-- Named tokens of the operator's API. Roles: 0 viewer, 1 support, 2 admin.
CREATE TABLE operator_tokens (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    role BIGINT NOT NULL,
    -- A keyed hash of the secret.
    hash BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- Who added it, as the audit names them.
    created_by TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX operator_tokens_by_hash ON operator_tokens (hash);
CREATE UNIQUE INDEX operator_tokens_by_name ON operator_tokens (name) WHERE revoked_at IS NULL;
CREATE INDEX operator_tokens_by_created_at ON operator_tokens (created_at, id);
