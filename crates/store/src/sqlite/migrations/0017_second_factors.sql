-- Authenticator apps (kind 0) and passkeys (kind 1).
CREATE TABLE second_factors (
    id BLOB NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    realm INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    -- Keyed: of the account and its secret, or of the realm and the credential id.
    hash BLOB NOT NULL,
    -- The secret or the credential, sealed with the master key for this account.
    sealed BLOB NOT NULL,
    -- The time step of the last code, or the passkey's sign count.
    counter INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX second_factors_by_hash ON second_factors (hash);
CREATE INDEX second_factors_by_account ON second_factors (account_id, created_at, id);

-- Keyed hashes; a code that is used is deleted.
CREATE TABLE recovery_codes (
    hash BLOB NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX recovery_codes_by_account ON recovery_codes (account_id);

-- Challenges of passkey ceremonies that have been answered: none is accepted twice.
CREATE TABLE used_challenges (
    hash BLOB NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX used_challenges_by_expires_at ON used_challenges (expires_at);
