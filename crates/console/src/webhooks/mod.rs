//! Webhooks and deliveries of all tenants. What their pages share with the portal's is in `pages::webhooks`.

mod bulk;
mod deliveries;
mod filter;
mod list;
mod one;
mod text;
mod views;
mod why;

use operator::admin::Permission;
use pages::Route;
use pages::webhooks::{Reader, WebhookPages};

use crate::actions::Action;
use crate::context::Context;
use crate::routes::{page, page_with_actions};
use crate::shell::Section;
pub(crate) use text::{DONE, REFUSALS};

/// What the forms of this area do.
pub(crate) const ACTIONS: &[Action] = &[
    Action::dangerous("webhooks/bulk", "disable", Permission::Webhooks),
    Action::dangerous("webhooks/bulk", "enable", Permission::Webhooks),
    Action::dangerous("webhooks/bulk", "replay", Permission::Webhooks),
    Action::new("webhooks/{webhook}", "test", Permission::Webhooks),
    Action::new("webhooks/{webhook}", "enable", Permission::Webhooks),
    Action::new("webhooks/{webhook}", "replay", Permission::Webhooks),
    Action::dangerous("webhooks/{webhook}", "pause", Permission::Webhooks),
    Action::dangerous("webhooks/{webhook}", "delete", Permission::Webhooks),
    Action::new("webhooks/{webhook}/deliveries/{sequence}", "replay", Permission::Webhooks),
];

pub(crate) fn routes() -> Vec<Route<Context>> {
    vec![
        page!("webhooks", list::list),
        page_with_actions!("webhooks/bulk", bulk::get, bulk::post),
        page_with_actions!("webhooks/{webhook}", one::get, one::post),
        page!("webhooks/{webhook}/deliveries", deliveries::list),
        page_with_actions!("webhooks/{webhook}/deliveries/{sequence}", deliveries::one, deliveries::post_one),
    ]
}

impl WebhookPages for Context {
    const READER: Reader = Reader::Operator;
    const WEBHOOKS: Section = Section::Webhooks;

    fn webhooks_path(&self) -> String {
        self.console_path("webhooks")
    }

    fn application_path(&self, client: &str) -> String {
        self.console_path(&format!("clients/{client}"))
    }

    fn may_act_on_webhooks(&self) -> bool {
        self.may(Permission::Webhooks)
    }
}
