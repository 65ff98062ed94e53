//! `aldaba team`: adds, lists and changes teams of developers and their members.

use ::operator::admin::{Admin, AdminError};
use domain::ErrorCode;
use serde::Serialize;
use serde_json::json;
use store::{ListFilter, ListedMember, Status, Team as StoredTeam, TeamRole, TeamUpdate};

use super::{all_pages, status_name};
use crate::cli::Team;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::{Output, table};

#[derive(Serialize)]
struct TeamView {
    id: String,
    name: String,
    standing: String,
    created_at: String,
}

impl From<StoredTeam> for TeamView {
    fn from(team: StoredTeam) -> Self {
        Self {
            id: team.id.to_string(),
            name: team.name,
            standing: status_name(team.status),
            created_at: team.created_at.iso(),
        }
    }
}

#[derive(Serialize)]
struct MemberView {
    developer: String,
    email: String,
    role: &'static str,
    standing: String,
}

impl From<ListedMember> for MemberView {
    fn from(listed: ListedMember) -> Self {
        Self {
            developer: listed.member.account.to_string(),
            email: listed.email,
            role: listed.member.role.as_str(),
            standing: status_name(listed.status),
        }
    }
}

/// A team with its members.
#[derive(Serialize)]
struct TeamWithMembers {
    #[serde(flatten)]
    team: TeamView,
    members: Vec<MemberView>,
}

impl TeamWithMembers {
    fn text(&self) -> String {
        let TeamView { id, name, standing, created_at } = &self.team;
        let members = self
            .members
            .iter()
            .map(|member| vec![member.email.clone(), member.role.to_owned(), member.standing.clone()]);
        format!(
            "team        {id}\nname        {name}\nstatus      {standing}\ncreated_at  {created_at}\n\n{}",
            table(&["DEVELOPER", "ROLE", "STATUS"], members.collect())
        )
    }
}

pub(crate) async fn run(command: Team, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Team::Add { name, id } => {
            let team: TeamView = admin.add_team(id.as_deref(), &name).await?.into();
            output.result(&team, || team.id.clone());
        }
        Team::List => {
            let filter = ListFilter::default();
            let teams = all_pages(async |query| admin.store.list_teams(&filter, &query).await).await?;
            let all: Vec<TeamView> = teams.into_iter().map(TeamView::from).collect();
            output.list(&all, &["ID", "NAME", "STATUS", "CREATED"], |team| {
                vec![team.id.clone(), team.name.clone(), team.standing.clone(), team.created_at.clone()]
            });
        }
        Team::Show { team } => {
            let members = admin.team_members(&team).await?.into_iter().map(MemberView::from).collect();
            let view = TeamWithMembers { team: admin.team(&team).await?.into(), members };
            output.result(&view, || view.text());
        }
        Team::Rename { team, name } => {
            let update = TeamUpdate { name: Some(name), ..TeamUpdate::default() };
            let renamed: TeamView = admin.update_team(&team, update, None).await?.into();
            output.done(&renamed, &format!("team {team} is named {}", renamed.name));
        }
        Team::Disable { team } => set_status(&admin, &team, Status::Disabled, output).await?,
        Team::Enable { team } => set_status(&admin, &team, Status::Active, output).await?,
        Team::Join { team, email, owner } => {
            let role = if owner { TeamRole::Owner } else { TeamRole::Member };
            let member = match admin.add_team_member(&team, &email, role).await {
                Err(AdminError::Conflict { code: ErrorCode::Exists, .. }) => {
                    admin.set_team_role(&team, &email, role).await?
                }
                added => added?,
            };
            let role = member.role.as_str();
            let data = json!({"team": team, "developer": member.account, "role": role});
            output.done(&data, &format!("{email} is in team {team} as {role}"));
        }
        Team::Leave { team, email } => {
            let member = admin.remove_team_member(&team, &email).await?;
            let data = json!({"team": team, "developer": member.account});
            output.done(&data, &format!("{email} is no longer in team {team}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn set_status(admin: &Admin, team: &str, status: Status, output: Output) -> CommandResult {
    let changed: TeamView = admin.set_team_status(team, status).await?.into();
    output.done(&changed, &format!("team {team} is {}", changed.standing));
    Ok(())
}
