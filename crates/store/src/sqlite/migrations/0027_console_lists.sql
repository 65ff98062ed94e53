-- Lists of the console: rows in a state, and searches by the beginning of a name or an e-mail address. States are
-- expressions, so that only a list of one state uses these indexes.
CREATE INDEX accounts_by_standing ON accounts (realm, (standing * 1), created_at, id);
CREATE INDEX accounts_by_name ON accounts (realm, lower(given_name), id);
CREATE INDEX tenants_by_standing ON tenants ((standing * 1), created_at, id);
CREATE INDEX tenants_by_name ON tenants (lower(name), id);
CREATE INDEX invitations_by_address ON invitations (email);

-- The members of a tenant, and the authorizations of a user, page by page.
DROP INDEX memberships_by_tenant;
CREATE INDEX memberships_by_tenant ON memberships (tenant_id, created_at, id);
DROP INDEX authorizations_by_user;
CREATE INDEX authorizations_by_user ON authorizations (user_id, tenant_id, client_id);
