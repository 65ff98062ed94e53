//! Sandboxes and what their receivers got in SQLite.

use async_trait::async_trait;
use domain::{Guid, TeamId, TenantId, Ticks};
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::accounts::{change_account, insert_account};
use super::audit::append_audit;
use super::directory::{change, erase, insert_membership, insert_tenant};
use super::rows::{find, parse};
use super::teams::TEAM;
use super::{SqliteStore, store_error};
use crate::audit::Act;
use crate::plan::{signed, unsigned};
use crate::sandboxes::{open_password, password_purpose, take_events, to_json};
use crate::{
    AccountUpdate, AuditContext, NewSandbox, Ports, RECEIVED_MAX, ReceivedRequest, ReceiverMode,
    ResetSandbox, ResourceSet, Result, Sandbox, SandboxOutcome, Sandboxes, Status, Vault,
};

const SANDBOX: &str = "SELECT s.team_id, s.tenant_id, t.standing AS tenant_standing, s.user_id, a.email, s.password, s.receiver, \
     s.receiver_mode, s.created_at, s.loaded_at FROM sandboxes s JOIN accounts a ON a.id = s.user_id \
     LEFT JOIN tenants t ON t.id = s.tenant_id";
const RECEIVED: &str = "SELECT number, at, webhook, event, method, target, headers, body, problem, verified, status \
     FROM received_requests";

fn find_all(reader: &Connection, vault: &Vault, condition: &str, args: impl Params) -> Result<Vec<Sandbox>> {
    let found: Vec<(Sandbox, Vec<u8>)> = reader
        .prepare_cached(&format!("{SANDBOX} WHERE {condition}"))
        .and_then(|mut all| all.query_map(args, parse)?.collect())
        .map_err(store_error)?;
    let opened = |(one, sealed): (Sandbox, Vec<u8>)| {
        Ok(Sandbox { password: open_password(vault, &one.team, &sealed)?, ..one })
    };
    found.into_iter().map(opened).collect()
}

fn find_one(reader: &Connection, vault: &Vault, team: &TeamId) -> Result<Option<Sandbox>> {
    Ok(find_all(reader, vault, "s.team_id = ?1", [team.as_str()])?.pop())
}

fn add(
    writer: &Connection,
    ports: &Ports,
    id: &TeamId,
    new: &NewSandbox,
    act: &Act,
) -> Result<SandboxOutcome> {
    if find::<crate::Team>(writer, &format!("{TEAM} WHERE id = ?1"), id.as_str(), parse)?.is_none() {
        return Ok(SandboxOutcome::TeamNotFound);
    }
    if let Some(known) = find_one(writer, &ports.vault, id)? {
        return Ok(SandboxOutcome::Exists(known));
    }
    let sealed = ports.vault.seal(&*ports.random, &password_purpose(id), new.password.reveal())?;
    insert_tenant(writer, &new.tenant)?;
    append_audit(writer, &*ports.random, act.tenant_added(&new.tenant))?;
    // Before the membership, which is for the user of this sandbox alone.
    change(
        writer,
        "INSERT INTO sandboxes (team_id, tenant_id, user_id, password, receiver, receiver_mode, created_at, events_day,
             events, received)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0)",
        params![
            id.as_str(),
            new.tenant.id.as_str(),
            new.account.id.as_str(),
            sealed,
            new.receiver.as_bytes(),
            ReceiverMode::default().code(),
            act.at.0
        ],
    )?;
    insert_account(writer, &*ports.random, &new.account, std::slice::from_ref(&new.membership), act)?;
    let Some(made) = find_one(writer, &ports.vault, id)? else { return Ok(SandboxOutcome::NotFound) };
    append_audit(writer, &*ports.random, act.sandbox_added(&made))?;
    Ok(SandboxOutcome::Done(made))
}

fn reset(
    writer: &Connection,
    ports: &Ports,
    id: &TeamId,
    new: &ResetSandbox,
    act: &Act,
) -> Result<SandboxOutcome> {
    let Some(before) = find_one(writer, &ports.vault, id)? else { return Ok(SandboxOutcome::NotFound) };
    if before.tenant_status == Some(Status::Disabled) {
        return Ok(SandboxOutcome::Disabled);
    }
    let random = &*ports.random;
    let update = AccountUpdate { password_hash: Some(new.password_hash.clone()), ..AccountUpdate::default() };
    let _ = change_account(writer, random, &before.user, &update, None, act)?;
    for table in ["second_factors", "recovery_codes"] {
        let sql = format!("DELETE FROM {table} WHERE account_id = ?1");
        change(writer, &sql, [before.user.as_str()])?;
    }
    erase(writer, random, &before.tenant, act)?;
    insert_tenant(writer, &new.tenant)?;
    append_audit(writer, random, act.tenant_added(&new.tenant))?;
    insert_membership(writer, &new.membership)?;
    append_audit(writer, random, act.membership_added(&new.membership))?;
    change(writer, "DELETE FROM received_requests WHERE team_id = ?1", [id.as_str()])?;
    let sealed = ports.vault.seal(random, &password_purpose(id), new.password.reveal())?;
    change(
        writer,
        "UPDATE sandboxes SET tenant_id = ?2, password = ?3, receiver_mode = ?4, loaded_at = NULL WHERE team_id = ?1",
        params![id.as_str(), new.tenant.id.as_str(), sealed, ReceiverMode::default().code()],
    )?;
    let Some(after) = find_one(writer, &ports.vault, id)? else { return Ok(SandboxOutcome::NotFound) };
    append_audit(writer, random, act.sandbox_reset(&before, &after))?;
    Ok(SandboxOutcome::Done(after))
}

fn insert_received(
    writer: &Connection,
    (team, tenant): (&TeamId, &TenantId),
    one: &ReceivedRequest,
) -> Result<()> {
    let number: Option<i64> = writer
        .prepare_cached(
            "UPDATE sandboxes SET received = received + 1 WHERE team_id = ?1 AND tenant_id = ?2 RETURNING received",
        )
        .and_then(|mut next| next.query_row([team.as_str(), tenant.as_str()], |row| row.get(0)).optional())
        .map_err(store_error)?;
    let Some(number) = number else { return Ok(()) };
    change(
        writer,
        "INSERT INTO received_requests (team_id, number, at, webhook, event, method, target, headers, body, problem,
             verified, status)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            team.as_str(),
            number,
            one.at.0,
            one.webhook.as_ref().map(Guid::as_bytes),
            one.event,
            one.method,
            one.target,
            to_json(&one.headers)?,
            one.body,
            one.problem,
            to_json(&one.verified)?,
            one.status
        ],
    )?;
    let oldest = number - i64::try_from(RECEIVED_MAX).unwrap_or(i64::MAX);
    let sql = "DELETE FROM received_requests WHERE team_id = ?1 AND number <= ?2";
    change(writer, sql, params![team.as_str(), oldest]).map(drop)
}

#[async_trait]
impl Sandboxes for SqliteStore {
    async fn add_sandbox(
        &self,
        team: &TeamId,
        new: &NewSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let (ports, team, new, act) = (self.ports().clone(), team.clone(), new.clone(), self.act(context));
        self.write_access(move |writer| add(writer, &ports, &team, &new, &act)).await
    }

    async fn find_sandbox(&self, team: &TeamId) -> Result<Option<Sandbox>> {
        self.read(|reader| find_one(reader, &self.ports().vault, team))
    }

    async fn find_sandbox_by_receiver(&self, receiver: Guid) -> Result<Option<Sandbox>> {
        let vault = &self.ports().vault;
        self.read(|reader| Ok(find_all(reader, vault, "s.receiver = ?1", [receiver.as_bytes()])?.pop()))
    }

    async fn list_sandboxes(&self, after: Option<&TeamId>, rows_max: usize) -> Result<Vec<Sandbox>> {
        let after = after.map_or("", |team| team.as_str());
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let condition = "s.team_id > ?1 ORDER BY s.team_id LIMIT ?2";
        self.read(|reader| find_all(reader, &self.ports().vault, condition, params![after, rows_max]))
    }

    async fn reset_sandbox(
        &self,
        team: &TeamId,
        reset_to: &ResetSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let (ports, team, new, act) =
            (self.ports().clone(), team.clone(), reset_to.clone(), self.act(context));
        let before = self.find_sandbox(&team).await?;
        let done = self.write_access(move |writer| reset(writer, &ports, &team, &new, &act)).await;
        if let Some(before) = before {
            self.inner.invalidation.records_changed(&before.tenant, ResourceSet::default());
            self.inner.invalidation.commit_signal().signal_all();
        }
        done
    }

    async fn mark_sandbox_loaded(&self, tenant: &TenantId, now: Ticks) -> Result<()> {
        let tenant = tenant.clone();
        let sql = "UPDATE sandboxes SET loaded_at = ?2 WHERE tenant_id = ?1";
        self.write(move |writer| change(writer, sql, params![tenant.as_str(), now.0]).map(drop)).await
    }

    async fn take_sandbox_events(
        &self,
        team: &TeamId,
        day: i64,
        count: u64,
        events_max: u64,
    ) -> Result<bool> {
        let team = team.clone();
        self.write(move |writer| {
            let made: Option<(i64, i64)> = writer
                .prepare_cached("SELECT events_day, events FROM sandboxes WHERE team_id = ?1")
                .and_then(|mut find| {
                    find.query_row([team.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()
                })
                .map_err(store_error)?;
            let Some(made) =
                made.and_then(|(on, made)| take_events((on, unsigned(made)), day, count, events_max))
            else {
                return Ok(false);
            };
            let sql = "UPDATE sandboxes SET events_day = ?2, events = ?3 WHERE team_id = ?1";
            change(writer, sql, params![team.as_str(), day, signed(made)])
        })
        .await
    }

    async fn set_receiver_mode(
        &self,
        team: &TeamId,
        mode: ReceiverMode,
        context: &AuditContext,
    ) -> Result<Option<Sandbox>> {
        let (ports, team, act) = (self.ports().clone(), team.clone(), self.act(context));
        self.write(move |writer| {
            let Some(before) = find_one(writer, &ports.vault, &team)? else { return Ok(None) };
            let sql = "UPDATE sandboxes SET receiver_mode = ?2 WHERE team_id = ?1";
            change(writer, sql, params![team.as_str(), mode.code()])?;
            append_audit(writer, &*ports.random, act.sandbox_receiver_changed(&before, mode))?;
            Ok(Some(Sandbox { receiver_mode: mode, ..before }))
        })
        .await
    }

    async fn add_received_request(
        &self,
        team: &TeamId,
        tenant: &TenantId,
        request: &ReceivedRequest,
    ) -> Result<()> {
        let (team, tenant, one) = (team.clone(), tenant.clone(), request.clone());
        self.write(move |writer| insert_received(writer, (&team, &tenant), &one)).await
    }

    async fn received_requests(
        &self,
        team: &TeamId,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<Vec<ReceivedRequest>> {
        let sql = format!(
            "{RECEIVED} WHERE team_id = ?1 AND number < ?2 ORDER BY number DESC LIMIT {RECEIVED_MAX}"
        );
        self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut all| {
                    let args = params![team.as_str(), before.map_or(i64::MAX, signed)];
                    all.query_map(args, parse)?.take(rows_max).collect()
                })
                .map_err(store_error)
        })
    }
}
