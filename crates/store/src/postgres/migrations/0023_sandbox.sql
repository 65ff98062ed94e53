-- A tenant that is the sandbox of a team. Null: a customer of the operator.
ALTER TABLE tenants ADD COLUMN sandbox_team TEXT COLLATE "C";
CREATE UNIQUE INDEX tenants_by_sandbox_team ON tenants (sandbox_team) WHERE sandbox_team IS NOT NULL;

-- The sandbox of each team, its user, and its built-in receiver. Modes: 0 accept, 1 fail, 2 hang, 3 refuse.
CREATE TABLE sandboxes (
    team_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    tenant_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    password BYTEA NOT NULL,
    receiver BYTEA NOT NULL,
    receiver_mode BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    loaded_at BIGINT,
    events_day BIGINT NOT NULL,
    events BIGINT NOT NULL,
    received BIGINT NOT NULL
);
CREATE UNIQUE INDEX sandboxes_by_user ON sandboxes (user_id);
CREATE UNIQUE INDEX sandboxes_by_receiver ON sandboxes (receiver);

-- The newest requests that the built-in receiver of each team got.
CREATE TABLE received_requests (
    team_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    webhook BYTEA,
    event TEXT COLLATE "C" NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    headers TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    problem TEXT COLLATE "C" NOT NULL,
    verified TEXT COLLATE "C" NOT NULL,
    status BIGINT,
    PRIMARY KEY (team_id, number)
);
