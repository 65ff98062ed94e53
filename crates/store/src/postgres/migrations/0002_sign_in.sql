-- A browser in which somebody has signed in, by the keyed hash of its cookie.
CREATE TABLE sessions (
    hash BYTEA NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    authenticated_at BIGINT NOT NULL,
    methods TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expires_at ON sessions (expires_at);

-- The operator's record: it outlives the users, tenants, clients and grants that it names.
CREATE TABLE audit (
    at BIGINT NOT NULL,
    id BYTEA NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    tenant_id TEXT COLLATE "C",
    client_id TEXT COLLATE "C",
    grant_id TEXT COLLATE "C",
    address TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (at, id)
);
CREATE INDEX audit_by_user ON audit (user_id, at, id);
CREATE INDEX audit_by_tenant ON audit (tenant_id, at, id);
CREATE INDEX audit_by_client ON audit (client_id, at, id);
CREATE INDEX audit_by_kind ON audit (kind, at, id);

ALTER TABLE memberships ADD COLUMN last_used_at BIGINT;

ALTER TABLE grants ADD COLUMN last_used_at BIGINT NOT NULL DEFAULT 0;
UPDATE grants SET last_used_at = created_at;

ALTER TABLE codes ADD COLUMN user_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE codes ADD COLUMN tenant_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX codes_by_user ON codes (user_id);
