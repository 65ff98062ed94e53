//! The list of teams.

use operator::admin::Permission;
use pages::{PageContext, PageError, Params, Response};

use super::form::{optional, text};
use super::lists::{filter, read};
use crate::applications::views::teams::{TeamRow, TeamsPage};
use crate::context::Context;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (admin, filter) = (context.admin(), filter(context));
    let (rows, next) = read(context, |query| {
        let (admin, filter) = (admin.clone(), filter.clone());
        async move { admin.teams(&filter, &query).await }
    })
    .await?;
    Ok(context.show(&TeamsPage { teams: rows.iter().map(TeamRow::new).collect(), next }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    context.authority().require(Permission::Accounts)?;
    match form.get("do") {
        Some("add") => {
            let id = optional(form, "id");
            let team = context.admin().add_team(id.as_deref(), &text(form, "name")).await?;
            let page = context.console_path(&format!("teams/{}", team.id));
            Ok(context.done(&page, "team_made", &TeamRow::new(&team)))
        }
        _ => Err(PageError::no_action()),
    }
}
