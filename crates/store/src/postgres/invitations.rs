//! Invitations in PostgreSQL. Locks have one order: the invitation, its link, the account, its tenants, its team.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::ids::InvitationId;
use domain::{OperatorRole, Random, Realm, Secret, TeamId, Ticks};

use super::accounts::insert_account;
use super::audit::append_audit;
use super::mails::queue_mail;
use super::rows::{AFTER, IN_ORDER, execute, parse, row};
use super::teams::change_member;
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::invitations::{SealedLink, invitation_hash};
use crate::{
    AcceptOutcome, Account, AuditContext, Invitation, InvitationFilter, InvitationLink, InvitationOutcome,
    InvitationState, Invitations, InvitedPerson, ListPage, ListQuery, Result, StoreError,
};

const INVITATION: &str =
    "SELECT id, realm, email, name, lang, tenants, role, team, team_owner, invited_by_kind,
         invited_by_id, created_at, expires_at, accepted_at, revoked_at
     FROM invitations";
const OPEN_OF: &str = "realm = $1 AND email = $2 AND accepted_at IS NULL AND revoked_at IS NULL";
const BY_HASH: &str = "id = (SELECT invitation_id FROM invitation_links WHERE hash = $1)";

/// Replaces the invitation's link and queues the mail that carries the new one.
async fn put_link(on: &Transaction<'_>, id: &InvitationId, link: &SealedLink) -> Result<()> {
    remove_link(on, id).await?;
    let sql = "INSERT INTO invitation_links (hash, invitation_id, expires_at) VALUES ($1, $2, $3)";
    execute(on, sql, &[&link.hash.as_slice(), &id.as_str(), &link.expires_at.0])
        .await
        .map_err(store_error)?;
    match &link.mail {
        Some(mail) => queue_mail(on, mail).await,
        None => Ok(()),
    }
}

/// False if it has no link any more.
async fn remove_link(on: &Transaction<'_>, id: &InvitationId) -> Result<bool> {
    let sql = "DELETE FROM invitation_links WHERE invitation_id = $1";
    execute(on, sql, &[&id.as_str()]).await.map(|rows| rows > 0).map_err(store_error)
}

/// Ends an invitation without an account.
async fn revoke(on: &Transaction<'_>, id: &InvitationId, at: Ticks) -> Result<()> {
    remove_link(on, id).await?;
    let sql = "UPDATE invitations SET revoked_at = $2 WHERE id = $1";
    execute(on, sql, &[&id.as_str(), &at.0]).await.map(drop).map_err(store_error)
}

async fn has_account(on: &Transaction<'_>, realm: Realm, email: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM accounts WHERE realm = $1 AND email = $2";
    Ok(row(on, sql, &[&realm.code(), &email]).await?.is_some())
}

async fn make(
    on: &Transaction<'_>,
    random: &dyn Random,
    one: &Invitation,
    link: &SealedLink,
    act: &Act,
) -> Result<()> {
    if has_account(on, one.realm, &one.email).await? {
        return Err(StoreError::Exists(Account::described_as(one.realm, &one.email)));
    }
    for tenant in &one.tenants {
        if row(on, "SELECT 1 FROM tenants WHERE id = $1", &[&tenant.as_str()]).await?.is_none() {
            return Err(StoreError::UnknownTenant(tenant.to_string()));
        }
    }
    let find = format!("{INVITATION} WHERE {OPEN_OF} FOR UPDATE");
    if let Some(replaced) = row(on, &find, &[&one.realm.code(), &one.email]).await? {
        let replaced: Invitation = parse(&replaced)?;
        revoke(on, &replaced.id, act.at).await?;
        append_audit(on, random, act.invitation_revoked(&replaced, true)).await?;
    }
    execute(
        on,
        "INSERT INTO invitations (id, realm, email, name, lang, tenants, role, team, team_owner, invited_by_kind,
             invited_by_id, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        &[
            &one.id.as_str(),
            &one.realm.code(),
            &one.email,
            &one.name,
            &one.lang,
            &one.tenants_json(),
            &one.role.map(OperatorRole::code),
            &one.team,
            &i64::from(one.is_team_owner),
            &one.invited_by.kind(),
            &one.invited_by.id(),
            &one.created_at.0,
            &link.expires_at.0,
        ],
    )
    .await
    .map_err(exists(one.described()))?;
    put_link(on, &one.id, link).await?;
    append_audit(on, random, act.invitation_made(one)).await
}

/// The tenants of the invitation that exist; they cannot be erased before the commit.
async fn lock_tenants(on: &Transaction<'_>, one: &Invitation) -> Result<Vec<domain::TenantId>> {
    let mut existing = Vec::new();
    for tenant in &one.tenants {
        let lock = "SELECT 1 FROM tenants WHERE id = $1 FOR KEY SHARE";
        if row(on, lock, &[&tenant.as_str()]).await?.is_some() {
            existing.push(tenant.clone());
        }
    }
    Ok(existing)
}

async fn accept(
    on: &Transaction<'_>,
    random: &dyn Random,
    hash: &[u8; 32],
    person: &InvitedPerson,
    act: &Act,
) -> Result<AcceptOutcome> {
    let find = format!("{INVITATION} WHERE {BY_HASH} FOR UPDATE");
    let found: Option<Invitation> =
        row(on, &find, &[&hash.as_slice()]).await?.as_ref().map(parse).transpose()?;
    let pending = found.filter(|one| one.state(act.at) == InvitationState::Pending);
    let Some(one) = pending else { return Ok(AcceptOutcome::LinkIsVoid) };
    // Under the lock of the invitation: another request may have used or replaced the link meanwhile.
    let sql = "DELETE FROM invitation_links WHERE hash = $1";
    if execute(on, sql, &[&hash.as_slice()]).await.map_err(store_error)? == 0 {
        return Ok(AcceptOutcome::LinkIsVoid);
    }
    if has_account(on, one.realm, one.address(person)).await? {
        return Ok(AcceptOutcome::AccountExists);
    }
    let account = one.account(person, act.at);
    let existing = lock_tenants(on, &one).await?;
    let memberships = one.memberships(&account.id, &existing, random, act.at);
    match insert_account(on, random, &account, &memberships, act).await {
        Err(StoreError::Exists(_)) => return Ok(AcceptOutcome::AccountExists),
        inserted => inserted?,
    }
    if let Some(team) = one.team_change(&account.id) {
        let _joined_or_not = change_member(on, random, &team, act).await?;
    }
    let sql = "UPDATE invitations SET accepted_at = $2 WHERE id = $1";
    execute(on, sql, &[&one.id.as_str(), &act.at.0]).await.map_err(store_error)?;
    append_audit(on, random, act.invitation_accepted(&one, &account)).await?;
    Ok(AcceptOutcome::Accepted(account))
}

/// The invitation, locked; or the outcome where it cannot change.
async fn lock_open(
    on: &Transaction<'_>,
    id: &InvitationId,
) -> Result<std::result::Result<Invitation, Box<InvitationOutcome>>> {
    let find = format!("{INVITATION} WHERE id = $1 FOR UPDATE");
    let found: Option<Invitation> = row(on, &find, &[&id.as_str()]).await?.as_ref().map(parse).transpose()?;
    Ok(match found {
        None => Err(Box::new(InvitationOutcome::NotFound)),
        Some(ended) if !ended.is_open() => Err(Box::new(InvitationOutcome::Ended(ended))),
        Some(open) => Ok(open),
    })
}

#[async_trait]
impl Invitations for PostgresStore {
    async fn make_invitation(
        &self,
        invitation: &Invitation,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<()> {
        let link = link.sealed(invitation.realm, self.ports())?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        make(&transaction, &*self.ports().random, invitation, &link, &self.act(context)).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn find_invitation(&self, id: &InvitationId) -> Result<Option<Invitation>> {
        let found = self.row(&format!("{INVITATION} WHERE id = $1"), &[&id.as_str()]).await?;
        found.as_ref().map(parse).transpose()
    }

    async fn find_open_invitation(&self, realm: Realm, email: &str) -> Result<Option<Invitation>> {
        let found = self.row(&format!("{INVITATION} WHERE {OPEN_OF}"), &[&realm.code(), &email]).await?;
        found.as_ref().map(parse).transpose()
    }

    async fn find_invitation_by_token(
        &self,
        realm: Realm,
        token: &Secret,
        now: Ticks,
    ) -> Result<Option<Invitation>> {
        let hash = invitation_hash(&self.ports().vault, realm, token);
        let found = self.row(&format!("{INVITATION} WHERE {BY_HASH}"), &[&hash.as_slice()]).await?;
        let found: Option<Invitation> = found.as_ref().map(parse).transpose()?;
        Ok(found.filter(|one| one.state(now) == InvitationState::Pending))
    }

    async fn list_invitations(
        &self,
        filter: &InvitationFilter,
        now: Ticks,
        query: &ListQuery,
    ) -> Result<ListPage<Invitation>> {
        let state = InvitationState::condition(filter.state, "$5::bigint");
        // With a team, the index of its invitations is used.
        let by_team = if filter.team.is_some() { "team = $6 AND team <> ''" } else { "$6::text IS NULL" };
        // With a part of an address, that index is used, and not the one of the order.
        let range = filter.email_range();
        let (by_email, in_order) = match range {
            Some(_) => ("email >= $7 AND email < $8", "ORDER BY created_at + 0, id LIMIT $3"),
            None => ("$7::text IS NULL AND $8::text IS NULL", IN_ORDER),
        };
        let sql = format!(
            "{INVITATION} WHERE {by_team} AND {by_email} AND {AFTER} AND ($4::bigint IS NULL OR realm + 0 = $4)
             AND {state} {in_order}"
        );
        let (from, until) = range.unzip();
        let (created_at, id) = query.after();
        let realm = filter.realm.map(Realm::code);
        let team = filter.team.as_ref().map(TeamId::as_str);
        let args: super::rows::Args<'_> =
            &[&created_at, &id, &query.limit(), &realm, &now.0, &team, &from, &until];
        let rows = self.rows(&sql, args).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn resend_invitation(
        &self,
        id: &InvitationId,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let before = match lock_open(&transaction, id).await? {
            Ok(before) => before,
            Err(outcome) => return Ok(*outcome),
        };
        let link = link.sealed(before.realm, self.ports())?;
        put_link(&transaction, id, &link).await?;
        let sql = "UPDATE invitations SET expires_at = $2 WHERE id = $1";
        execute(&transaction, sql, &[&id.as_str(), &link.expires_at.0]).await.map_err(store_error)?;
        let after = Invitation { expires_at: link.expires_at, ..before.clone() };
        let entry = self.act(context).invitation_resent(&before, &after);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(InvitationOutcome::Changed(after))
    }

    async fn revoke_invitation(
        &self,
        id: &InvitationId,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let before = match lock_open(&transaction, id).await? {
            Ok(before) => before,
            Err(outcome) => return Ok(*outcome),
        };
        let act = self.act(context);
        revoke(&transaction, id, act.at).await?;
        append_audit(&transaction, &*self.ports().random, act.invitation_revoked(&before, false)).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(InvitationOutcome::Changed(Invitation { revoked_at: Some(act.at), ..before }))
    }

    async fn accept_invitation(
        &self,
        realm: Realm,
        token: &Secret,
        person: &InvitedPerson,
        context: &AuditContext,
    ) -> Result<AcceptOutcome> {
        let hash = invitation_hash(&self.ports().vault, realm, token);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let random = &*self.ports().random;
        let outcome = accept(&transaction, random, &hash, person, &self.act(context)).await?;
        if matches!(outcome, AcceptOutcome::Accepted(_)) {
            transaction.commit().await.map_err(store_error)?;
        }
        Ok(outcome)
    }
}
