-- Teams of developers, which own clients and subscriptions.
CREATE TABLE teams (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    standing BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revision BIGINT NOT NULL
);
CREATE INDEX teams_by_created_at ON teams (created_at, id);

-- Roles: 0 member, 1 owner.
CREATE TABLE team_members (
    team_id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    role BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, account_id)
);
CREATE INDEX team_members_by_account ON team_members (account_id, team_id);

-- What teams ask for. States: 0 pending, 1 approved, 2 refused, 3 withdrawn.
CREATE TABLE requests (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL,
    details TEXT COLLATE "C" NOT NULL,
    state BIGINT NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    asked_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    decided_by TEXT COLLATE "C",
    decided_at BIGINT,
    reason TEXT COLLATE "C" NOT NULL,
    result TEXT COLLATE "C",
    revision BIGINT NOT NULL
);
CREATE INDEX requests_by_created_at ON requests (created_at, id);
CREATE INDEX requests_by_state ON requests (state, created_at, id);
CREATE INDEX requests_by_team ON requests (team_id, state, created_at, id);

-- Null: no team. Everything that exists opens real tenants.
ALTER TABLE clients ADD COLUMN team_id TEXT COLLATE "C";
ALTER TABLE clients ADD COLUMN sandbox BIGINT NOT NULL DEFAULT 0;
CREATE INDEX clients_by_team ON clients (team_id) WHERE team_id IS NOT NULL;
ALTER TABLE subscriptions ADD COLUMN team_id TEXT COLLATE "C";
ALTER TABLE subscriptions ADD COLUMN sandbox BIGINT NOT NULL DEFAULT 0;
CREATE INDEX subscriptions_by_team ON subscriptions (team_id) WHERE team_id IS NOT NULL;
