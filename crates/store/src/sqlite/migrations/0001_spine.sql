-- Whole numbers, texts and bytes only, so that both stores mean the same. Times are ticks of 100 ns.
CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE tenants (
    no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    short_code TEXT NOT NULL,
    standing INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX tenants_by_id ON tenants (id);

-- The row that a change locks first. `head` is the last number given, `floor` the last one pruned.
CREATE TABLE heads (
    tenant_no INTEGER NOT NULL PRIMARY KEY,
    head INTEGER NOT NULL,
    floor INTEGER NOT NULL,
    version INTEGER NOT NULL
);

-- Tenants that were erased and still have rows.
CREATE TABLE erased_tenants (
    tenant_no INTEGER NOT NULL PRIMARY KEY
);

-- `company_no` is the ordinal of the company among the tenant's companies, 0 for the tenant's own records.
CREATE TABLE records (
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    correlation_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    version INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_no, company_no, resource, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX records_by_id ON records (tenant_no, correlation_id, company_no, resource);

CREATE TABLE collections (
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    next_ordinal INTEGER NOT NULL,
    live INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, company_no, resource)
) WITHOUT ROWID;

-- How many of each 1,024 ordinals are dead; a block without a row has no gaps.
CREATE TABLE gaps (
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    block INTEGER NOT NULL,
    dead INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, company_no, resource, block)
) WITHOUT ROWID;

-- Companies that were deleted and still have rows.
CREATE TABLE departed_companies (
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, company_no)
) WITHOUT ROWID;

-- What payroll's filter and order look at.
CREATE TABLE payroll_companies (
    tenant_no INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    code INTEGER NOT NULL,
    name TEXT NOT NULL,
    identifier TEXT NOT NULL,
    last_update INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX payroll_companies_by_code ON payroll_companies (tenant_no, code);
CREATE INDEX payroll_companies_by_last_update ON payroll_companies (tenant_no, last_update, code);

CREATE TABLE log (
    tenant_no INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    record_key INTEGER NOT NULL,
    version INTEGER NOT NULL,
    conversation BLOB NOT NULL,
    process BLOB NOT NULL,
    company TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    source_interface TEXT NOT NULL,
    source_action TEXT NOT NULL,
    changes TEXT,
    envelope INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, sequence)
) WITHOUT ROWID;
CREATE INDEX log_by_kind ON log (tenant_no, resource, kind, sequence, company_no);
CREATE INDEX log_by_record ON log (tenant_no, resource, record_key, sequence);

-- Idempotency keys of the changes door.
CREATE TABLE processes (
    tenant_no INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    line INTEGER NOT NULL,
    hash BLOB NOT NULL,
    process BLOB NOT NULL,
    tally TEXT NOT NULL,
    touched_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, idempotency_key)
) WITHOUT ROWID;
CREATE INDEX processes_by_touched_at ON processes (touched_at);

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    email TEXT NOT NULL,
    given_name TEXT NOT NULL,
    lang TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    standing INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX users_by_email ON users (email);

CREATE TABLE memberships (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    modules TEXT NOT NULL,
    key_user_correlation_id BLOB NOT NULL,
    equipo_user_id TEXT NOT NULL,
    second_client_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX memberships_by_user ON memberships (user_id, tenant_id);
CREATE INDEX memberships_by_tenant ON memberships (tenant_id);

CREATE TABLE clients (
    id TEXT NOT NULL PRIMARY KEY,
    guid BLOB NOT NULL,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,
    post_logout_uris TEXT NOT NULL,
    pkce INTEGER NOT NULL,
    consent INTEGER NOT NULL,
    callback_id_token INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    secret_hash BLOB NOT NULL,
    old_secret_hash BLOB,
    old_secret_until INTEGER
) WITHOUT ROWID;

CREATE TABLE subscriptions (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    products INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- A key in use has no `valid_until`; one that was replaced is valid until then.
CREATE TABLE subscription_keys (
    hash BLOB NOT NULL PRIMARY KEY,
    subscription_id TEXT NOT NULL,
    slot INTEGER NOT NULL,
    valid_until INTEGER
) WITHOUT ROWID;
CREATE INDEX subscription_keys_by_subscription ON subscription_keys (subscription_id, slot);

CREATE TABLE codes (
    hash BLOB NOT NULL PRIMARY KEY,
    client_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    details TEXT NOT NULL,
    used_at INTEGER,
    grant_id TEXT
) WITHOUT ROWID;
CREATE INDEX codes_by_expires_at ON codes (expires_at);

CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY,
    client_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    details TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX grants_by_user ON grants (user_id);
CREATE INDEX grants_by_tenant ON grants (tenant_id);
CREATE INDEX grants_by_revoked_at ON grants (revoked_at);
CREATE INDEX grants_by_expires_at ON grants (expires_at);

CREATE TABLE refresh_tokens (
    hash BLOB NOT NULL PRIMARY KEY,
    grant_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    successor BLOB
) WITHOUT ROWID;
CREATE INDEX refresh_tokens_by_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_by_expires_at ON refresh_tokens (expires_at);

CREATE TABLE signing_keys (
    kid TEXT NOT NULL PRIMARY KEY,
    sealed BLOB NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL,
    retired_at INTEGER
) WITHOUT ROWID;
