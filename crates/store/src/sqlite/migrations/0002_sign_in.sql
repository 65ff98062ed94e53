-- A browser in which somebody has signed in, by the keyed hash of its cookie.
CREATE TABLE sessions (
    hash BLOB NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    authenticated_at INTEGER NOT NULL,
    methods TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expires_at ON sessions (expires_at);

-- The operator's record: it outlives the users, tenants, clients and grants that it names.
CREATE TABLE audit (
    at INTEGER NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    user_id TEXT,
    tenant_id TEXT,
    client_id TEXT,
    grant_id TEXT,
    address TEXT NOT NULL,
    request_id TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (at, id)
) WITHOUT ROWID;
CREATE INDEX audit_by_user ON audit (user_id, at, id);
CREATE INDEX audit_by_tenant ON audit (tenant_id, at, id);
CREATE INDEX audit_by_client ON audit (client_id, at, id);
CREATE INDEX audit_by_kind ON audit (kind, at, id);

ALTER TABLE memberships ADD COLUMN last_used_at INTEGER;

ALTER TABLE grants ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;
UPDATE grants SET last_used_at = created_at;

ALTER TABLE codes ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE codes ADD COLUMN tenant_id TEXT NOT NULL DEFAULT '';
CREATE INDEX codes_by_user ON codes (user_id);
