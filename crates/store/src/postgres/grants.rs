//! Authorization codes, grants and refresh tokens in PostgreSQL. The row of a single-use credential is locked
//! first.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, ClientId, GrantId, MembershipId, Secret, Ticks, WebhookId};

use super::audit::append_audit;
use super::refresh::{add_refresh, extend_grant, lock_refresh, mark_used, record_grant_use};
use super::rows::{column, execute, parse, row, rows};
use super::{PostgresStore, authorizations, exists, first_failure, logouts, store_error};
use crate::audit::Act;
use crate::grants::{
    CODE, CODE_REUSED, REFRESH, REFRESH_REUSED, RefreshDecision, code_exchange_entry, decide_refresh,
    revocation_entry, rotation_entry,
};
use crate::rows::Columns;
use crate::{
    AuditContext, AuthorizationCode, AuthorizationEnd, ClientAccess, CodeExchange, CodeOutcome,
    EndedAuthorization, Grant, GrantDecision, Grants, NewGrant, Ports, RefreshOutcome, RefreshRotation,
    RefreshToken, Result, Status,
};

const COLUMNS: &str = "g.id, g.client_id, g.user_id, g.tenant_id, g.details, g.created_at, g.last_used_at, \
                       g.expires_at, g.revoked_at";

fn find_sql() -> String {
    format!("SELECT {COLUMNS} FROM grants g WHERE g.id = $1")
}

pub(super) async fn find(on: &Transaction<'_>, id: &str) -> Result<Option<Grant>> {
    row(on, &find_sql(), &[&id]).await?.as_ref().map(parse).transpose()
}

/// Revokes a grant; returns it unless it was already revoked.
async fn revoke(on: &Transaction<'_>, id: &str, now: Ticks) -> Result<Option<Grant>> {
    let sql = format!(
        "UPDATE grants g SET revoked_at = $2 WHERE g.id = $1 AND g.revoked_at + 0 IS NULL RETURNING {COLUMNS}"
    );
    row(on, &sql, &[&id, &now.0]).await?.as_ref().map(parse).transpose()
}

async fn add_grant(on: &Transaction<'_>, new: &NewGrant, refresh_hash: Option<[u8; 32]>) -> Result<()> {
    let grant = &new.grant;
    execute(
        on,
        "INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, last_used_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            &grant.id.as_str(),
            &grant.client.as_str(),
            &grant.user.as_str(),
            &grant.tenant.as_str(),
            &grant.details,
            &grant.created_at.0,
            &grant.last_used_at.0,
            &grant.expires_at.0,
        ],
    )
    .await
    .map_err(exists(format!("a grant \"{}\"", grant.id)))?;
    if let (Some(hash), Some((_, expires_at))) = (refresh_hash, &new.refresh) {
        add_refresh(on, &hash, grant, *expires_at).await?;
    }
    Ok(())
}

/// Whether a code was used, and the grant that it created.
enum CodeUse {
    Unused,
    Used { created_grant: Option<GrantId> },
}

/// Locks the row of a client's code.
async fn lock_code(
    on: &Transaction<'_>,
    hash: &[u8; 32],
    client: &ClientId,
) -> Result<Option<(AuthorizationCode, CodeUse)>> {
    let locked = row(
        on,
        "SELECT client_id, user_id, tenant_id, expires_at, details, used_at, grant_id FROM codes
         WHERE hash = $1 AND client_id = $2 FOR UPDATE",
        &[&hash.as_slice(), &client.as_str()],
    )
    .await?;
    let Some(row) = locked else { return Ok(None) };
    let used = match row.read::<Option<i64>>("used_at")? {
        None => CodeUse::Unused,
        Some(_) => CodeUse::Used { created_grant: row.read("grant_id")? },
    };
    Ok(Some((parse(&row)?, used)))
}

/// Consumes a code on its first use.
async fn redeem(
    on: &Transaction<'_>,
    ports: &Ports,
    (hash, code): (&[u8; 32], AuthorizationCode),
    exchange: &CodeExchange,
    decide: GrantDecision,
) -> Result<(CodeOutcome, Option<Vec<WebhookId>>)> {
    let now = exchange.now;
    let is_live = now < code.expires_at;
    let new = if is_live { decide(&code) } else { None };
    let created_grant = new.as_ref().map(|new| &new.grant);
    let retain_until = created_grant.map_or(code.expires_at, |grant| grant.expires_at);
    execute(
        on,
        "UPDATE codes SET used_at = $2, grant_id = $3, expires_at = $4 WHERE hash = $1",
        &[&hash.as_slice(), &now.0, &created_grant.map(|grant| grant.id.as_str()), &retain_until.0],
    )
    .await
    .map_err(store_error)?;
    if let Some(new) = &new {
        let refresh = new.refresh.as_ref().map(|(token, _)| ports.vault.fingerprint(REFRESH, token));
        add_grant(on, new, refresh).await?;
    }
    if !is_live {
        return Ok((CodeOutcome::Expired, None));
    }
    if let Some((new, session)) = new.as_ref().and_then(|new| Some((new, new.session?))) {
        let parties = (&new.grant.user, &new.grant.client);
        let act = Act::new(exchange.now, &exchange.context);
        logouts::join(on, &*ports.random, session, parties, &act).await?;
    }
    let webhooks = match &new {
        Some(new) => authorizations::add(on, &new.grant, new.scopes).await?,
        None => None,
    };
    Ok((CodeOutcome::Redeemed { code, grant: new.map(|new| new.grant) }, webhooks))
}

/// Deletes the unused codes and revokes the live grants of a client's access; returns the grants. Codes come
/// first: the delete waits for a concurrent exchange, whose grant is then visible.
pub(super) async fn revoke_grants(
    on: &Transaction<'_>,
    access: &ClientAccess,
    now: Ticks,
) -> Result<Vec<Grant>> {
    let (user, client, tenant) = (access.user.as_str(), access.client.as_str(), access.tenant.as_str());
    if [user, client, tenant].iter().any(|id| id.contains('\0')) {
        return Ok(Vec::new());
    }
    // Locks rows in a fixed order, so that concurrent calls cannot deadlock.
    execute(
        on,
        "DELETE FROM codes WHERE hash IN
         (SELECT hash FROM codes WHERE user_id = $1 AND client_id = $2 AND tenant_id = $3 AND used_at IS NULL
          ORDER BY hash FOR UPDATE)",
        &[&user, &client, &tenant],
    )
    .await
    .map_err(store_error)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM grants g WHERE g.user_id = $1 AND g.client_id = $2 AND g.tenant_id || '' = $3
         AND g.revoked_at + 0 IS NULL AND g.expires_at + 0 > $4 ORDER BY g.id FOR UPDATE"
    );
    let locked = rows(on, &sql, &[&user, &client, &tenant, &now.0]).await?;
    let live: Vec<Grant> = locked.iter().map(parse).collect::<Result<_>>()?;
    let ids = column(&live, |grant| grant.id.as_str());
    execute(on, "UPDATE grants SET revoked_at = $2 WHERE id = ANY($1)", &[&ids, &now.0])
        .await
        .map_err(store_error)?;
    Ok(live)
}

#[async_trait]
impl Grants for PostgresStore {
    async fn store_code(
        &self,
        code: &Secret,
        issued: &AuthorizationCode,
        membership_id: &MembershipId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CODE, code);
        self.insert(
            "such a code".into(),
            "WITH chosen AS (UPDATE memberships SET last_used_at = $8 WHERE id = $7)
             INSERT INTO codes (hash, client_id, user_id, tenant_id, expires_at, details)
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[
                &hash.as_slice(),
                &issued.client.as_str(),
                &issued.user.as_str(),
                &issued.tenant.as_str(),
                &issued.expires_at.0,
                &issued.details,
                &membership_id.as_str(),
                &now.0,
            ],
            Act::new(now, context).code_issued(issued),
        )
        .await
    }

    async fn take_code(&self, exchange: &CodeExchange, decide: GrantDecision) -> Result<CodeOutcome> {
        let ports = self.ports();
        let hash = ports.vault.fingerprint(CODE, &exchange.code);
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let Some((code, used)) = lock_code(&transaction, &hash, &exchange.client).await? else {
            return Ok(CodeOutcome::Unknown);
        };
        let mut webhooks = None;
        let (outcome, before) = match used {
            CodeUse::Unused => {
                let redeemed = redeem(&transaction, ports, (&hash, code), exchange, decide).await?;
                webhooks = redeemed.1;
                (redeemed.0, None)
            }
            CodeUse::Used { created_grant: None } => (CodeOutcome::Reused { revoked: None }, None),
            CodeUse::Used { created_grant: Some(created_grant) } => {
                if let Some(grant) = revoke(&transaction, created_grant.as_str(), exchange.now).await? {
                    let why = (&exchange.context, CODE_REUSED);
                    webhooks =
                        authorizations::end_if_unused(&transaction, ports, &grant, exchange.now, why).await?;
                }
                let before = find(&transaction, created_grant.as_str()).await?;
                (CodeOutcome::Reused { revoked: Some(created_grant) }, before)
            }
        };
        if let Some(entry) = code_exchange_entry(exchange, &outcome, before.as_ref()) {
            append_audit(&transaction, &*ports.random, entry).await?;
        }
        self.commit_access(transaction, webhooks).await?;
        Ok(outcome)
    }

    async fn rotate_refresh(&self, rotation: &RefreshRotation) -> Result<RefreshOutcome> {
        let ports = self.ports();
        let presented = ports.vault.fingerprint(REFRESH, &rotation.presented);
        let successor = ports.vault.fingerprint(REFRESH, &rotation.successor);
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let (row, grant) = match lock_refresh(&transaction, &presented).await? {
            Some((row, grant)) => (Some(row), grant),
            None => (None, None),
        };
        let decision = decide_refresh(rotation, row, grant, &successor);
        let entry = rotation_entry(rotation, &decision);
        let record = async {
            match entry {
                Some(entry) => append_audit(&transaction, &*ports.random, entry).await,
                None => Ok(()),
            }
        };
        let mut webhooks = None;
        let outcome = match decision {
            RefreshDecision::Done(done) => {
                record.await?;
                done
            }
            RefreshDecision::Revoke(grant) => {
                record.await?;
                revoke(&transaction, grant.id.as_str(), rotation.now).await?;
                let why = (&rotation.context, REFRESH_REUSED);
                webhooks =
                    authorizations::end_if_unused(&transaction, ports, &grant, rotation.now, why).await?;
                RefreshOutcome::Reused { revoked: grant.id }
            }
            RefreshDecision::Retry { grant, expires_at, is_longer } => {
                record.await?;
                if is_longer {
                    extend_grant(&transaction, &grant).await?;
                }
                RefreshOutcome::Retried { grant, expires_at }
            }
            RefreshDecision::Rotate { grant, expires_at } => {
                // The statements are pipelined in this order.
                let (added, marked, touched, recorded) = tokio::join!(
                    biased;
                    add_refresh(&transaction, &successor, &grant, expires_at),
                    mark_used(&transaction, [&presented, &successor], rotation.now),
                    record_grant_use(&transaction, &grant),
                    record
                );
                first_failure([added, marked, touched, recorded])?;
                RefreshOutcome::Rotated { grant, expires_at }
            }
        };
        self.commit_access(transaction, webhooks).await?;
        Ok(outcome)
    }

    async fn find_refresh_token(&self, token: &Secret) -> Result<Option<RefreshToken>> {
        let hash = self.ports().vault.fingerprint(REFRESH, token);
        let sql = format!(
            "SELECT {COLUMNS}, t.expires_at AS token_expires_at, t.used_at IS NOT NULL AS is_used
             FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.hash = $1"
        );
        self.row(&sql, &[&hash.as_slice()]).await?.as_ref().map(parse).transpose()
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        self.row(&find_sql(), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn live_grants(&self, user: &AccountId, now: Ticks) -> Result<Vec<Grant>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM grants g
             WHERE g.user_id = $1 AND g.revoked_at + 0 IS NULL AND g.expires_at + 0 > $2
             ORDER BY g.last_used_at DESC, g.id"
        );
        self.rows(&sql, &[&user.as_str(), &now.0]).await?.iter().map(parse).collect()
    }

    async fn is_grant_live(&self, id: &GrantId) -> Result<bool> {
        let found = self
            .row(
                "SELECT 1 FROM grants g
                 JOIN clients c ON c.id = g.client_id
                 JOIN accounts u ON u.id = g.user_id
                 JOIN tenants t ON t.id = g.tenant_id
                 JOIN memberships m ON m.user_id = g.user_id AND m.tenant_id = g.tenant_id
                 JOIN authorizations a ON a.tenant_id = g.tenant_id AND a.client_id = g.client_id
                     AND a.user_id = g.user_id AND a.membership_id = m.id
                 WHERE g.id = $1 AND g.revoked_at + 0 IS NULL AND a.ended_at IS NULL
                 AND c.standing = $2 AND u.standing = $2 AND t.standing = $2",
                &[&id.as_str(), &Status::Active.code()],
            )
            .await?;
        Ok(found.is_some())
    }

    async fn revoke_grant(
        &self,
        id: &GrantId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<bool> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let Some(revoked) = revoke(&transaction, id.as_str(), now).await? else {
            return Ok(false);
        };
        let ports = self.ports();
        let entry = revocation_entry(&revoked, now, context, note);
        append_audit(&transaction, &*ports.random, entry).await?;
        let why = (context, note);
        let webhooks = authorizations::end_if_unused(&transaction, ports, &revoked, now, why).await?;
        self.commit_access(transaction, webhooks).await?;
        Ok(true)
    }

    async fn revoke_client_access(
        &self,
        access: &ClientAccess,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let revoked_grants = revoke_grants(&transaction, access, now).await?;
        let ports = self.ports();
        for grant in &revoked_grants {
            let entry = revocation_entry(grant, now, context, note);
            append_audit(&transaction, &*ports.random, entry).await?;
        }
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Withdrawn };
        let webhooks = authorizations::end(&transaction, ports, access, ended, (context, note)).await?;
        self.commit_access(transaction, webhooks).await?;
        Ok(revoked_grants.into_iter().map(|grant| grant.id).collect())
    }
}
