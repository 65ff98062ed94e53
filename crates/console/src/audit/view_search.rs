//! The page of the search.

use std::collections::BTreeMap;

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::{SearchHit, SearchKind, SearchResults};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, empty_state, number, short_id, table};
use ui::{DisplayName, Lang, Severity, notice, safe_href, timestamp};

use super::kinds::kind_text;
use super::links;
use super::text::SearchText;
use crate::context::Context;
use crate::shell::Section;

#[derive(Debug, Serialize)]
pub(crate) struct SearchView {
    #[serde(flatten)]
    pub(crate) results: SearchResults,
    /// The names of tenants (`tenant:<id>`) and applications (`client:<id>`).
    #[serde(skip)]
    pub(crate) names: BTreeMap<String, String>,
    #[serde(skip)]
    pub(crate) is_too_long: bool,
}

impl View<Context> for SearchView {
    fn section(&self) -> Section {
        Section::Search
    }

    fn title(&self, lang: Lang) -> &'static str {
        SearchText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = SearchText::of(context.lang());
        let hits = &self.results.hits;
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            form.filters method="get" role="search" {
                div.field.wide {
                    label for="q" { (text.field) }
                    input #q name="q" type="search" value=(self.results.query) required maxlength="254" spellcheck="false" autocapitalize="off" autofocus[self.results.query.is_empty()];
                }
                button type="submit" class="button" { (text.search) }
            }
            @if self.is_too_long {
                (notice(Severity::Warning, "too-long", &html! { (text.too_long) }, Some(&html! { (text.too_long_text) })))
            } @else if let [only] = hits.as_slice() {
                (self.only_hit(context, only))
            } @else if !hits.is_empty() {
                h2.after role="status" { (number(context.lang(), hits.len() as u64)) " " (text.results_count) }
                (self.results(context, hits))
            } @else if !self.results.query.is_empty() {
                (empty_state(text.none, text.none_text, None))
            }
        }
    }

    fn csv(&self, context: &Context) -> Option<Csv> {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let row = |one: &SearchHit| {
            vec![
                kind_words(context.lang(), one.kind).to_owned(),
                one.id.clone(),
                text(&one.name),
                text(&one.tenant),
                text(&one.company),
                one.area.unwrap_or_default().to_owned(),
                one.resource.unwrap_or_default().to_owned(),
                href(context, one),
            ]
        };
        Some(Csv {
            name: "search",
            columns: vec!["what", "id", "name", "tenant", "company", "area", "resource", "page"],
            rows: self.results.hits.iter().map(row).collect(),
        })
    }
}

impl SearchView {
    fn only_hit(&self, context: &Context, hit: &SearchHit) -> Markup {
        let text = SearchText::of(context.lang());
        let href = href(context, hit);
        html! {
            section.card #hit {
                h2 { (text.found_one) }
                p { b { (kind_words(context.lang(), hit.kind)) } " " (name(context, hit)) }
                p { code { (hit.id) } }
                div { (self.belongs_to(context, hit)) }
                p.actions { a.button href=(safe_href(&href)) { (text.open) } }
            }
        }
    }

    fn results(&self, context: &Context, hits: &[SearchHit]) -> Markup {
        let lang = context.lang();
        let text = SearchText::of(lang);
        let columns = [Column::text(text.kind), Column::main(text.name), Column::text(text.belongs_to)];
        let cells = |one: &SearchHit| {
            vec![
                html! { (kind_words(lang, one.kind)) },
                html! {
                    a href=(safe_href(&href(context, one))) { (name(context, one)) }
                    span.sub { (short_id(&one.id)) }
                },
                self.belongs_to(context, one),
            ]
        };
        let row = |(index, one): (usize, &SearchHit)| (format!("{index}"), cells(one));
        table(
            lang,
            &Table {
                caption: text.results,
                columns: &columns,
                rows: hits.iter().enumerate().map(row).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first: None,
                next: None,
            },
        )
    }

    /// The tenant, the company, who called and when.
    fn belongs_to(&self, context: &Context, hit: &SearchHit) -> Markup {
        let lang = context.lang();
        let text = SearchText::of(lang);
        let link = |kind: &str, id: &str| {
            let href = links::one(context, &format!("{kind}s"), id);
            let name = self.names.get(&format!("{kind}:{id}")).map_or(id, String::as_str);
            html! { a href=(safe_href(&href)) title=(id) { (DisplayName(name)) } }
        };
        html! {
            @if let Some(tenant) = &hit.tenant { div { (text.tenant) " " (link("tenant", tenant)) } }
            @if let Some(company) = &hit.company { div { (text.company) " " (short_id(company)) } }
            @if let Some(client) = &hit.client { div { (text.client) " " (link("client", client)) } }
            @if let Some(subscription) = &hit.subscription { div { (text.subscription) " " (link("subscription", subscription)) } }
            @if hit.status.is_some() || hit.at.is_some() {
                div {
                    @if let Some(status) = hit.status { b { (status) } " " }
                    @if let Some(at) = hit.at.as_deref().and_then(Ticks::parse_iso) { (timestamp(lang, at)) }
                }
            }
        }
    }
}

/// The name, or what stands for it.
fn name(context: &Context, hit: &SearchHit) -> Markup {
    match (hit.kind, &hit.name) {
        (SearchKind::Record, _) => {
            let (area, resource) = (hit.area.unwrap_or_default(), hit.resource.unwrap_or_default());
            html! { (area) "/" (resource) }
        }
        (SearchKind::Audit, Some(kind)) => {
            let kind = store::AuditKind::from_name(kind).map(store::AuditKind::as_str);
            html! { (kind.map_or("", |kind| kind_text(context.lang(), kind))) }
        }
        (_, Some(name)) => html! { (DisplayName(name)) },
        (_, None) => html! { (DisplayName(&hit.id)) },
    }
}

fn kind_words(lang: Lang, kind: SearchKind) -> &'static str {
    let text = SearchText::of(lang);
    match kind {
        SearchKind::Tenant => text.tenant,
        SearchKind::User => text.user,
        SearchKind::Developer => text.developer,
        SearchKind::Operator => text.operator,
        SearchKind::Invitation => text.invitation,
        SearchKind::Token => text.token,
        SearchKind::Team => text.team,
        SearchKind::Client => text.client,
        SearchKind::Subscription => text.subscription,
        SearchKind::Request => text.request,
        SearchKind::Webhook => text.webhook,
        SearchKind::Delivery => text.delivery,
        SearchKind::Record => text.record,
        SearchKind::Audit => text.audit,
        SearchKind::Call => text.call,
    }
}

/// The page of what was found.
fn href(context: &Context, hit: &SearchHit) -> String {
    let tenant = hit.tenant.as_deref().unwrap_or_default();
    let one = |list: &str| links::one(context, list, &hit.id);
    match hit.kind {
        SearchKind::Tenant => one("tenants"),
        SearchKind::User => one("users"),
        SearchKind::Developer => one("developers"),
        SearchKind::Operator => one("operators"),
        SearchKind::Invitation => context.console_path("invitations"),
        SearchKind::Token => context.console_path("tokens"),
        SearchKind::Team => one("teams"),
        SearchKind::Client => one("clients"),
        SearchKind::Subscription => one("subscriptions"),
        SearchKind::Request => one("requests"),
        SearchKind::Webhook => one("webhooks"),
        SearchKind::Delivery => {
            let webhook = links::segment(hit.webhook.as_deref().unwrap_or_default());
            let sequence = links::segment(hit.sequence.as_deref().unwrap_or_default());
            context.console_path(&format!("webhooks/{webhook}/deliveries/{sequence}"))
        }
        SearchKind::Record => {
            let of = (hit.area.unwrap_or_default(), hit.resource.unwrap_or_default());
            links::record(context, tenant, of, hit.company.as_deref(), &hit.id)
        }
        SearchKind::Audit => links::with_query(context, "audit", &[("request", &hit.id)]),
        // The call's own subscription shows its newest calls.
        SearchKind::Call => {
            links::one(context, "subscriptions", hit.subscription.as_deref().unwrap_or_default())
        }
    }
}
