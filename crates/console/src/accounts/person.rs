//! The handlers of one developer and of one operator.

use domain::{OperatorRole, Realm};
use operator::admin::{OperatorChange, Permission};
use pages::{PageContext, PageError, Params, Response};
use serde_json::json;
use store::{Account, InvitationFilter, ListQuery};

use super::account::{self, ActionOutcome};
use super::invitations;
use super::parts::require;
use super::views::person::{DeveloperPage, OperatorPage, TeamRow, TokenRow};
use crate::context::Context;

/// How many invitations to an address are read.
const INVITATIONS_MAX: usize = 20;

pub(crate) async fn developer(context: &Context) -> Result<Response, PageError> {
    let developer = context.admin().find_developer(context.segment("developer")).await?;
    show_developer(context, &developer, None).await
}

async fn show_developer(
    context: &Context,
    developer: &Account,
    link: Option<String>,
) -> Result<Response, PageError> {
    let admin = context.admin();
    let teams = admin.developer_teams(developer).await?;
    let filter = InvitationFilter {
        realm: Some(Realm::Developers),
        email_prefix: Some(developer.email.clone()),
        ..InvitationFilter::default()
    };
    let query = ListQuery { after: None, rows_max: INVITATIONS_MAX };
    let mut sent = admin.invitations(&filter, &query).await?.rows;
    sent.retain(|one| one.email == developer.email);
    Ok(context.show(&DeveloperPage {
        account: account::read(context, developer, link).await?,
        teams: teams.into_iter().map(|(team, role)| TeamRow::new(team, role)).collect(),
        invitations: invitations::rows(context, sent).await?,
    }))
}

pub(crate) async fn post_developer(context: &Context, form: &Params) -> Result<Response, PageError> {
    let developer = context.admin().find_developer(context.segment("developer")).await?;
    let here = context.console_path(&format!("developers/{}", developer.id));
    match account::act(context, &developer, &here, form).await? {
        ActionOutcome::Done(response) => Ok(response),
        ActionOutcome::ShowLink(link) => show_developer(context, &developer, Some(link)).await,
        ActionOutcome::Other => Err(PageError::no_action()),
    }
}

pub(crate) async fn operator(context: &Context) -> Result<Response, PageError> {
    let operator = context.admin().find_operator(context.segment("operator")).await?;
    show_operator(context, &operator, None).await
}

async fn show_operator(
    context: &Context,
    operator: &Account,
    link: Option<String>,
) -> Result<Response, PageError> {
    let tokens = context.admin().tokens_by(operator).await?;
    Ok(context.show(&OperatorPage {
        account: account::read(context, operator, link).await?,
        is_you: operator.id == context.visitor.account.id,
        tokens: tokens.into_iter().map(|token| TokenRow::new(token, context.now)).collect(),
    }))
}

pub(crate) async fn post_operator(context: &Context, form: &Params) -> Result<Response, PageError> {
    let operator = context.admin().find_operator(context.segment("operator")).await?;
    let here = context.console_path(&format!("operators/{}", operator.id));
    match account::act(context, &operator, &here, form).await? {
        ActionOutcome::Done(response) => return Ok(response),
        ActionOutcome::ShowLink(link) => return show_operator(context, &operator, Some(link)).await,
        ActionOutcome::Other => {}
    }
    match form.get("do") {
        Some("change_role") => {
            require(context, Permission::Accounts)?;
            let role = form.get("role").and_then(OperatorRole::from_name);
            let role = role.ok_or_else(|| PageError::Refused("choose a role".into()))?;
            let change = OperatorChange { role: Some(role), ..OperatorChange::default() };
            context.admin().update_operator(&operator, change, None).await?;
            Ok(context.done(&here, "account_role_changed", &json!({ "role": role.as_str() })))
        }
        _ => Err(PageError::no_action()),
    }
}
