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

use operator::admin::Permission::{Accounts, Configuration};
use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::{page, page_with_actions};

pub(crate) use text::{DONE, REFUSALS, role_meaning, role_word};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::new("tenants", "add", Configuration),
    Action::dangerous("tenants/{tenant}", "disable", Configuration),
    Action::dangerous("tenants/{tenant}", "enable", Configuration),
    Action::dangerous("tenants/{tenant}", "erase", Configuration),
    Action::dangerous("tenants/{tenant}", "add_member", Accounts),
    Action::dangerous("tenants/{tenant}", "remove_member", Accounts),
    Action::dangerous("tenants/{tenant}", "make_admin", Accounts),
    Action::dangerous("tenants/{tenant}", "make_member", Accounts),
    Action::dangerous("users", "add", Accounts),
    Action::new("users/{user}", "rename", Accounts),
    Action::dangerous("users/{user}", "disable", Accounts),
    Action::dangerous("users/{user}", "enable", Accounts),
    Action::dangerous("users/{user}", "reset_factors", Accounts),
    Action::dangerous("users/{user}", "end_sessions", Accounts),
    Action::dangerous("users/{user}", "reset_password", Accounts),
    Action::dangerous("users/{user}", "add_tenant", Accounts),
    Action::dangerous("users/{user}", "remove_tenant", Accounts),
    Action::dangerous("users/{user}", "make_admin", Accounts),
    Action::dangerous("users/{user}", "make_member", Accounts),
    Action::dangerous("users/{user}", "withdraw", Accounts),
    Action::new("developers/{developer}", "rename", Accounts),
    Action::dangerous("developers/{developer}", "disable", Accounts),
    Action::dangerous("developers/{developer}", "enable", Accounts),
    Action::dangerous("developers/{developer}", "reset_factors", Accounts),
    Action::dangerous("developers/{developer}", "end_sessions", Accounts),
    Action::dangerous("developers/{developer}", "reset_password", Accounts),
    Action::new("operators/{operator}", "rename", Accounts),
    Action::dangerous("operators/{operator}", "disable", Accounts),
    Action::dangerous("operators/{operator}", "enable", Accounts),
    Action::dangerous("operators/{operator}", "reset_factors", Accounts),
    Action::dangerous("operators/{operator}", "end_sessions", Accounts),
    Action::dangerous("operators/{operator}", "reset_password", Accounts),
    Action::dangerous("operators/{operator}", "change_role", Accounts),
    Action::dangerous("invitations", "invite", Accounts),
    Action::dangerous("invitations", "resend", Accounts),
    Action::dangerous("invitations", "revoke", Accounts),
];

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
