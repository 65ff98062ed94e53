//! `aldaba token`: adds, lists and revokes named tokens of the operator's API.

use std::time::Duration;

use ::operator::admin::{Admin, NewToken};
use domain::Ticks;
use serde::Serialize;
use serde_json::json;
use store::{NamedToken, TokenState};

use super::{all_pages, role_named};
use crate::cli::OperatorToken;
use crate::config::{DURATION, Sources, parse_duration};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;

#[derive(Serialize)]
struct TokenView {
    id: String,
    name: String,
    role: &'static str,
    state: &'static str,
    created_at: String,
    created_by: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

fn view(admin: &Admin, token: NamedToken) -> TokenView {
    TokenView {
        state: match admin.token_state(&token) {
            TokenState::Live => "live",
            TokenState::Expired => "expired",
            TokenState::Revoked => "revoked",
        },
        id: token.id.to_string(),
        name: token.name,
        role: token.role.as_str(),
        created_at: token.created_at.iso(),
        created_by: token.created_by,
        expires_at: token.expires_at.map(Ticks::iso),
        last_used_at: token.last_used_at.map(Ticks::iso),
        revoked_at: token.revoked_at.map(Ticks::iso),
    }
}

pub(crate) async fn run(command: OperatorToken, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        OperatorToken::Add { name, role, expires } => {
            let lifetime = expires.as_deref().map(lifetime).transpose()?;
            let new = NewToken { name, role: role_named(&role)?, lifetime };
            let (token, secret) = admin.add_token(new).await?;
            let token = view(&admin, token);
            let end = token
                .expires_at
                .as_ref()
                .map_or_else(|| "It does not expire.".to_owned(), |at| format!("It expires at {at}."));
            output.print_message(&format!("The token is shown only now. Store it safely. {end}"));
            let data = json!({"token": token, "secret": secret.reveal()});
            output.result(&data, || secret.reveal().to_owned());
        }
        OperatorToken::List => list(&admin, output).await?,
        OperatorToken::Revoke { name } => {
            let token = admin.token_named(&name).await?;
            let revoked = admin.revoke_token(token.id.as_str()).await?;
            output.done(&view(&admin, revoked), &format!("token {name} is revoked"));
        }
    }
    admin.store.close().await;
    Ok(())
}

fn lifetime(text: &str) -> Result<Duration, Failure> {
    parse_duration(text)
        .ok_or_else(|| Failure::Usage(format!("--expires must be a duration: {DURATION}; got {text:?}")))
}

async fn list(admin: &Admin, output: Output) -> CommandResult {
    let tokens = all_pages(async |query| admin.store.list_operator_tokens(&query).await).await?;
    let all: Vec<TokenView> = tokens.into_iter().map(|token| view(admin, token)).collect();
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    output.list(&all, &["NAME", "ROLE", "STATE", "EXPIRES", "LAST_USED", "ADDED_BY"], |token| {
        vec![
            token.name.clone(),
            token.role.to_owned(),
            token.state.to_owned(),
            or_dash(&token.expires_at),
            or_dash(&token.last_used_at),
            token.created_by.clone(),
        ]
    });
    Ok(())
}
