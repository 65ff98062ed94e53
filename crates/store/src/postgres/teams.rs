//! Teams and their members in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, Random, Realm, TeamId};

use super::audit::append_audit;
use super::rows::{execute, parse, parse_all, row, rows};
use super::{PostgresStore, store_error};
use crate::audit::Act;
use crate::list_filter::TEAMS;
use crate::plan::signed;
use crate::teams::{MemberWrite, decide_member};
use crate::{
    AuditContext, LIST_ROWS_MAX, ListFilter, ListPage, ListQuery, ListedMember, MemberStep, Result, Status,
    Team, TeamMember, TeamMemberChange, TeamMemberOutcome, TeamRole, TeamUpdate, Teams, UpdateOutcome,
};

pub(super) const TEAM: &str = "SELECT id, name, standing, created_at, revision FROM teams";
const MEMBER: &str = "SELECT team_id, account_id, role, created_at FROM team_members";
/// Clients of teams, with the products of each active subscription of the team, if there is one.
pub(super) const TEAM_CLIENTS: &str = "SELECT DISTINCT c.id, s.products FROM clients c \
     LEFT JOIN teams t ON t.id = c.team_id AND t.standing = 1 AND c.sandbox = 0 \
     LEFT JOIN subscriptions s ON s.team_id = t.id AND s.standing = 1 AND s.cancelled_at IS NULL AND s.sandbox = 0 \
     WHERE (c.team_id IS NOT NULL OR c.sandbox = 1)";

/// Sandbox tenants, with the clients of their team, and the products of each active subscription of the team.
pub(super) const SANDBOX_CLIENTS: &str = "SELECT DISTINCT n.id AS tenant_id, c.id AS client_id, s.products FROM tenants n \
     LEFT JOIN teams t ON t.id = n.sandbox_team AND t.standing = 1 \
     LEFT JOIN clients c ON c.team_id = t.id \
     LEFT JOIN subscriptions s ON s.team_id = t.id AND s.standing = 1 AND s.cancelled_at IS NULL \
     WHERE n.sandbox_team IS NOT NULL";

/// Finds a team and locks it, so that concurrent changes of its members and requests take turns.
pub(super) async fn lock_team(on: &Transaction<'_>, id: &TeamId) -> Result<Option<Team>> {
    let found = row(on, &format!("{TEAM} WHERE id = $1 FOR UPDATE"), &[&id.as_str()]).await?;
    found.as_ref().map(parse).transpose()
}

/// Changes the members of a team, and audits it.
pub(super) async fn change_member(
    on: &Transaction<'_>,
    random: &dyn Random,
    one: &TeamMemberChange,
    act: &Act,
) -> Result<TeamMemberOutcome> {
    if lock_team(on, &one.team).await?.is_none() {
        return Ok(TeamMemberOutcome::TeamNotFound);
    }
    let (team, account) = (one.team.as_str(), one.account.as_str());
    if matches!(one.step, MemberStep::Add(_)) {
        let developer = "SELECT 1 FROM accounts WHERE id = $1 AND realm = $2";
        if row(on, developer, &[&account, &Realm::Developers.code()]).await?.is_none() {
            return Ok(TeamMemberOutcome::AccountNotFound);
        }
    }
    let members = rows(on, &format!("{MEMBER} WHERE team_id = $1"), &[&team]).await?;
    let members: Vec<TeamMember> = members.iter().map(parse).collect::<Result<_>>()?;
    let (after, entry) = match decide_member(&members, one, act.at) {
        MemberWrite::Nothing(outcome) => return Ok(outcome),
        MemberWrite::Insert(new) => {
            let sql =
                "INSERT INTO team_members (team_id, account_id, role, created_at) VALUES ($1, $2, $3, $4)";
            execute(on, sql, &[&team, &account, &new.role.code(), &new.created_at.0])
                .await
                .map_err(store_error)?;
            let entry = act.team_member_added(&new);
            (new, entry)
        }
        MemberWrite::Update { before, after } => {
            let sql = "UPDATE team_members SET role = $3 WHERE team_id = $1 AND account_id = $2";
            execute(on, sql, &[&team, &account, &after.role.code()]).await.map_err(store_error)?;
            let entry = act.team_member_changed(&before, &after);
            (after, entry)
        }
        MemberWrite::Delete(gone) => {
            let sql = "DELETE FROM team_members WHERE team_id = $1 AND account_id = $2";
            execute(on, sql, &[&team, &account]).await.map_err(store_error)?;
            let entry = act.team_member_removed(&gone);
            (gone, entry)
        }
    };
    append_audit(on, random, entry).await?;
    Ok(TeamMemberOutcome::Done(after))
}

#[async_trait]
impl Teams for PostgresStore {
    async fn add_team(&self, team: &Team, context: &AuditContext) -> Result<()> {
        self.insert(
            format!("a team \"{}\"", team.id),
            "INSERT INTO teams (id, name, standing, created_at, revision) VALUES ($1, $2, $3, $4, $5)",
            &[&team.id.as_str(), &team.name, &team.status.code(), &team.created_at.0, &signed(team.revision)],
            self.act(context).team_added(team),
        )
        .await
    }

    async fn find_team(&self, id: &TeamId) -> Result<Option<Team>> {
        self.row(&format!("{TEAM} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn list_teams(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Team>> {
        let rows = self.list_filtered((TEAM, TEAMS), filter, query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn update_team(
        &self,
        id: &TeamId,
        update: &TeamUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Team>> {
        let (updated, row) = self
            .update_row(
                (
                    "UPDATE teams SET name = coalesce($2, name), standing = coalesce($3, standing),
                         revision = revision + 1
                     WHERE id = $1 AND ($4::bigint IS NULL OR revision = $4)",
                    &[
                        &id.as_str(),
                        &update.name,
                        &update.status.map(Status::code),
                        &expected_revision.map(signed),
                    ],
                ),
                (&format!("{TEAM} WHERE id = $1"), id.as_str()),
                parse,
                |before, after| self.act(context).team_changed(before, after),
            )
            .await?;
        Ok(UpdateOutcome::of(updated, row))
    }

    async fn change_team_member(
        &self,
        change: &TeamMemberChange,
        context: &AuditContext,
    ) -> Result<TeamMemberOutcome> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let act = self.act(context);
        let outcome = change_member(&transaction, &*self.ports().random, change, &act).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(outcome)
    }

    async fn find_team_member(&self, team: &TeamId, account: &AccountId) -> Result<Option<TeamMember>> {
        let sql = format!("{MEMBER} WHERE team_id = $1 AND account_id = $2");
        self.row(&sql, &[&team.as_str(), &account.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn team_members(&self, team: &TeamId) -> Result<Vec<ListedMember>> {
        let sql = "SELECT m.team_id, m.account_id, m.role, m.created_at, a.email, a.given_name, a.standing
                   FROM team_members m JOIN accounts a ON a.id = m.account_id
                   WHERE m.team_id = $1 ORDER BY m.created_at, m.account_id";
        parse_all(&self.rows(sql, &[&team.as_str()]).await?)
    }

    async fn developer_teams(&self, account: &AccountId) -> Result<Vec<(Team, TeamRole)>> {
        let sql = format!(
            "SELECT t.id, t.name, t.standing, t.created_at, t.revision, m.role
             FROM team_members m JOIN teams t ON t.id = m.team_id
             WHERE m.account_id = $1 ORDER BY t.id LIMIT {LIST_ROWS_MAX}"
        );
        parse_all(&self.rows(&sql, &[&account.as_str()]).await?)
    }
}
