//! `aldaba developer`: lists, shows, disables and enables the accounts of the developer portal.

use domain::Realm;
use operator::admin::Admin;
use serde::Serialize;
use store::{Account, Status};

use super::{all_pages, status_name};
use crate::cli::Developer;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::{Output, table};

#[derive(Serialize)]
struct DeveloperView {
    id: String,
    email: String,
    given_name: String,
    lang: String,
    standing: String,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    teams: Option<Vec<TeamView>>,
}

#[derive(Serialize)]
struct TeamView {
    id: String,
    name: String,
    role: &'static str,
}

impl From<Account> for DeveloperView {
    fn from(account: Account) -> Self {
        Self {
            id: account.id.to_string(),
            email: account.email,
            given_name: account.given_name,
            lang: account.lang,
            standing: status_name(account.status),
            created_at: account.created_at.iso(),
            teams: None,
        }
    }
}

impl DeveloperView {
    fn text(&self) -> String {
        let Self { id, email, given_name, lang, standing, created_at, teams } = self;
        let teams = teams.iter().flatten();
        let rows = teams.map(|team| vec![team.id.clone(), team.name.clone(), team.role.to_owned()]);
        format!(
            "id          {id}\nemail       {email}\nname        {given_name}\nlanguage    {lang}\n\
             status      {standing}\ncreated_at  {created_at}\n\n{}",
            table(&["TEAM", "NAME", "ROLE"], rows.collect())
        )
    }
}

pub(crate) async fn run(command: Developer, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Developer::Invite { person, team, owner } => {
            super::invitation::invite_developer(&admin, person, team, owner, output).await?;
        }
        Developer::ResetSecondFactors { developer } => {
            super::reset_second_factors(&admin, Realm::Developers, &developer, output).await?;
        }
        Developer::List => {
            let found =
                all_pages(async |query| admin.store.list_accounts(Realm::Developers, &query).await).await?;
            let all: Vec<DeveloperView> = found.into_iter().map(DeveloperView::from).collect();
            output.list(&all, &["EMAIL", "NAME", "STATUS", "CREATED"], |one| {
                vec![one.email.clone(), one.given_name.clone(), one.standing.clone(), one.created_at.clone()]
            });
        }
        Developer::Show { developer } => {
            let account = admin.find_developer(&developer).await?;
            let teams = admin.developer_teams(&account).await?.into_iter().map(|(team, role)| TeamView {
                id: team.id.to_string(),
                name: team.name,
                role: role.as_str(),
            });
            let view = DeveloperView { teams: Some(teams.collect()), ..account.into() };
            output.result(&view, || view.text());
        }
        Developer::Disable { developer } => set_status(&admin, &developer, Status::Disabled, output).await?,
        Developer::Enable { developer } => set_status(&admin, &developer, Status::Active, output).await?,
    }
    admin.store.close().await;
    Ok(())
}

async fn set_status(admin: &Admin, developer: &str, status: Status, output: Output) -> CommandResult {
    let changed: DeveloperView = admin.set_developer_status(developer, status).await?.into();
    output.done(&changed, &format!("developer {} is {}", changed.email, changed.standing));
    Ok(())
}
