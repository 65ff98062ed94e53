//! What the overview shows.

use maud::{Markup, html};
use operator::admin::Overview;
use pages::{Csv, View};
use serde::Serialize;
use ui::app::number;
use ui::{Lang, safe_href, timestamp};

use super::format::decimal;
use super::text::OverviewText;
use super::{parts, problems, traffic};
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct OverviewPage {
    #[serde(flatten)]
    pub(crate) overview: Overview,
}

impl View<Context> for OverviewPage {
    fn section(&self) -> Section {
        Section::Overview
    }

    fn title(&self, lang: Lang) -> &'static str {
        CommonText::of(lang).overview
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let overview = &self.overview;
        let live = context.here(&[], [("format", "events")]);
        html! {
            div.title-row { h1 { (self.title(lang)) } span.live hidden { (CommonText::of(lang).live) } }
            div #verdict-part data-live=(live) data-live-part { (problems::verdict(context, &overview.problems)) }
            @if overview.open_setup_steps > 0 { (self.first_steps(context)) }
            (self.figures(context))
            (traffic::spans(context, overview.traffic.span))
            (traffic::traffic(context, &overview.traffic))
            (parts::failing(context, overview))
            (parts::endings(context, &overview.endings))
            (parts::nodes(context, &overview.nodes))
            (parts::store(context, &overview.store))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        Some(Csv {
            name: "traffic",
            columns: vec!["series", "start", "succeeded", "refused", "limited", "failed"],
            rows: traffic::csv_rows(&self.overview.traffic),
        })
    }
}

impl OverviewPage {
    /// The way to the checklist, until it is done.
    fn first_steps(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = OverviewText::of(lang);
        html! {
            section.card #first-steps data-live-part {
                h2 { (text.first_steps) }
                p { (text.open_steps) ": " (number(lang, self.overview.open_setup_steps)) "." }
                p { a.button href=(safe_href(&context.console_path("setup"))) { (text.see_steps) } }
            }
        }
    }

    /// The present numbers, each with the way to what it counts.
    fn figures(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = OverviewText::of(lang);
        let Overview { traffic, webhooks, pending_requests, .. } = &self.overview;
        let link = |page: &str, value: u64| {
            html! { a href=(safe_href(&context.console_path(page))) { (number(lang, value)) } }
        };
        let rows = [
            (text.calls_per_second, html! { (decimal(lang, traffic.calls_per_second)) }),
            (text.deliveries_per_second, html! { (decimal(lang, traffic.deliveries_per_second)) }),
            (text.events_behind, html! { (number(lang, webhooks.events_behind)) }),
            (text.failing, link("webhooks?state=failing", webhooks.failing)),
            (text.suspended, link("webhooks?state=suspended", webhooks.suspended)),
            (text.disabled, link("webhooks?state=disabled_by_service", webhooks.disabled)),
            (text.requests, link("requests", *pending_requests)),
        ];
        html! {
            section.card #now data-live-part {
                h2 { (text.now) }
                dl.figures { @for (label, value) in &rows { div { dt { (label) } dd { (value) } } } }
                p.muted {
                    @match webhooks.oldest_undelivered_at {
                        Some(at) => { (text.oldest) " " (timestamp(lang, at)) "." },
                        None => (text.none_waits),
                    }
                }
            }
        }
    }
}
