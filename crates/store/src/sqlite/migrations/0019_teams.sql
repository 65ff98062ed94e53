-- Teams of developers, which own clients and subscriptions.
CREATE TABLE teams (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    standing INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX teams_by_created_at ON teams (created_at, id);

-- Roles: 0 member, 1 owner.
CREATE TABLE team_members (
    team_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    role INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team_id, account_id)
) WITHOUT ROWID;
CREATE INDEX team_members_by_account ON team_members (account_id, team_id);

-- What teams ask for. States: 0 pending, 1 approved, 2 refused, 3 withdrawn.
CREATE TABLE requests (
    id TEXT NOT NULL PRIMARY KEY,
    team_id TEXT NOT NULL,
    details TEXT NOT NULL,
    state INTEGER NOT NULL,
    note TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    reason TEXT NOT NULL,
    result TEXT,
    revision INTEGER NOT NULL
);
CREATE INDEX requests_by_created_at ON requests (created_at, id);
CREATE INDEX requests_by_state ON requests (state, created_at, id);
CREATE INDEX requests_by_team ON requests (team_id, state, created_at, id);

-- Null: no team. Everything that exists opens real tenants.
ALTER TABLE clients ADD COLUMN team_id TEXT;
ALTER TABLE clients ADD COLUMN sandbox INTEGER NOT NULL DEFAULT 0;
CREATE INDEX clients_by_team ON clients (team_id) WHERE team_id IS NOT NULL;
ALTER TABLE subscriptions ADD COLUMN team_id TEXT;
ALTER TABLE subscriptions ADD COLUMN sandbox INTEGER NOT NULL DEFAULT 0;
CREATE INDEX subscriptions_by_team ON subscriptions (team_id) WHERE team_id IS NOT NULL;
