//! The named tokens of the operator's API.

use domain::OperatorRole;
use operator::admin::{NewToken, Permission};
use pages::{PageContext, PageError, Params, Response};
use store::NamedToken;

use super::form::{confirmed, lifetime, require, text};
use super::lists::read;
use crate::actors;
use crate::applications::text::tokens::TokenText;
use crate::applications::views::secrets::{SecretsPage, ShownSecret};
use crate::applications::views::tokens::{TokenRow, TokensPage};
use crate::context::Context;
use crate::shell::Section;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let (rows, next) = read(context, |query| {
        let admin = admin.clone();
        async move { admin.tokens(&query).await }
    })
    .await?;
    let labels = actors::labels(context, rows.iter().map(|one| one.created_by.as_str())).await?;
    let row = |one: &NamedToken| {
        let mut row = TokenRow::new(one, admin.token_state(one));
        row.creator = labels.get(one.created_by.as_str()).cloned().unwrap_or_default();
        row
    };
    let tokens = rows.iter().map(row).collect();
    Ok(context.show(&TokensPage { tokens, next }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Keys)?;
    match form.get("do") {
        Some("add") => add(context, form).await,
        Some("revoke") => {
            let (admin, id) = (context.admin(), text(form, "token_id"));
            let token = admin.token(&id).await?;
            confirmed(form, &token.name)?;
            let token = admin.revoke_token(&id).await?;
            let row = TokenRow::new(&token, admin.token_state(&token));
            Ok(context.done(&context.console_path("tokens"), "token_revoked", &row))
        }
        _ => Err(PageError::no_action()),
    }
}

async fn add(context: &Context, form: &Params) -> Result<Response, PageError> {
    let role = form.get("role").and_then(OperatorRole::from_name);
    let new = NewToken {
        name: text(form, "name"),
        // What is left out gives the least.
        role: role.unwrap_or(OperatorRole::Viewer),
        lifetime: lifetime(form),
    };
    let (token, secret) = context.admin().add_token(new).await?;
    Ok(context.show(&SecretsPage {
        section: Section::Tokens,
        title: |lang| TokenText::of(lang).new_token,
        back: context.console_path("tokens"),
        id: token.id.to_string(),
        name: token.name,
        secrets: vec![ShownSecret::new("token", |_| "Authorization: Bearer", &secret)],
        old_valid_until: None,
    }))
}
