-- A copy of the key, sealed under the master key, for the team that owns the subscription. Null: the key was made before
-- this schema, or was replaced.
ALTER TABLE subscription_keys ADD COLUMN sealed BLOB;

-- What a team owns, in the order of its lists.
DROP INDEX clients_by_team;
CREATE INDEX clients_by_team ON clients (team_id, created_at, id) WHERE team_id IS NOT NULL;
DROP INDEX subscriptions_by_team;
CREATE INDEX subscriptions_by_team ON subscriptions (team_id, created_at, id) WHERE team_id IS NOT NULL;
CREATE INDEX webhooks_by_client ON webhooks (client_id, created_at, id);
