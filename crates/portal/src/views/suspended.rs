//! Stands for the pages of deliveries while the webhook's owner may not receive anything.

use domain::Suspension;
use maud::{Markup, html};
use pages::View;
use pages::webhooks::Reader;
use pages::webhooks::deliveries::crumbs;
use pages::webhooks::text::deliveries::DeliveryText;
use pages::webhooks::text::suspension::suspension;
use serde::Serialize;
use store::Webhook;
use ui::{Lang, Severity, notice};

use crate::context::Context;
use crate::shell::Section;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SuspendedPage {
    webhook_id: String,
    suspension: Suspension,
    #[serde(skip)]
    url: String,
}

impl SuspendedPage {
    pub(crate) fn new(webhook: &Webhook, suspension: Suspension) -> Self {
        Self { webhook_id: webhook.id.to_string(), suspension, url: webhook.url.clone() }
    }
}

impl View<Context> for SuspendedPage {
    fn section(&self) -> Section {
        Section::Webhooks
    }

    fn title(&self, lang: Lang) -> &'static str {
        DeliveryText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = DeliveryText::of(lang);
        let why = html! { (suspension(lang, Reader::Developer, self.suspension)) };
        html! {
            (crumbs(context, &self.webhook_id, &self.url, false))
            h1 { (text.title) }
            (notice(Severity::Warning, "suspended", &html! { (text.suspended) }, Some(&why)))
            p.lead { (text.suspended_text) }
        }
    }
}
