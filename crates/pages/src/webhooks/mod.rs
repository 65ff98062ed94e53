//! The pages of webhooks and their deliveries, as far as portal and console show the same: what a view needs of its site is in
//! `WebhookPages`.

pub mod attempts;
pub mod deliveries;
pub mod delivery;
pub mod diagnosis;
pub mod figures;
pub mod forms;
pub mod read;
pub mod request_text;
pub mod row;
pub mod text;

use crate::shell::PageContext;

/// Who reads the pages: the words for what to do depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Developer,
    Operator,
}

/// A site with pages of webhooks: `webhooks`, `webhooks/{webhook}`, `webhooks/{webhook}/deliveries` and
/// `webhooks/{webhook}/deliveries/{sequence}`.
pub trait WebhookPages: PageContext {
    const READER: Reader;
    /// The entry of the navigation.
    const WEBHOOKS: Self::Section;

    /// The path of the list of webhooks.
    fn webhooks_path(&self) -> String;

    /// The path of the page of an application.
    fn application_path(&self, client: &str) -> String;

    /// Whether the pages show the forms of actions; the functions behind them check it themselves.
    fn may_act_on_webhooks(&self) -> bool;

    fn webhook_path(&self, webhook: &str) -> String {
        format!("{}/{webhook}", self.webhooks_path())
    }

    fn deliveries_path(&self, webhook: &str) -> String {
        format!("{}/{webhook}/deliveries", self.webhooks_path())
    }
}
