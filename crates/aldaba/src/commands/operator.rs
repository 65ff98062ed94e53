//! `aldaba operator`: invites and lists operators, disables and enables them, and changes their roles.

use ::operator::admin::{Admin, OperatorChange};
use domain::{OperatorRole, Realm};
use serde::Serialize;
use store::{Account, Status};

use super::{all_pages, role_named, status_name};
use crate::cli::Operator;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

#[derive(Serialize)]
struct OperatorView {
    id: String,
    email: String,
    given_name: String,
    lang: String,
    role: &'static str,
    standing: String,
    created_at: String,
}

impl From<Account> for OperatorView {
    fn from(operator: Account) -> Self {
        Self {
            id: operator.id.to_string(),
            email: operator.email,
            given_name: operator.given_name,
            lang: operator.lang,
            role: operator.role.unwrap_or(OperatorRole::Viewer).as_str(),
            standing: status_name(operator.status),
            created_at: operator.created_at.iso(),
        }
    }
}

pub(crate) async fn run(command: Operator, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Operator::Invite { person, role } => {
            super::invitation::invite_operator(&admin, person, role_named(&role)?, output).await?;
        }
        Operator::List => list(&admin, output).await?,
        Operator::Disable { email } => set_status(&admin, &email, Status::Disabled, output).await?,
        Operator::Enable { email } => set_status(&admin, &email, Status::Active, output).await?,
        Operator::ResetSecondFactors { email } => {
            super::reset_second_factors(&admin, Realm::Operators, &email, output).await?;
        }
        Operator::Role { email, role } => {
            let change = OperatorChange { role: Some(role_named(&role)?), ..OperatorChange::default() };
            let changed = update(&admin, &email, change).await?;
            output.done(&changed, &format!("operator {email} has the role {role}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &Admin, output: Output) -> CommandResult {
    let operators =
        all_pages(async |query| admin.store.list_accounts(Realm::Operators, &query).await).await?;
    let all: Vec<OperatorView> = operators.into_iter().map(OperatorView::from).collect();
    output.list(&all, &["EMAIL", "NAME", "ROLE", "LANG", "STATUS"], |operator| {
        vec![
            operator.email.clone(),
            operator.given_name.clone(),
            operator.role.to_owned(),
            operator.lang.clone(),
            operator.standing.clone(),
        ]
    });
    Ok(())
}

async fn set_status(admin: &Admin, email: &str, status: Status, output: Output) -> CommandResult {
    let change = OperatorChange { status: Some(status), ..OperatorChange::default() };
    let changed = update(admin, email, change).await?;
    output.done(&changed, &format!("operator {email} is {}", status.as_str()));
    Ok(())
}

async fn update(
    admin: &Admin,
    email: &str,
    change: OperatorChange,
) -> Result<OperatorView, crate::exit::Failure> {
    let operator = admin.find_operator(email).await?;
    Ok(admin.update_operator(&operator, change, None).await?.into())
}
