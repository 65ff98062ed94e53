//! Teams and their members in SQLite.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, ClientId, Random, Realm, TeamId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::audit::append_audit;
use super::directory::change;
use super::rows::{find, list_filtered, parse};
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::list_filter::TEAMS;
use crate::plan::signed;
use crate::sandboxes::sandbox_clients;
use crate::teams::{MemberWrite, decide_member};
use crate::{
    AuditContext, LIST_ROWS_MAX, ListFilter, ListPage, ListQuery, ListedMember, MemberStep, Result,
    SandboxClients, Status, Team, TeamMember, TeamMemberChange, TeamMemberOutcome, TeamRole, TeamUpdate,
    Teams, UpdateOutcome,
};

pub(super) const TEAM: &str = "SELECT id, name, standing, created_at, revision FROM teams";
const MEMBER: &str = "SELECT team_id, account_id, role, created_at FROM team_members";
/// Clients of teams, with the products of each active subscription of the team, if there is one.
const TEAM_CLIENTS: &str = "SELECT DISTINCT c.id, s.products FROM clients c \
     LEFT JOIN teams t ON t.id = c.team_id AND t.standing = 1 AND c.sandbox = 0 \
     LEFT JOIN subscriptions s ON s.team_id = t.id AND s.standing = 1 AND s.cancelled_at IS NULL AND s.sandbox = 0 \
     WHERE (c.team_id IS NOT NULL OR c.sandbox = 1)";

fn all<T>(
    reader: &Connection,
    sql: &str,
    args: impl Params,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    reader.prepare_cached(sql).and_then(|mut all| all.query_map(args, row)?.collect()).map_err(store_error)
}

/// Sandbox tenants, with the clients of their team, and the products of each active subscription of the team.
fn sandbox_sql(hint: &str, client: &str) -> String {
    format!(
        "SELECT DISTINCT n.id AS tenant_id, c.id AS client_id, s.products FROM tenants n {hint}
         LEFT JOIN teams t ON t.id = n.sandbox_team AND t.standing = 1
         LEFT JOIN clients c ON c.team_id = t.id {client}
         LEFT JOIN subscriptions s ON s.team_id = t.id AND s.standing = 1 AND s.cancelled_at IS NULL
         WHERE n.sandbox_team IS NOT NULL"
    )
}

/// All sandboxes by tenant, with the clients that they are open to.
pub(super) fn all_sandbox_clients(reader: &Connection) -> Result<Vec<SandboxClients>> {
    let sql = format!("{} ORDER BY n.id, c.id", sandbox_sql("INDEXED BY tenants_by_sandbox_team", ""));
    Ok(sandbox_clients(all(reader, &sql, [], parse)?))
}

/// Clients of teams by id, with the products of each active subscription of their team.
pub(super) fn team_clients(reader: &Connection) -> Result<Vec<(ClientId, Option<Products>)>> {
    all(reader, &format!("{TEAM_CLIENTS} ORDER BY c.id"), [], parse)
}

/// The products of the active subscriptions of the client's team that open the tenant; None: the client belongs to no team,
/// and the tenant is no sandbox.
pub(super) fn team_products(reader: &Connection, tenant: &str, client: &str) -> Result<Option<Products>> {
    let sql = format!("{} AND n.id = ?1", sandbox_sql("", "AND c.id = ?2"));
    if let Some(sandbox) = sandbox_clients(all(reader, &sql, [tenant, client], parse)?).pop() {
        return Ok(Some(sandbox.products_of(&ClientId::new(client))));
    }
    let found: Vec<(ClientId, Option<Products>)> =
        all(reader, &format!("{TEAM_CLIENTS} AND c.id = ?1"), [client], parse)?;
    Ok(found.into_iter().map(|(_, products)| products.unwrap_or_default()).reduce(Products::union))
}

/// Changes the members of a team, and audits it.
pub(super) fn change_member(
    writer: &Connection,
    random: &dyn Random,
    one: &TeamMemberChange,
    act: &Act,
) -> Result<TeamMemberOutcome> {
    if find::<Team>(writer, &format!("{TEAM} WHERE id = ?1"), one.team.as_str(), parse)?.is_none() {
        return Ok(TeamMemberOutcome::TeamNotFound);
    }
    if matches!(one.step, MemberStep::Add(_)) && !is_developer(writer, &one.account)? {
        return Ok(TeamMemberOutcome::AccountNotFound);
    }
    let members = all(writer, &format!("{MEMBER} WHERE team_id = ?1"), [one.team.as_str()], parse)?;
    let ids = (one.team.as_str(), one.account.as_str());
    let (after, entry) = match decide_member(&members, one, act.at) {
        MemberWrite::Nothing(outcome) => return Ok(outcome),
        MemberWrite::Insert(new) => {
            change(
                writer,
                "INSERT INTO team_members (team_id, account_id, role, created_at) VALUES (?1, ?2, ?3, ?4)",
                params![ids.0, ids.1, new.role.code(), new.created_at.0],
            )?;
            let entry = act.team_member_added(&new);
            (new, entry)
        }
        MemberWrite::Update { before, after } => {
            change(
                writer,
                "UPDATE team_members SET role = ?3 WHERE team_id = ?1 AND account_id = ?2",
                params![ids.0, ids.1, after.role.code()],
            )?;
            let entry = act.team_member_changed(&before, &after);
            (after, entry)
        }
        MemberWrite::Delete(gone) => {
            change(writer, "DELETE FROM team_members WHERE team_id = ?1 AND account_id = ?2", ids)?;
            let entry = act.team_member_removed(&gone);
            (gone, entry)
        }
    };
    append_audit(writer, random, entry)?;
    Ok(TeamMemberOutcome::Done(after))
}

fn is_developer(writer: &Connection, account: &AccountId) -> Result<bool> {
    writer
        .prepare_cached("SELECT 1 FROM accounts WHERE id = ?1 AND realm = ?2")
        .and_then(|mut find| find.exists(params![account.as_str(), Realm::Developers.code()]))
        .map_err(store_error)
}

#[async_trait]
impl Teams for SqliteStore {
    async fn add_team(&self, team: &Team, context: &AuditContext) -> Result<()> {
        let (one, act, random) = (team.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO teams (id, name, standing, created_at, revision) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        one.id.as_str(),
                        one.name,
                        one.status.code(),
                        one.created_at.0,
                        signed(one.revision)
                    ],
                )
                .map_err(exists(format!("a team \"{}\"", one.id)))?;
            append_audit(writer, &*random, act.team_added(&one))
        })
        .await
    }

    async fn find_team(&self, id: &TeamId) -> Result<Option<Team>> {
        self.read(|reader| find(reader, &format!("{TEAM} WHERE id = ?1"), id.as_str(), parse))
    }

    async fn list_teams(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Team>> {
        self.read(|reader| list_filtered(reader, (TEAM, TEAMS), filter, query, parse))
    }

    async fn update_team(
        &self,
        id: &TeamId,
        update: &TeamUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Team>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            let row = || find(writer, &format!("{TEAM} WHERE id = ?1"), id.as_str(), parse);
            let before = row()?;
            let updated = change(
                writer,
                "UPDATE teams SET name = coalesce(?2, name), standing = coalesce(?3, standing),
                     revision = revision + 1
                 WHERE id = ?1 AND (?4 IS NULL OR revision = ?4)",
                params![
                    id.as_str(),
                    update.name,
                    update.status.map(Status::code),
                    expected_revision.map(signed)
                ],
            )?;
            let outcome = UpdateOutcome::of(updated, row()?);
            if let (Some(before), UpdateOutcome::Updated(after)) = (&before, &outcome) {
                append_audit(writer, &*random, act.team_changed(before, after))?;
            }
            Ok(outcome)
        })
        .await
    }

    async fn change_team_member(
        &self,
        change: &TeamMemberChange,
        context: &AuditContext,
    ) -> Result<TeamMemberOutcome> {
        let (one, act, random) = (change.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| change_member(writer, &*random, &one, &act)).await
    }

    async fn find_team_member(&self, team: &TeamId, account: &AccountId) -> Result<Option<TeamMember>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{MEMBER} WHERE team_id = ?1 AND account_id = ?2"))
                .and_then(|mut find| find.query_row([team.as_str(), account.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn team_members(&self, team: &TeamId) -> Result<Vec<ListedMember>> {
        let sql = "SELECT m.team_id, m.account_id, m.role, m.created_at, a.email, a.given_name, a.standing
                   FROM team_members m JOIN accounts a ON a.id = m.account_id
                   WHERE m.team_id = ?1 ORDER BY m.created_at, m.account_id";
        self.read(|reader| all(reader, sql, [team.as_str()], parse))
    }

    async fn developer_teams(&self, account: &AccountId) -> Result<Vec<(Team, TeamRole)>> {
        let sql = format!(
            "SELECT t.id, t.name, t.standing, t.created_at, t.revision, m.role
             FROM team_members m JOIN teams t ON t.id = m.team_id
             WHERE m.account_id = ?1 ORDER BY t.id LIMIT {LIST_ROWS_MAX}"
        );
        self.read(|reader| all(reader, &sql, [account.as_str()], parse))
    }
}
