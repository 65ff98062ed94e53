//! The records of tenants: browse, history, who was notified, edit.

mod browse;
mod paths;
mod record;
mod text;
mod views;

use operator::admin::Permission::Changes;
use pages::Route;

use crate::actions::Action;
use crate::context::Context;
use crate::routes::{page, page_with_actions};

pub(crate) use text::{DONE, REFUSALS};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::dangerous("tenants/{tenant}/records/{area}/{resource}/{record}", "upsert", Changes),
    Action::dangerous("tenants/{tenant}/records/{area}/{resource}/{record}", "disable", Changes),
    Action::dangerous("tenants/{tenant}/records/{area}/{resource}/{record}", "enable", Changes),
    Action::dangerous("tenants/{tenant}/records/{area}/{resource}/{record}", "delete", Changes),
];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page!("tenants/{tenant}/data", browse::data),
        page!("tenants/{tenant}/data/{resource}", browse::records),
        page_with_actions!("tenants/{tenant}/records/{area}/{resource}/{record}", record::one, record::post),
        page!("tenants/{tenant}/records/{area}/{resource}/{record}/diff", record::diff),
        page!("tenants/{tenant}/records/{area}/{resource}/{record}/notified", record::notified),
    ]
}
