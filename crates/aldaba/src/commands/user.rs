//! `aldaba user`.

use std::io::{BufRead as _, IsTerminal as _};

use domain::{Secret, TenantId};
use operator::admin::{Admin, NewUser};
use serde::Serialize;
use serde_json::json;
use store::{Status, User as Kept};

use super::{all_pages, status_name};
use crate::cli::User;
use crate::config::Sources;
use crate::exit::{Failure, Outcome};
use crate::output::Output;

#[derive(Serialize)]
struct Shown {
    id: String,
    email: String,
    given_name: String,
    lang: String,
    standing: String,
    tenants: Vec<String>,
}

fn shown(user: Kept, tenants: Vec<String>) -> Shown {
    Shown {
        id: user.id.to_string(),
        email: user.email,
        given_name: user.given_name,
        lang: user.lang,
        standing: status_name(user.status),
        tenants,
    }
}

/// One line from standard input, unseen on a terminal: a password has no place on a command line.
fn read_password() -> Result<Secret, Failure> {
    let mut line = String::new();
    if std::io::stdin().is_terminal() {
        line = rpassword::prompt_password("Password: ")?;
    } else {
        std::io::stdin().lock().read_line(&mut line)?;
    }
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Failure::Usage("give the password as one line on standard input".into()));
    }
    Ok(Secret::new(password))
}

pub(crate) async fn run(command: User, sources: &Sources, output: Output) -> Outcome {
    let admin = super::admin(sources).await?;
    match command {
        User::Add { email, given_name, lang, tenants } => {
            let tenants: Vec<TenantId> = tenants.into_iter().map(TenantId::new).collect();
            let named = tenants.iter().map(ToString::to_string).collect();
            let password = read_password()?;
            let user = admin.add_user(NewUser { email, given_name, lang, password, tenants }).await?;
            let user = shown(user, named);
            output.result(&user, || user.id.clone());
        }
        User::List => {
            let mut all = Vec::new();
            for user in all_pages(async |query| admin.store.list_users(&query).await).await? {
                let memberships =
                    all_pages(async |query| admin.store.list_memberships(&user.id, &query).await).await?;
                all.push(shown(user, memberships.iter().map(|one| one.tenant.to_string()).collect()));
            }
            output.list(&all, &["EMAIL", "NAME", "LANG", "STANDING", "TENANTS"], |one| {
                vec![
                    one.email.clone(),
                    one.given_name.clone(),
                    one.lang.clone(),
                    one.standing.clone(),
                    one.tenants.join(" "),
                ]
            });
        }
        User::Disable { email } => set_status(&admin, &email, Status::Disabled, output).await?,
        User::Enable { email } => set_status(&admin, &email, Status::Active, output).await?,
        User::Password { email } => {
            admin.set_password(&email, read_password()?).await?;
            let text = format!("{email} has a new password, and is signed out of every browser");
            output.done(&json!({"email": email, "password": "changed"}), &text);
        }
        User::Join { email, tenant } => {
            let user = admin.user(&email).await?;
            admin.add_membership(&user, &TenantId::new(tenant.clone())).await?;
            let data = json!({"email": email, "tenant": tenant, "member": true});
            output.done(&data, &format!("{email} belongs to {tenant}"));
        }
        User::Leave { email, tenant } => {
            admin.remove_membership(&email, &TenantId::new(tenant.clone())).await?;
            let data = json!({"email": email, "tenant": tenant, "member": false});
            output.done(&data, &format!("{email} belongs to {tenant} no more"));
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn set_status(admin: &Admin, email: &str, standing: Status, output: Output) -> Outcome {
    admin.set_user_status(email, standing).await?;
    let word = standing.as_str();
    output.done(&json!({"email": email, "standing": word}), &format!("user {email} is {word}"));
    Ok(())
}
