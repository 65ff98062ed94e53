//! Sandboxes and what their receivers got in PostgreSQL. Changes of one sandbox take turns by the lock of its team.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{Guid, TeamId, TenantId, Ticks};
use tokio_postgres::Row;

use super::accounts::{change_account, insert_account};
use super::audit::append_audit;
use super::directory::{erase, insert_membership, insert_tenant};
use super::rows::{Args, execute, limit, parse, row, rows};
use super::teams::lock_team;
use super::{PostgresStore, store_error};
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

fn sandbox(row: &Row, vault: &Vault) -> Result<Sandbox> {
    let (one, sealed): (Sandbox, Vec<u8>) = parse(row)?;
    Ok(Sandbox { password: open_password(vault, &one.team, &sealed)?, ..one })
}

async fn find_one(on: &Transaction<'_>, vault: &Vault, team: &TeamId) -> Result<Option<Sandbox>> {
    let found = row(on, &format!("{SANDBOX} WHERE s.team_id = $1"), &[&team.as_str()]).await?;
    found.map(|row| sandbox(&row, vault)).transpose()
}

async fn run(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<()> {
    execute(on, sql, args).await.map(drop).map_err(store_error)
}

async fn add(
    on: &Transaction<'_>,
    ports: &Ports,
    team: &TeamId,
    new: &NewSandbox,
    act: &Act,
) -> Result<SandboxOutcome> {
    if lock_team(on, team).await?.is_none() {
        return Ok(SandboxOutcome::TeamNotFound);
    }
    if let Some(known) = find_one(on, &ports.vault, team).await? {
        return Ok(SandboxOutcome::Exists(known));
    }
    let sealed = ports.vault.seal(&*ports.random, &password_purpose(team), new.password.reveal())?;
    insert_tenant(on, &new.tenant).await?;
    append_audit(on, &*ports.random, act.tenant_added(&new.tenant)).await?;
    // Before the membership, which is for the user of this sandbox alone.
    run(
        on,
        "INSERT INTO sandboxes (team_id, tenant_id, user_id, password, receiver, receiver_mode, created_at, events_day,
             events, received)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0)",
        &[
            &team.as_str(),
            &new.tenant.id.as_str(),
            &new.account.id.as_str(),
            &sealed,
            &new.receiver.as_bytes().as_slice(),
            &ReceiverMode::default().code(),
            &act.at.0,
        ],
    )
    .await?;
    let memberships = std::slice::from_ref(&new.membership);
    insert_account(on, &*ports.random, &new.account, memberships, act).await?;
    let Some(made) = find_one(on, &ports.vault, team).await? else { return Ok(SandboxOutcome::NotFound) };
    append_audit(on, &*ports.random, act.sandbox_added(&made)).await?;
    Ok(SandboxOutcome::Done(made))
}

async fn reset(
    on: &Transaction<'_>,
    ports: &Ports,
    team: &TeamId,
    new: &ResetSandbox,
    act: &Act,
) -> Result<SandboxOutcome> {
    lock_team(on, team).await?;
    let Some(before) = find_one(on, &ports.vault, team).await? else { return Ok(SandboxOutcome::NotFound) };
    if before.tenant_status == Some(Status::Disabled) {
        return Ok(SandboxOutcome::Disabled);
    }
    let random = &*ports.random;
    // Codes are locked before sessions, as in an exchange.
    let codes = "SELECT hash FROM codes WHERE tenant_id = $1 AND used_at IS NULL ORDER BY hash FOR UPDATE";
    rows(on, codes, &[&before.tenant.as_str()]).await?;
    let update = AccountUpdate { password_hash: Some(new.password_hash.clone()), ..AccountUpdate::default() };
    let _ = change_account(on, random, &before.user, &update, None, act).await?;
    for table in ["second_factors", "recovery_codes"] {
        let sql = format!("DELETE FROM {table} WHERE account_id = $1");
        run(on, &sql, &[&before.user.as_str()]).await?;
    }
    erase(on, random, &before.tenant, act).await?;
    insert_tenant(on, &new.tenant).await?;
    append_audit(on, random, act.tenant_added(&new.tenant)).await?;
    insert_membership(on, &new.membership).await?;
    append_audit(on, random, act.membership_added(&new.membership)).await?;
    run(on, "DELETE FROM received_requests WHERE team_id = $1", &[&team.as_str()]).await?;
    let sealed = ports.vault.seal(random, &password_purpose(team), new.password.reveal())?;
    run(
        on,
        "UPDATE sandboxes SET tenant_id = $2, password = $3, receiver_mode = $4, loaded_at = NULL WHERE team_id = $1",
        &[&team.as_str(), &new.tenant.id.as_str(), &sealed, &ReceiverMode::default().code()],
    )
    .await?;
    let Some(after) = find_one(on, &ports.vault, team).await? else { return Ok(SandboxOutcome::NotFound) };
    append_audit(on, random, act.sandbox_reset(&before, &after)).await?;
    Ok(SandboxOutcome::Done(after))
}

async fn insert_received(
    on: &Transaction<'_>,
    (team, tenant): (&TeamId, &TenantId),
    one: &ReceivedRequest,
) -> Result<()> {
    let next = "UPDATE sandboxes SET received = received + 1 WHERE team_id = $1 AND tenant_id = $2 RETURNING received";
    let Some(number) = row(on, next, &[&team.as_str(), &tenant.as_str()]).await? else { return Ok(()) };
    let number: i64 = number.get(0);
    run(
        on,
        "INSERT INTO received_requests (team_id, number, at, webhook, event, method, target, headers, body, problem,
             verified, status)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        &[
            &team.as_str(),
            &number,
            &one.at.0,
            &one.webhook.as_ref().map(|id| id.as_bytes().as_slice()),
            &one.event,
            &one.method,
            &one.target,
            &to_json(&one.headers)?,
            &one.body,
            &one.problem,
            &to_json(&one.verified)?,
            &one.status.map(i64::from),
        ],
    )
    .await?;
    let oldest = number - i64::try_from(RECEIVED_MAX).unwrap_or(i64::MAX);
    let sql = "DELETE FROM received_requests WHERE team_id = $1 AND number <= $2";
    run(on, sql, &[&team.as_str(), &oldest]).await
}

#[async_trait]
impl Sandboxes for PostgresStore {
    async fn add_sandbox(
        &self,
        team: &TeamId,
        new: &NewSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let made = add(&transaction, self.ports(), team, new, &self.act(context)).await?;
        transaction.commit().await.map_err(store_error)?;
        self.access_changed();
        Ok(made)
    }

    async fn find_sandbox(&self, team: &TeamId) -> Result<Option<Sandbox>> {
        let found = self.row(&format!("{SANDBOX} WHERE s.team_id = $1"), &[&team.as_str()]).await?;
        found.map(|row| sandbox(&row, &self.ports().vault)).transpose()
    }

    async fn find_sandbox_by_receiver(&self, receiver: Guid) -> Result<Option<Sandbox>> {
        let sql = format!("{SANDBOX} WHERE s.receiver = $1");
        let found = self.row(&sql, &[&receiver.as_bytes().as_slice()]).await?;
        found.map(|row| sandbox(&row, &self.ports().vault)).transpose()
    }

    async fn list_sandboxes(&self, after: Option<&TeamId>, rows_max: usize) -> Result<Vec<Sandbox>> {
        let sql = format!("{SANDBOX} WHERE s.team_id > $1 ORDER BY s.team_id LIMIT $2");
        let after = after.map_or("", |team| team.as_str());
        let found = self.rows(&sql, &[&after, &limit(rows_max)]).await?;
        found.iter().map(|row| sandbox(row, &self.ports().vault)).collect()
    }

    async fn reset_sandbox(
        &self,
        team: &TeamId,
        reset_to: &ResetSandbox,
        context: &AuditContext,
    ) -> Result<SandboxOutcome> {
        let before = self.find_sandbox(team).await?;
        let mut client = self.long_client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let done = reset(&transaction, self.ports(), team, reset_to, &self.act(context)).await?;
        transaction.commit().await.map_err(store_error)?;
        self.access_changed();
        if let Some(before) = before {
            self.records_changed(&before.tenant, ResourceSet::default());
        }
        self.all_changed();
        Ok(done)
    }

    async fn mark_sandbox_loaded(&self, tenant: &TenantId, now: Ticks) -> Result<()> {
        let sql = "UPDATE sandboxes SET loaded_at = $2 WHERE team_id =
                   (SELECT sandbox_team FROM tenants WHERE id = $1) AND tenant_id = $1";
        self.change(sql, &[&tenant.as_str(), &now.0]).await.map(drop)
    }

    async fn take_sandbox_events(
        &self,
        team: &TeamId,
        day: i64,
        count: u64,
        events_max: u64,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let find = "SELECT events_day, events FROM sandboxes WHERE team_id = $1 FOR UPDATE";
        let Some(found) = row(&transaction, find, &[&team.as_str()]).await? else { return Ok(false) };
        let Some(made) = take_events((found.get(0), unsigned(found.get(1))), day, count, events_max) else {
            return Ok(false);
        };
        let sql = "UPDATE sandboxes SET events_day = $2, events = $3 WHERE team_id = $1";
        run(&transaction, sql, &[&team.as_str(), &day, &signed(made)]).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn set_receiver_mode(
        &self,
        team: &TeamId,
        mode: ReceiverMode,
        context: &AuditContext,
    ) -> Result<Option<Sandbox>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock_team(&transaction, team).await?;
        let Some(before) = find_one(&transaction, &self.ports().vault, team).await? else { return Ok(None) };
        let sql = "UPDATE sandboxes SET receiver_mode = $2 WHERE team_id = $1";
        run(&transaction, sql, &[&team.as_str(), &mode.code()]).await?;
        let entry = self.act(context).sandbox_receiver_changed(&before, mode);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(Some(Sandbox { receiver_mode: mode, ..before }))
    }

    async fn add_received_request(
        &self,
        team: &TeamId,
        tenant: &TenantId,
        request: &ReceivedRequest,
    ) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        insert_received(&transaction, (team, tenant), request).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn received_requests(
        &self,
        team: &TeamId,
        before: Option<u64>,
        rows_max: usize,
    ) -> Result<Vec<ReceivedRequest>> {
        let sql = format!("{RECEIVED} WHERE team_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3");
        let before = before.map_or(i64::MAX, signed);
        let found = self.rows(&sql, &[&team.as_str(), &before, &limit(rows_max.min(RECEIVED_MAX))]).await?;
        found.iter().map(parse).collect()
    }
}
