//! `aldaba user`: adds, lists, disables and enables users, sets passwords and memberships.

use std::io::{BufRead as _, IsTerminal as _};

use domain::{Realm, Secret, TenantId};
use operator::admin::{Admin, NewUser, UserChange};
use serde::Serialize;
use serde_json::json;
use store::{Account, Status};

use super::{all_pages, status_name};
use crate::cli::User;
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;

#[derive(Serialize)]
struct UserView {
    id: String,
    email: String,
    given_name: String,
    family_name: String,
    lang: String,
    standing: String,
    tenants: Vec<String>,
}

fn view(user: Account, tenants: Vec<String>) -> UserView {
    UserView {
        id: user.id.to_string(),
        email: user.email,
        given_name: user.given_name,
        family_name: user.family_name,
        lang: user.lang,
        standing: status_name(user.status),
        tenants,
    }
}

/// Reads one line of standard input, without echo on a terminal. Never an argument: other users of the machine can
/// see the command line.
fn read_password() -> Result<Secret, Failure> {
    let mut line = String::new();
    if std::io::stdin().is_terminal() {
        line = rpassword::prompt_password("Password: ")?;
    } else {
        std::io::stdin().lock().read_line(&mut line)?;
    }
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Failure::Usage("no password: write it as one line to standard input".into()));
    }
    Ok(Secret::new(password))
}

pub(crate) async fn run(command: User, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        User::Add { email, given_name, family_name, lang, tenants } => {
            let tenants: Vec<TenantId> = tenants.into_iter().map(TenantId::new).collect();
            let tenant_ids = tenants.iter().map(ToString::to_string).collect();
            let password = read_password()?;
            let new = NewUser { email, given_name, family_name, lang, password, tenants };
            let user = admin.add_user(new).await?;
            let user = view(user, tenant_ids);
            output.result(&user, || user.id.clone());
        }
        User::Invite { person, tenants } => {
            super::invitation::invite_user(&admin, person, tenants, output).await?;
        }
        User::List => list(&admin, output).await?,
        User::Set { email, given_name, family_name, lang } => {
            let change = UserChange { given_name, family_name, lang, ..UserChange::default() };
            let user = admin.update_user(&admin.user(&email).await?, change, None).await?;
            let (name, lang) = (user.full_name(), &user.lang);
            let data = json!({"email": email, "given_name": user.given_name, "family_name": user.family_name, "lang": lang});
            output.done(&data, &format!("{email} is {name}, with pages in {lang}"));
        }
        User::Disable { email } => set_status(&admin, &email, Status::Disabled, output).await?,
        User::Enable { email } => set_status(&admin, &email, Status::Active, output).await?,
        User::Password { email } => {
            admin.set_password(&email, read_password()?).await?;
            let text = format!("{email} has a new password and is signed out of all browsers");
            output.done(&json!({"email": email, "password": "changed"}), &text);
        }
        User::Join { email, tenant } => {
            let user = admin.user(&email).await?;
            admin.add_membership(&user, &TenantId::new(tenant.clone())).await?;
            let data = json!({"email": email, "tenant": tenant, "member": true});
            output.done(&data, &format!("{email} is now a member of {tenant}"));
        }
        User::Admin { email, tenant, remove } => {
            let (user, id) = (admin.user(&email).await?, TenantId::new(tenant.clone()));
            admin.set_membership_admin(&user, &id, !remove).await?;
            let data = json!({"email": email, "tenant": tenant, "admin": !remove});
            let role = if remove { "no longer an administrator" } else { "now an administrator" };
            output.done(&data, &format!("{email} is {role} of {tenant}"));
        }
        User::ResetSecondFactors { email } => {
            super::reset_second_factors(&admin, Realm::Users, &email, output).await?;
        }
        User::Leave { email, tenant } => {
            admin.remove_membership(&email, &TenantId::new(tenant.clone())).await?;
            let data = json!({"email": email, "tenant": tenant, "member": false});
            output.done(&data, &format!("{email} is no longer a member of {tenant}"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn list(admin: &Admin, output: Output) -> CommandResult {
    let mut all = Vec::new();
    for user in all_pages(async |query| admin.store.list_accounts(Realm::Users, &query).await).await? {
        let memberships =
            all_pages(async |query| admin.store.list_memberships(&user.id, &query).await).await?;
        all.push(view(user, memberships.iter().map(|membership| membership.tenant.to_string()).collect()));
    }
    output.list(&all, &["EMAIL", "NAME", "LANG", "STATUS", "TENANTS"], |user| {
        vec![
            user.email.clone(),
            format!("{} {}", user.given_name, user.family_name).trim().to_owned(),
            user.lang.clone(),
            user.standing.clone(),
            user.tenants.join(" "),
        ]
    });
    Ok(())
}

async fn set_status(admin: &Admin, email: &str, status: Status, output: Output) -> CommandResult {
    admin.set_user_status(email, status).await?;
    let status = status.as_str();
    output.done(&json!({"email": email, "standing": status}), &format!("user {email} is {status}"));
    Ok(())
}
