-- What teams are told about. `since` is when it began, or when it ends; one fact makes one notice. Null `mailed_at`: the mails
-- to the members are not queued yet.
CREATE TABLE notices (
    id BLOB NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    object TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    detail TEXT NOT NULL,
    since INTEGER NOT NULL,
    at INTEGER NOT NULL,
    mailed_at INTEGER
) WITHOUT ROWID;
CREATE UNIQUE INDEX notices_by_cause ON notices (team_id, kind, subject, since);
CREATE INDEX notices_by_team ON notices (team_id, at, id);
CREATE INDEX notices_by_at ON notices (at);
CREATE INDEX notices_unmailed ON notices (at, id) WHERE mailed_at IS NULL;

-- One bit for each kind of notice that the member wants no mail about; up to when the member has read the notices.
ALTER TABLE team_members ADD COLUMN muted_notices INTEGER NOT NULL DEFAULT 0;
ALTER TABLE team_members ADD COLUMN notices_read_at INTEGER;

-- What is found by its time: records that have failed for long, keys and secrets that end.
CREATE INDEX lanes_by_first_failed_at ON lanes (first_failed_at, webhook);
CREATE INDEX subscription_keys_by_valid_until ON subscription_keys (valid_until) WHERE valid_until IS NOT NULL;
CREATE INDEX clients_by_old_secret_until ON clients (old_secret_until) WHERE old_secret_until IS NOT NULL;

-- The open invitations of a team.
CREATE INDEX invitations_by_team ON invitations (team, created_at, id) WHERE team <> '';
