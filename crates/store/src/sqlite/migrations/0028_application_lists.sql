-- Searches for the beginning of a name, and lists of one state, in the order of their pages. States are expressions, so that
-- only a list of one state uses these indexes.
CREATE INDEX teams_by_name ON teams (lower(name), id);
CREATE INDEX teams_by_standing ON teams ((standing * 1), created_at, id);
CREATE INDEX clients_by_name ON clients (lower(name), id);
CREATE INDEX clients_by_standing ON clients ((standing * 1), created_at, id);
CREATE INDEX subscriptions_by_name ON subscriptions (lower(name), id);
CREATE INDEX subscriptions_by_standing ON subscriptions ((standing * 1), created_at, id) WHERE cancelled_at IS NULL;
CREATE INDEX subscriptions_cancelled ON subscriptions (created_at, id) WHERE cancelled_at IS NOT NULL;

-- How many people have authorized a client.
CREATE INDEX authorizations_by_client ON authorizations (client_id) WHERE ended_at IS NULL;
