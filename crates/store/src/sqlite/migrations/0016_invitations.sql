-- Invitations to accounts. Who is invited gets the tenants (users), the role (operators) or the team (developers).
CREATE TABLE invitations (
    id TEXT NOT NULL PRIMARY KEY,
    realm INTEGER NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    lang TEXT NOT NULL,
    -- A JSON array of tenant ids.
    tenants TEXT NOT NULL,
    role INTEGER,
    team TEXT NOT NULL,
    team_owner INTEGER NOT NULL,
    invited_by_kind TEXT NOT NULL,
    invited_by_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    accepted_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE INDEX invitations_by_created_at ON invitations (created_at, id);
CREATE INDEX invitations_by_expires_at ON invitations (expires_at);
-- An address has one invitation that is neither accepted nor revoked.
CREATE UNIQUE INDEX invitations_by_email ON invitations (realm, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- The one-time links. No backup contains them, so that a restore makes all of them void.
CREATE TABLE invitation_links (
    hash BLOB NOT NULL PRIMARY KEY,
    invitation_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX invitation_links_by_invitation ON invitation_links (invitation_id);
CREATE INDEX invitation_links_by_expires_at ON invitation_links (expires_at);
CREATE TABLE password_resets (
    hash BLOB NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX password_resets_by_account ON password_resets (account_id);
CREATE INDEX password_resets_by_expires_at ON password_resets (expires_at);
