//! Invitations in SQLite.

use async_trait::async_trait;
use domain::ids::InvitationId;
use domain::{OperatorRole, Random, Realm, Secret, TeamId, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::accounts::insert_account;
use super::audit::append_audit;
use super::directory::change;
use super::mails::queue_mail;
use super::rows::{AFTER, IN_ORDER, find, parse, tenant_no};
use super::teams::change_member;
use super::{SqliteStore, exists, store_error};
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
const OPEN_OF: &str = "realm = ?1 AND email = ?2 AND accepted_at IS NULL AND revoked_at IS NULL";

fn find_by_id(connection: &Connection, id: &InvitationId) -> Result<Option<Invitation>> {
    find(connection, &format!("{INVITATION} WHERE id = ?1"), id.as_str(), parse)
}

fn find_open(connection: &Connection, realm: Realm, email: &str) -> Result<Option<Invitation>> {
    connection
        .prepare_cached(&format!("{INVITATION} WHERE {OPEN_OF}"))
        .and_then(|mut find| find.query_row(params![realm.code(), email], parse).optional())
        .map_err(store_error)
}

/// The pending invitation of a link.
fn find_by_hash(connection: &Connection, hash: &[u8; 32], now: Ticks) -> Result<Option<Invitation>> {
    let id: Option<Box<str>> = connection
        .prepare_cached("SELECT invitation_id FROM invitation_links WHERE hash = ?1")
        .and_then(|mut find| find.query_row([hash], |row| row.get(0)).optional())
        .map_err(store_error)?;
    let Some(id) = id else { return Ok(None) };
    let found = find_by_id(connection, &InvitationId::new(id))?;
    Ok(found.filter(|one| one.state(now) == InvitationState::Pending))
}

/// Replaces the invitation's link and queues the mail that carries the new one.
fn put_link(writer: &Connection, id: &InvitationId, link: &SealedLink) -> Result<()> {
    remove_link(writer, id)?;
    change(
        writer,
        "INSERT INTO invitation_links (hash, invitation_id, expires_at) VALUES (?1, ?2, ?3)",
        params![link.hash, id.as_str(), link.expires_at.0],
    )?;
    link.mail.as_ref().map_or(Ok(()), |mail| queue_mail(writer, mail))
}

fn remove_link(writer: &Connection, id: &InvitationId) -> Result<()> {
    change(writer, "DELETE FROM invitation_links WHERE invitation_id = ?1", [id.as_str()]).map(drop)
}

/// Ends an invitation without an account.
fn revoke(writer: &Connection, id: &InvitationId, at: Ticks) -> Result<()> {
    remove_link(writer, id)?;
    let sql = "UPDATE invitations SET revoked_at = ?2 WHERE id = ?1";
    change(writer, sql, params![id.as_str(), at.0]).map(drop)
}

fn has_account(writer: &Connection, realm: Realm, email: &str) -> Result<bool> {
    writer
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM accounts WHERE realm = ?1 AND email = ?2)")
        .and_then(|mut find| find.query_row(params![realm.code(), email], |row| row.get(0)))
        .map_err(store_error)
}

fn make(
    writer: &Connection,
    random: &dyn Random,
    one: &Invitation,
    link: &SealedLink,
    act: &Act,
) -> Result<()> {
    if has_account(writer, one.realm, &one.email)? {
        return Err(StoreError::Exists(Account::described_as(one.realm, &one.email)));
    }
    for tenant in &one.tenants {
        if tenant_no(writer, tenant)?.is_none() {
            return Err(StoreError::UnknownTenant(tenant.to_string()));
        }
    }
    if let Some(replaced) = find_open(writer, one.realm, &one.email)? {
        revoke(writer, &replaced.id, act.at)?;
        append_audit(writer, random, act.invitation_revoked(&replaced, true))?;
    }
    writer
        .execute(
            "INSERT INTO invitations (id, realm, email, name, lang, tenants, role, team, team_owner, invited_by_kind,
                 invited_by_id, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                one.id.as_str(),
                one.realm.code(),
                one.email,
                one.name,
                one.lang,
                one.tenants_json(),
                one.role.map(OperatorRole::code),
                one.team,
                one.is_team_owner,
                one.invited_by.kind(),
                one.invited_by.id(),
                one.created_at.0,
                link.expires_at.0
            ],
        )
        .map_err(exists(one.described()))?;
    put_link(writer, &one.id, link)?;
    append_audit(writer, random, act.invitation_made(one))
}

/// Changes an open invitation; `change` returns it as it is afterwards, with its audit entry.
fn change_open(
    writer: &Connection,
    random: &dyn Random,
    id: &InvitationId,
    change: impl FnOnce(&Invitation) -> Result<(Invitation, crate::AuditEntry)>,
) -> Result<InvitationOutcome> {
    let Some(before) = find_by_id(writer, id)? else { return Ok(InvitationOutcome::NotFound) };
    if !before.is_open() {
        return Ok(InvitationOutcome::Ended(before));
    }
    let (after, entry) = change(&before)?;
    append_audit(writer, random, entry)?;
    Ok(InvitationOutcome::Changed(after))
}

fn accept(
    writer: &Connection,
    random: &dyn Random,
    hash: &[u8; 32],
    person: &InvitedPerson,
    act: &Act,
) -> Result<AcceptOutcome> {
    let Some(one) = find_by_hash(writer, hash, act.at)? else { return Ok(AcceptOutcome::LinkIsVoid) };
    if has_account(writer, one.realm, one.address(person))? {
        return Ok(AcceptOutcome::AccountExists);
    }
    let mut existing = Vec::new();
    for tenant in &one.tenants {
        if tenant_no(writer, tenant)?.is_some() {
            existing.push(tenant.clone());
        }
    }
    let account = one.account(person, act.at);
    let memberships = one.memberships(&account.id, &existing, random, act.at);
    insert_account(writer, random, &account, &memberships, act)?;
    if let Some(team) = one.team_change(&account.id) {
        let _joined_or_not = change_member(writer, random, &team, act)?;
    }
    remove_link(writer, &one.id)?;
    let sql = "UPDATE invitations SET accepted_at = ?2 WHERE id = ?1";
    change(writer, sql, params![one.id.as_str(), act.at.0])?;
    append_audit(writer, random, act.invitation_accepted(&one, &account))?;
    Ok(AcceptOutcome::Accepted(account))
}

#[async_trait]
impl Invitations for SqliteStore {
    async fn make_invitation(
        &self,
        invitation: &Invitation,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<()> {
        let link = link.sealed(invitation.realm, self.ports())?;
        let (one, act, random) = (invitation.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| make(writer, &*random, &one, &link, &act)).await
    }

    async fn find_invitation(&self, id: &InvitationId) -> Result<Option<Invitation>> {
        self.read(|reader| find_by_id(reader, id))
    }

    async fn find_open_invitation(&self, realm: Realm, email: &str) -> Result<Option<Invitation>> {
        self.read(|reader| find_open(reader, realm, email))
    }

    async fn find_invitation_by_token(
        &self,
        realm: Realm,
        token: &Secret,
        now: Ticks,
    ) -> Result<Option<Invitation>> {
        let hash = invitation_hash(&self.ports().vault, realm, token);
        self.read(|reader| find_by_hash(reader, &hash, now))
    }

    async fn list_invitations(
        &self,
        filter: &InvitationFilter,
        now: Ticks,
        query: &ListQuery,
    ) -> Result<ListPage<Invitation>> {
        let state = InvitationState::condition(filter.state, "?5");
        // With a team, the index of its invitations is used.
        let by_team = if filter.team.is_some() { "team = ?6 AND team <> ''" } else { "?6 IS NULL" };
        let range = filter.email_range();
        let (index, by_email) = match range {
            Some(_) => ("INDEXED BY invitations_by_address", "email >= ?7 AND email < ?8"),
            None => ("", "?7 IS NULL AND ?8 IS NULL"),
        };
        let sql = format!(
            "{INVITATION} {index} WHERE {by_team} AND {by_email} AND {AFTER} AND (?4 IS NULL OR +realm = ?4) AND {state}
             {IN_ORDER}"
        );
        let (from, until) = range.unzip();
        let team = filter.team.as_ref().map(TeamId::as_str);
        let (created_at, id) = query.after();
        let realm = filter.realm.map(Realm::code);
        let args = params![created_at, id, query.limit(), realm, now.0, team, from, until];
        self.read(|reader| {
            let rows = reader
                .prepare_cached(&sql)
                .and_then(|mut rows| rows.query_map(args, parse)?.collect())
                .map_err(store_error)?;
            Ok(query.page(rows))
        })
    }

    async fn resend_invitation(
        &self,
        id: &InvitationId,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        // The realm never changes, so it may be read before the transaction.
        let Some(found) = self.find_invitation(id).await? else { return Ok(InvitationOutcome::NotFound) };
        let link = link.sealed(found.realm, self.ports())?;
        let (id, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            change_open(writer, &*random, &id, |before| {
                put_link(writer, &id, &link)?;
                let sql = "UPDATE invitations SET expires_at = ?2 WHERE id = ?1";
                change(writer, sql, params![id.as_str(), link.expires_at.0])?;
                let after = Invitation { expires_at: link.expires_at, ..before.clone() };
                let entry = act.invitation_resent(before, &after);
                Ok((after, entry))
            })
        })
        .await
    }

    async fn revoke_invitation(
        &self,
        id: &InvitationId,
        context: &AuditContext,
    ) -> Result<InvitationOutcome> {
        let (id, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            change_open(writer, &*random, &id, |before| {
                revoke(writer, &id, act.at)?;
                let after = Invitation { revoked_at: Some(act.at), ..before.clone() };
                Ok((after, act.invitation_revoked(before, false)))
            })
        })
        .await
    }

    async fn accept_invitation(
        &self,
        realm: Realm,
        token: &Secret,
        person: &InvitedPerson,
        context: &AuditContext,
    ) -> Result<AcceptOutcome> {
        let hash = invitation_hash(&self.ports().vault, realm, token);
        let (person, act, random) = (person.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| accept(writer, &*random, &hash, &person, &act)).await
    }
}
