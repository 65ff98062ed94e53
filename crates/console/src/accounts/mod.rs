//! Tenants, users, developers, operators, invitations.

mod account;
mod invitations;
mod parts;
mod people;
mod person;
mod tenants;
mod text;
mod users;
mod views;

use pages::Route;

use crate::context::Context;
use crate::routes::{page, page_with_actions};

pub(crate) use text::{DONE, REFUSALS};

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page_with_actions!("tenants", tenants::list, tenants::post_list),
        page_with_actions!("tenants/{tenant}", tenants::one, tenants::post_one),
        page_with_actions!("users", people::users, people::post_users),
        page_with_actions!("users/{user}", users::one, users::post),
        page!("developers", people::developers),
        page_with_actions!("developers/{developer}", person::developer, person::post_developer),
        page!("operators", people::operators),
        page_with_actions!("operators/{operator}", person::operator, person::post_operator),
        page_with_actions!("invitations", invitations::list, invitations::post),
    ]
}
