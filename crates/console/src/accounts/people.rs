//! The handlers of the lists of users, developers and operators.

use domain::{Realm, Secret, TenantId};
use operator::admin::NewUser;
use pages::{PageContext, PageError, Params, Response};

use super::account::shown_reset;
use super::parts::{form_error, ids, list_query, next_text, search_filter};
use super::views::people::{PeoplePage, PersonRow};
use crate::context::Context;

pub(crate) async fn users(context: &Context) -> Result<Response, PageError> {
    list(context, Realm::Users, None).await
}

pub(crate) async fn developers(context: &Context) -> Result<Response, PageError> {
    list(context, Realm::Developers, None).await
}

pub(crate) async fn operators(context: &Context) -> Result<Response, PageError> {
    list(context, Realm::Operators, None).await
}

/// `link`: of a new account, where no mail carries it.
async fn list(context: &Context, realm: Realm, link: Option<String>) -> Result<Response, PageError> {
    let query = list_query(context, "after")?;
    let page = context.admin().accounts(realm, &search_filter(context), &query).await?;
    let next = next_text(page.next.as_ref());
    let own = &context.visitor.account.id;
    let people = page.rows.into_iter().map(|one| PersonRow::new(one, own)).collect();
    Ok(context.show(&PeoplePage { people, next, link, realm }))
}

pub(crate) async fn post_users(context: &Context, form: &Params) -> Result<Response, PageError> {
    match form.get("do") {
        Some("add") => add_user(context, form).await,
        _ => Err(PageError::no_action()),
    }
}

/// Adds a user with a password that nobody knows, and sends the link to choose another.
async fn add_user(context: &Context, form: &Params) -> Result<Response, PageError> {
    let admin = context.admin();
    let new = NewUser {
        email: form.get("email").unwrap_or_default().to_owned(),
        given_name: form.get("name").unwrap_or_default().to_owned(),
        family_name: form.get("family_name").unwrap_or_default().to_owned(),
        lang: form.get("lang").unwrap_or("es").to_owned(),
        password: Secret::new(admin.random.token()),
        tenants: ids(form, "tenants").map(TenantId::new).collect(),
    };
    let user = admin.add_user(new).await.map_err(form_error)?;
    let page = context.console_path(&format!("users/{}", user.id));
    let done =
        |code| Ok(context.done(&page, code, &PersonRow::new(user.clone(), &context.visitor.account.id)));
    match admin.send_password_reset(Realm::Users, user.id.as_str()).await {
        Ok(sent) => match shown_reset(&sent) {
            Some(shown) => list(context, Realm::Users, Some(shown)).await,
            None => done("account_added"),
        },
        // The account exists: its page can send the link again.
        Err(error) => {
            tracing::error!(%error, "a new user got no link");
            done("account_added_without_link")
        }
    }
}
