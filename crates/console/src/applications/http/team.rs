//! One team: its members, and what it owns.

use domain::TeamId;
use operator::admin::{AdminError, Permission};
use pages::{PageContext, PageError, Params, Response};
use store::{ListFilter, ListQuery, RequestFilter, RequestState, Status, TeamRole, TeamUpdate};

use super::form::{named, require, text};
use crate::applications::views::clients::ClientRow;
use crate::applications::views::parts::TeamRef;
use crate::applications::views::requests::RequestRow;
use crate::applications::views::subscriptions::SubscriptionRow;
use crate::applications::views::team::{MemberRow, SandboxFacts, TeamPage};
use crate::applications::views::teams::TeamRow;
use crate::context::Context;

/// So many clients and subscriptions are on the page itself; a link leads to all.
const ROWS: usize = 20;

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let team = admin.team(context.segment("team")).await?;
    let query = ListQuery { after: None, rows_max: ROWS };
    let owned = ListFilter::of_team(&team.id);
    let pending = RequestFilter { team: Some(team.id.clone()), state: Some(RequestState::Pending) };
    let members = admin.team_members(team.id.as_str()).await?;
    let clients = admin.clients(&owned, &query).await?;
    let subscriptions = admin.subscriptions(&owned, &query).await?;
    let requests = admin.requests(&pending, &query).await?;
    let sandbox = admin.team_sandbox(&team.id).await?;
    let this = || TeamRef { id: team.id.to_string(), name: Some(team.name.clone()) };
    Ok(context.show(&TeamPage {
        members: members.into_iter().map(MemberRow::new).collect(),
        has_more_clients: clients.next.is_some(),
        clients: clients.rows.iter().map(|one| ClientRow::new(one, Some(this()))).collect(),
        has_more_subscriptions: subscriptions.next.is_some(),
        subscriptions: subscriptions.rows.iter().map(|one| SubscriptionRow::new(one, Some(this()))).collect(),
        requests: requests.rows.iter().map(|one| RequestRow::new(one, this())).collect(),
        sandbox: sandbox.as_ref().map(SandboxFacts::new),
        team: TeamRow::new(&team),
    }))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    let id = context.segment("team");
    match form.get("do") {
        Some("rename") => {
            context.authority().require(Permission::Accounts)?;
            let update = TeamUpdate { name: Some(text(form, "name")), ..TeamUpdate::default() };
            let team = context.admin().update_team(id, update, None).await?;
            Ok(context.done(&here(context), "team_renamed", &TeamRow::new(&team)))
        }
        Some("disable") => set_status(context, Status::Disabled, "team_disabled").await,
        Some("enable") => set_status(context, Status::Active, "team_enabled").await,
        Some("add_member" | "set_role" | "remove_member") => change_member(context, form).await,
        Some("close_sandbox") => set_sandbox(context, Status::Disabled, "team_sandbox_closed").await,
        Some("open_sandbox") => set_sandbox(context, Status::Active, "team_sandbox_opened").await,
        _ => Err(PageError::no_action()),
    }
}

fn here(context: &Context) -> String {
    context.console_path(&format!("teams/{}", context.segment("team")))
}

async fn set_status(context: &Context, status: Status, code: &'static str) -> Result<Response, PageError> {
    require(context, Permission::Accounts)?;
    let team = context.admin().set_team_status(context.segment("team"), status).await?;
    Ok(context.done(&here(context), code, &TeamRow::new(&team)))
}

async fn change_member(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Accounts)?;
    let (admin, team, member) = (context.admin(), context.segment("team"), text(form, "member"));
    // A team that does not exist is a page that does not exist; a person is a refusal.
    admin.team(team).await?;
    let role = TeamRole::from_name(form.get("role").unwrap_or_default()).unwrap_or(TeamRole::Member);
    let (changed, code) = match form.get("do") {
        Some("add_member") => (admin.add_team_member(team, &member, role).await, "team_member_added"),
        Some("set_role") => (admin.set_team_role(team, &member, role).await, "team_role_changed"),
        _ => (admin.remove_team_member(team, &member).await, "team_member_removed"),
    };
    let changed = named(changed)?;
    let values = serde_json::json!({ "member": changed.account, "role": changed.role.as_str() });
    Ok(context.done(&here(context), code, &values))
}

/// A sandbox is open while its tenant is enabled.
async fn set_sandbox(context: &Context, status: Status, code: &'static str) -> Result<Response, PageError> {
    require(context, Permission::Configuration)?;
    let (admin, team) = (context.admin(), context.segment("team"));
    let sandbox = admin.team_sandbox(&TeamId::new(team)).await?;
    let sandbox = sandbox.ok_or_else(|| AdminError::NotFound(format!("sandbox of team \"{team}\"")))?;
    let tenant = admin.set_tenant_status(&sandbox.tenant, status).await?;
    let values = serde_json::json!({ "tenant": tenant.id, "status": tenant.status.as_str() });
    Ok(context.done(&here(context), code, &values))
}
