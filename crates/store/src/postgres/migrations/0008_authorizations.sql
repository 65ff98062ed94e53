-- What a user has allowed an application for a tenant. It outlives its tokens; one that has ended stays as the reason.
-- `scopes` are names, separated by spaces.
CREATE TABLE authorizations (
    tenant_id TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    membership_id TEXT COLLATE "C" NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT,
    ended_why TEXT COLLATE "C",
    PRIMARY KEY (tenant_id, client_id, user_id)
);
CREATE INDEX authorizations_by_user ON authorizations (user_id);

ALTER TABLE memberships ADD COLUMN admin BIGINT NOT NULL DEFAULT 0;

-- Since when the webhook is suspended; null: it is not.
ALTER TABLE webhooks ADD COLUMN suspended_at BIGINT;

CREATE INDEX tenants_disabled ON tenants (id) WHERE standing = 0;
CREATE INDEX clients_disabled ON clients (id) WHERE standing = 0;

-- backfill: also run after the restore of a backup that is older than this schema.
INSERT INTO authorizations (tenant_id, client_id, user_id, membership_id, scopes, created_at)
SELECT a.tenant_id, a.client_id, a.user_id, m.id, string_agg(a.scopes, ' '), min(a.created_at)
FROM (SELECT tenant_id, client_id, user_id, scopes, min(created_at) AS created_at FROM (
    SELECT tenant_id, client_id, user_id,
        coalesce(substring(details from '"scope":"([^"]*)"'), '') AS scopes, created_at
    FROM grants o WHERE revoked_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM audit e
        WHERE e.user_id = o.user_id AND e.client_id = o.client_id AND e.tenant_id = o.tenant_id
        AND e.kind = 'revoked' AND e.note = 'withdrawn by the user' AND e.at >= o.created_at)
    UNION ALL
    SELECT t.id, w.client_id, w.user_id,
        CASE WHEN w.resource BETWEEN 11 AND 18 THEN 'SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks'
            WHEN w.resource < 40 THEN 'SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks' ELSE 'SVC.ES.Webhooks' END,
        w.created_at AS created_at
    FROM webhooks w JOIN tenants t ON t.no = w.tenant_no
    WHERE w.unsubscribed_at IS NULL AND w.deleted_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM audit e
        WHERE e.user_id = w.user_id AND e.client_id = w.client_id AND e.tenant_id = t.id
        AND e.kind = 'revoked' AND e.note = 'withdrawn by the user' AND NOT EXISTS (
            SELECT 1 FROM audit g
            WHERE g.user_id = e.user_id AND g.client_id = e.client_id AND g.tenant_id = e.tenant_id
            AND g.kind = 'granted' AND g.at > e.at))
) each GROUP BY tenant_id, client_id, user_id, scopes
) a JOIN memberships m ON m.user_id = a.user_id AND m.tenant_id = a.tenant_id
GROUP BY a.tenant_id, a.client_id, a.user_id, m.id;
