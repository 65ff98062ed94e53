//! What integrations are made of: requests of teams, teams, clients, subscriptions, tokens of the operator's API.

mod http;
mod text;
mod views;

use operator::admin::Permission;
use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::page_with_actions;
use crate::text::{Done, Refusal};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::dangerous("requests/{request}", "approve", Permission::Requests),
    Action::new("requests/{request}", "refuse", Permission::Requests),
    Action::new("teams", "add", Permission::Accounts),
    Action::new("teams/{team}", "rename", Permission::Accounts),
    Action::dangerous("teams/{team}", "disable", Permission::Accounts),
    Action::dangerous("teams/{team}", "enable", Permission::Accounts),
    Action::dangerous("teams/{team}", "add_member", Permission::Accounts),
    Action::dangerous("teams/{team}", "set_role", Permission::Accounts),
    Action::dangerous("teams/{team}", "remove_member", Permission::Accounts),
    Action::dangerous("teams/{team}", "close_sandbox", Permission::Configuration),
    Action::dangerous("teams/{team}", "open_sandbox", Permission::Configuration),
    Action::dangerous("clients", "add", Permission::Keys),
    Action::dangerous("clients/{client}", "change", Permission::Keys),
    Action::dangerous("clients/{client}", "disable", Permission::Keys),
    Action::dangerous("clients/{client}", "enable", Permission::Keys),
    Action::dangerous("clients/{client}", "rotate", Permission::Keys),
    Action::dangerous("subscriptions", "add", Permission::Keys),
    Action::dangerous("subscriptions/{subscription}", "change", Permission::Keys),
    Action::dangerous("subscriptions/{subscription}", "suspend", Permission::Keys),
    Action::dangerous("subscriptions/{subscription}", "resume", Permission::Keys),
    Action::dangerous("subscriptions/{subscription}", "cancel", Permission::Keys),
    Action::dangerous("subscriptions/{subscription}", "regenerate", Permission::Keys),
    Action::dangerous("tokens", "add", Permission::Keys),
    Action::dangerous("tokens", "revoke", Permission::Keys),
];

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = text::done::DONE;

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = text::refusals::REFUSALS;

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        crate::routes::page!("requests", http::requests::list),
        page_with_actions!("requests/{request}", http::requests::one, http::requests::post_one),
        page_with_actions!("teams", http::teams::list, http::teams::post_list),
        page_with_actions!("teams/{team}", http::team::one, http::team::post_one),
        page_with_actions!("clients", http::clients::list, http::clients::post_list),
        page_with_actions!("clients/{client}", http::client::one, http::client::post_one),
        page_with_actions!("subscriptions", http::subscriptions::list, http::subscriptions::post_list),
        page_with_actions!(
            "subscriptions/{subscription}",
            http::subscription::one,
            http::subscription::post_one
        ),
        page_with_actions!("tokens", http::tokens::list, http::tokens::post_list),
    ]
}
