-- The number of the row's last update, for compare-and-set.
ALTER TABLE tenants ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE users ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE clients ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
ALTER TABLE subscriptions ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

-- Lists are read page by page in order of creation.
CREATE INDEX tenants_by_created_at ON tenants (created_at, id);
CREATE INDEX users_by_created_at ON users (created_at, id);
CREATE INDEX clients_by_created_at ON clients (created_at, id);
CREATE INDEX subscriptions_by_created_at ON subscriptions (created_at, id);
CREATE INDEX memberships_by_created_at ON memberships (user_id, created_at, id);
