-- Authenticator apps (kind 0) and passkeys (kind 1).
CREATE TABLE second_factors (
    id BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    realm BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    -- Keyed: of the account and its secret, or of the realm and the credential id.
    hash BYTEA NOT NULL,
    -- The secret or the credential, sealed with the master key for this account.
    sealed BYTEA NOT NULL,
    -- The time step of the last code, or the passkey's sign count.
    counter BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE UNIQUE INDEX second_factors_by_hash ON second_factors (hash);
CREATE INDEX second_factors_by_account ON second_factors (account_id, created_at, id);

-- Keyed hashes; a code that is used is deleted.
CREATE TABLE recovery_codes (
    hash BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL
);
CREATE INDEX recovery_codes_by_account ON recovery_codes (account_id);

-- Challenges of passkey ceremonies that have been answered: none is accepted twice.
CREATE TABLE used_challenges (
    hash BYTEA NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX used_challenges_by_expires_at ON used_challenges (expires_at);
