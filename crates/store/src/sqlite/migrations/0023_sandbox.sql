-- A tenant that is the sandbox of a team. Null: a customer of the operator.
ALTER TABLE tenants ADD COLUMN sandbox_team TEXT;
CREATE UNIQUE INDEX tenants_by_sandbox_team ON tenants (sandbox_team) WHERE sandbox_team IS NOT NULL;

-- The sandbox of each team, its user, and its built-in receiver. Modes: 0 accept, 1 fail, 2 hang, 3 refuse.
CREATE TABLE sandboxes (
    team_id TEXT NOT NULL PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    password BLOB NOT NULL,
    receiver BLOB NOT NULL,
    receiver_mode INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    loaded_at INTEGER,
    events_day INTEGER NOT NULL,
    events INTEGER NOT NULL,
    received INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX sandboxes_by_user ON sandboxes (user_id);
CREATE UNIQUE INDEX sandboxes_by_receiver ON sandboxes (receiver);

-- The newest requests that the built-in receiver of each team got.
CREATE TABLE received_requests (
    team_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    webhook BLOB,
    event TEXT NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    problem TEXT NOT NULL,
    verified TEXT NOT NULL,
    status INTEGER,
    PRIMARY KEY (team_id, number)
) WITHOUT ROWID;
