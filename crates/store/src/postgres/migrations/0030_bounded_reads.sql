-- What one actor did, newest first; `audit_by_actor` finds what a kind of actors did. The kind is no column of it, so that
-- PostgreSQL has no other index for the same range.
CREATE INDEX audit_by_actor_id ON audit (actor_id, at, id) WHERE actor_id IS NOT NULL;

-- The tokens that one operator has made.
CREATE INDEX operator_tokens_by_creator ON operator_tokens (created_by, created_at, id);

-- The applications that a tenant's users have authorized.
CREATE INDEX authorizations_by_tenant ON authorizations (tenant_id, client_id) WHERE ended_at IS NULL;
