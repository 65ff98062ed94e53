-- Invitations to accounts. Who is invited gets the tenants (users), the role (operators) or the team (developers).
CREATE TABLE invitations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    realm BIGINT NOT NULL,
    email TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    -- A JSON array of tenant ids.
    tenants TEXT COLLATE "C" NOT NULL,
    role BIGINT,
    team TEXT COLLATE "C" NOT NULL,
    team_owner BIGINT NOT NULL,
    invited_by_kind TEXT COLLATE "C" NOT NULL,
    invited_by_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX invitations_by_created_at ON invitations (created_at, id);
CREATE INDEX invitations_by_expires_at ON invitations (expires_at);
-- An address has one invitation that is neither accepted nor revoked.
CREATE UNIQUE INDEX invitations_by_email ON invitations (realm, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- The one-time links. No backup contains them, so that a restore makes all of them void.
CREATE TABLE invitation_links (
    hash BYTEA NOT NULL PRIMARY KEY,
    invitation_id TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX invitation_links_by_invitation ON invitation_links (invitation_id);
CREATE INDEX invitation_links_by_expires_at ON invitation_links (expires_at);
CREATE TABLE password_resets (
    hash BYTEA NOT NULL PRIMARY KEY,
    account_id TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX password_resets_by_account ON password_resets (account_id);
CREATE INDEX password_resets_by_expires_at ON password_resets (expires_at);
