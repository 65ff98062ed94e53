//! Authorization codes, grants and refresh tokens in SQLite.

use async_trait::async_trait;
use domain::{AccountId, GrantId, MembershipId, Secret, Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::refresh::{add_refresh, rotate};
use super::rows::parse;
use super::{SqliteStore, authorizations, exists, logouts, store_error};
use crate::audit::Act;
use crate::grants::{CODE, CODE_REUSED, REFRESH, code_exchange_entry, revocation_entry};
use crate::rows::{Columns, SqliteRow};
use crate::{
    AuditContext, AuthorizationCode, AuthorizationEnd, ClientAccess, CodeExchange, CodeOutcome,
    EndedAuthorization, Grant, GrantDecision, Grants, NewGrant, Ports, RefreshOutcome, RefreshRotation,
    RefreshToken, Result, Status,
};

const GRANT: &str = "SELECT g.id, g.client_id, g.user_id, g.tenant_id, g.details, g.created_at, g.last_used_at, \
                     g.expires_at, g.revoked_at";

pub(super) fn find_grant(connection: &Connection, id: &str) -> Result<Option<Grant>> {
    connection
        .prepare_cached(&format!("{GRANT} FROM grants g WHERE g.id = ?1"))
        .and_then(|mut find| find.query_row([id], parse).optional())
        .map_err(store_error)
}

pub(super) fn revoke(writer: &Connection, id: &str, now: Ticks) -> Result<bool> {
    change(
        writer,
        "UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND +revoked_at IS NULL",
        params![id, now.0],
    )
}

fn add_grant(writer: &Connection, new: &NewGrant, refresh_hash: Option<[u8; 32]>) -> Result<()> {
    let grant = &new.grant;
    writer
        .prepare_cached(
            "INSERT INTO grants (id, client_id, user_id, tenant_id, details, created_at, last_used_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )
        .and_then(|mut add| {
            add.execute(params![
                grant.id.as_str(),
                grant.client.as_str(),
                grant.user.as_str(),
                grant.tenant.as_str(),
                grant.details,
                grant.created_at.0,
                grant.last_used_at.0,
                grant.expires_at.0
            ])
        })
        .map_err(exists(format!("a grant \"{}\"", grant.id)))?;
    if let (Some(hash), Some((_, expires_at))) = (refresh_hash, &new.refresh) {
        add_refresh(writer, &hash, grant, *expires_at)?;
    }
    Ok(())
}

struct CodeRow {
    code: AuthorizationCode,
    used: bool,
    grant: Option<Box<str>>,
}

fn find_code(connection: &Connection, hash: &[u8; 32]) -> Result<Option<CodeRow>> {
    connection
        .prepare_cached(
            "SELECT client_id, user_id, tenant_id, expires_at, details, used_at, grant_id FROM codes WHERE hash = ?1",
        )
        .and_then(|mut find| {
            find.query_row([hash], |row| {
                let code = parse(row)?;
                let row = SqliteRow::new(row);
                let used = row.read::<Option<i64>>("used_at")?.is_some();
                Ok(CodeRow { code, used, grant: row.read("grant_id")? })
            })
            .optional()
        })
        .map_err(store_error)
}

/// Consumes a code on its first use.
fn redeem(
    writer: &Connection,
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
    change(
        writer,
        "UPDATE codes SET used_at = ?2, grant_id = ?3, expires_at = ?4 WHERE hash = ?1",
        params![hash, now.0, created_grant.map(|grant| grant.id.as_str()), retain_until.0],
    )?;
    if let Some(new) = &new {
        let refresh = new.refresh.as_ref().map(|(token, _)| ports.vault.fingerprint(REFRESH, token));
        add_grant(writer, new, refresh)?;
    }
    if !is_live {
        return Ok((CodeOutcome::Expired, None));
    }
    if let Some((new, session)) = new.as_ref().and_then(|new| Some((new, new.session?))) {
        let parties = (&new.grant.user, &new.grant.client);
        logouts::join(writer, &*ports.random, session, parties, &Act::new(exchange.now, &exchange.context))?;
    }
    let webhooks = match &new {
        Some(new) => authorizations::add(writer, &new.grant, new.scopes)?,
        None => None,
    };
    Ok((CodeOutcome::Redeemed { code, grant: new.map(|new| new.grant) }, webhooks))
}

fn take(
    writer: &Connection,
    ports: &Ports,
    hash: &[u8; 32],
    exchange: &CodeExchange,
    decide: GrantDecision,
) -> Result<(CodeOutcome, Option<Vec<WebhookId>>)> {
    let Some(row) = find_code(writer, hash)?.filter(|row| row.code.client == exchange.client) else {
        return Ok((CodeOutcome::Unknown, None));
    };
    let mut webhooks = None;
    let (outcome, before) = match row {
        CodeRow { used: false, code, .. } => {
            let redeemed = redeem(writer, ports, (hash, code), exchange, decide)?;
            webhooks = redeemed.1;
            (redeemed.0, None)
        }
        CodeRow { grant: None, .. } => (CodeOutcome::Reused { revoked: None }, None),
        CodeRow { grant: Some(created_grant), .. } => {
            let is_revoked = revoke(writer, &created_grant, exchange.now)?;
            let before = find_grant(writer, &created_grant)?;
            if let Some(grant) = before.as_ref().filter(|_| is_revoked) {
                let why = (&exchange.context, CODE_REUSED);
                webhooks = authorizations::end_if_unused(writer, ports, grant, exchange.now, why)?;
            }
            (CodeOutcome::Reused { revoked: Some(GrantId::new(created_grant)) }, before)
        }
    };
    if let Some(entry) = code_exchange_entry(exchange, &outcome, before.as_ref()) {
        append_audit(writer, &*ports.random, entry)?;
    }
    Ok((outcome, webhooks))
}

/// Deletes the unused codes and revokes the live grants of a client's access; returns the grants.
pub(super) fn revoke_grants(writer: &Connection, access: &ClientAccess, now: Ticks) -> Result<Vec<Grant>> {
    let access_ids = [access.user.as_str(), access.client.as_str(), access.tenant.as_str()];
    change(
        writer,
        "DELETE FROM codes WHERE user_id = ?1 AND client_id = ?2 AND tenant_id = ?3 AND used_at IS NULL",
        access_ids,
    )?;
    let [user, client, tenant] = access_ids;
    let live: Vec<Grant> = writer
        .prepare_cached(&format!(
            "{GRANT} FROM grants g WHERE g.user_id = ?1 AND g.client_id = ?2 AND +g.tenant_id = ?3
             AND +g.revoked_at IS NULL AND +g.expires_at > ?4 ORDER BY g.id"
        ))
        .and_then(|mut all| all.query_map(params![user, client, tenant, now.0], parse)?.collect())
        .map_err(store_error)?;
    for grant in &live {
        revoke(writer, grant.id.as_str(), now)?;
    }
    Ok(live)
}

#[async_trait]
impl Grants for SqliteStore {
    async fn store_code(
        &self,
        code: &Secret,
        issued: &AuthorizationCode,
        membership_id: &MembershipId,
        now: Ticks,
        context: &AuditContext,
    ) -> Result<()> {
        let hash = self.ports().vault.fingerprint(CODE, code);
        let (entry, random) = (Act::new(now, context).code_issued(issued), self.ports().random.clone());
        let (issued, membership_id) = (issued.clone(), membership_id.clone());
        self.write(move |writer| {
            writer
                .prepare_cached(
                    "INSERT INTO codes (hash, client_id, user_id, tenant_id, expires_at, details)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )
                .and_then(|mut add| {
                    add.execute(params![
                        hash,
                        issued.client.as_str(),
                        issued.user.as_str(),
                        issued.tenant.as_str(),
                        issued.expires_at.0,
                        issued.details
                    ])
                })
                .map_err(exists("such a code".into()))?;
            change(
                writer,
                "UPDATE memberships SET last_used_at = ?2 WHERE id = ?1",
                params![membership_id.as_str(), now.0],
            )?;
            append_audit(writer, &*random, entry)
        })
        .await
    }

    async fn take_code(&self, exchange: &CodeExchange, decide: GrantDecision) -> Result<CodeOutcome> {
        let (ports, exchange) = (self.ports().clone(), exchange.clone());
        let hash = ports.vault.fingerprint(CODE, &exchange.code);
        self.write_access_for(move |writer| take(writer, &ports, &hash, &exchange, decide)).await
    }

    async fn rotate_refresh(&self, rotation: &RefreshRotation) -> Result<RefreshOutcome> {
        let (ports, rotation) = (self.ports().clone(), rotation.clone());
        let hashes =
            [&rotation.presented, &rotation.successor].map(|token| ports.vault.fingerprint(REFRESH, token));
        self.write_access_for(move |writer| rotate(writer, &ports, &hashes, &rotation)).await
    }

    async fn find_refresh_token(&self, token: &Secret) -> Result<Option<RefreshToken>> {
        let hash = self.ports().vault.fingerprint(REFRESH, token);
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "{GRANT}, t.expires_at AS token_expires_at, t.used_at IS NOT NULL AS is_used
                     FROM refresh_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.hash = ?1"
                ))
                .and_then(|mut find| find.query_row([hash], parse).optional())
                .map_err(store_error)
        })
    }

    async fn find_grant(&self, id: &GrantId) -> Result<Option<Grant>> {
        self.read(|reader| find_grant(reader, id.as_str()))
    }

    async fn live_grants(&self, user: &AccountId, now: Ticks) -> Result<Vec<Grant>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "{GRANT} FROM grants g
                     WHERE g.user_id = ?1 AND +g.revoked_at IS NULL AND +g.expires_at > ?2
                     ORDER BY g.last_used_at DESC, g.id"
                ))
                .and_then(|mut all| all.query_map(params![user.as_str(), now.0], parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn is_grant_live(&self, id: &GrantId) -> Result<bool> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT 1 FROM grants g
                     JOIN clients c ON c.id = g.client_id
                     JOIN accounts u ON u.id = g.user_id
                     JOIN tenants t ON t.id = g.tenant_id
                     JOIN memberships m ON m.user_id = g.user_id AND m.tenant_id = g.tenant_id
                     JOIN authorizations a ON a.tenant_id = g.tenant_id AND a.client_id = g.client_id
                         AND a.user_id = g.user_id AND a.membership_id = m.id
                     WHERE g.id = ?1 AND +g.revoked_at IS NULL AND a.ended_at IS NULL
                     AND c.standing = ?2 AND u.standing = ?2 AND t.standing = ?2",
                )
                .and_then(|mut find| find.exists(params![id.as_str(), Status::Active.code()]))
                .map_err(store_error)
        })
    }

    async fn revoke_grant(
        &self,
        id: &GrantId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<bool> {
        let ports = self.ports().clone();
        let (id, context, note) = (id.clone(), context.clone(), note.to_owned());
        self.write_access_for(move |writer| {
            let live = find_grant(writer, id.as_str())?.filter(|grant| grant.revoked_at.is_none());
            let Some(grant) = live else { return Ok((false, None)) };
            append_audit(writer, &*ports.random, revocation_entry(&grant, now, &context, &note))?;
            revoke(writer, id.as_str(), now)?;
            Ok((true, authorizations::end_if_unused(writer, &ports, &grant, now, (&context, &note))?))
        })
        .await
    }

    async fn revoke_client_access(
        &self,
        access: &ClientAccess,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let ports = self.ports().clone();
        let (access, context, note) = (access.clone(), context.clone(), note.to_owned());
        self.write_access_for(move |writer| {
            let revoked_grants = revoke_grants(writer, &access, now)?;
            for grant in &revoked_grants {
                append_audit(writer, &*ports.random, revocation_entry(grant, now, &context, &note))?;
            }
            let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Withdrawn };
            let webhooks = authorizations::end(writer, &ports, &access, ended, (&context, &note))?;
            Ok((revoked_grants.into_iter().map(|grant| grant.id).collect(), webhooks))
        })
        .await
    }
}
