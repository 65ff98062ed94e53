//! The page of who read what.

use std::collections::BTreeMap;

use maud::{Markup, html};
use operator::admin::ReadJson;
use pages::{Csv, View};
use serde::Serialize;
use store::ReadTarget;
use ui::app::{Column, Table, empty_state, number, short_id, table};
use ui::{DisplayName, Lang, Severity, notice, safe_href};

use super::links;
use super::text::ReadText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

/// Of one hour in the picture of a day.
const BAR_WIDTH: usize = 5;
const BARS_HEIGHT: u64 = 20;

/// The reads of a tenant.
#[derive(Debug, Serialize)]
pub(crate) struct ReadsView {
    pub(crate) tenant: String,
    #[serde(skip)]
    pub(crate) tenant_name: String,
    #[serde(skip)]
    pub(crate) is_sandbox: bool,
    pub(crate) reads: Vec<ReadJson>,
    pub(crate) next: Option<String>,
    #[serde(rename = "clientNames")]
    pub(crate) client_names: BTreeMap<String, String>,
    /// A filter is not valid.
    #[serde(skip)]
    pub(crate) is_refused: bool,
}

/// The tenants to choose from.
#[derive(Debug, Serialize)]
pub(crate) struct ChooseTenant {
    pub(crate) tenants: Vec<ListedTenant>,
    pub(crate) next: Option<String>,
    /// The tenant that was asked for does not exist.
    #[serde(rename = "isUnknown")]
    pub(crate) is_unknown: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct ListedTenant {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl View<Context> for ReadsView {
    fn section(&self) -> Section {
        Section::Reads
    }

    fn title(&self, lang: Lang) -> &'static str {
        ReadText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReadText::of(lang);
        let live = (!context.query.is_set("before")).then(|| context.here(&[], [("format", "events")]));
        let tenant = links::one(context, "tenants", &self.tenant);
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead {
                (text.tenant) " " a href=(safe_href(&tenant)) { (DisplayName(&self.tenant_name)) } " · "
                a.muted href=(safe_href(context.path())) { (text.other_tenant) }
            }
            p.muted { (text.lead) }
            @if self.is_sandbox {
                (notice(Severity::Warning, "sandbox", &html! { (text.sandbox) }, Some(&html! { (text.sandbox_text) })))
            }
            @if self.is_refused {
                (notice(Severity::Warning, "filter", &html! { (text.wrong_filter) }, Some(&html! { (text.wrong_filter_text) })))
            }
            (self.filters(context))
            div #reads data-live=[live] data-live-part {
                @if self.reads.is_empty() { (self.empty(context)) } @else { (self.table(context)) }
            }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    /// One line for each hour.
    fn csv(&self, _: &Context) -> Option<Csv> {
        let mut rows = Vec::new();
        for one in &self.reads {
            for (hour, reads) in hours(one) {
                let company = one.company.clone().unwrap_or_default();
                rows.push(vec![
                    one.day.clone(),
                    hour.to_string(),
                    one.client.clone(),
                    self.client_names.get(&one.client).cloned().unwrap_or_default(),
                    one.area.to_owned(),
                    one.resource.to_owned(),
                    company,
                    reads.to_string(),
                ]);
            }
        }
        let columns = vec!["day", "hour", "client", "client_name", "area", "resource", "company", "reads"];
        Some(Csv { name: "reads", columns, rows })
    }
}

/// The hours that have reads.
fn hours(row: &ReadJson) -> impl Iterator<Item = (usize, u64)> {
    row.hours.iter().copied().enumerate().filter(|(_, reads)| *reads > 0)
}

impl ReadsView {
    fn filters(&self, context: &Context) -> Markup {
        let (text, common) = (ReadText::of(context.lang()), CommonText::of(context.lang()));
        let wanted = context.query.get("resource").unwrap_or_default();
        let targets: Vec<String> = ReadTarget::all()
            .map(|target| format!("{}/{}", target.area().as_str(), target.as_str()))
            .collect();
        let input = |name: &'static str, label: &'static str, kind: &'static str| {
            html! {
                div.field {
                    label for=(name) { (label) }
                    input id=(name) name=(name) type=(kind) value=[context.query.get(name)] spellcheck="false" autocapitalize="off";
                }
            }
        };
        html! {
            form.filters method="get" {
                (ui::hidden_field("tenant", &self.tenant))
                (input("client", text.client, "search"))
                div.field {
                    label for="resource" { (text.resource) }
                    select #resource name="resource" data-submit {
                        option value="" { (common.all) }
                        @for target in &targets { option value=(target) selected[wanted == target] { (target) } }
                    }
                }
                (input("company", text.company, "search"))
                (input("since", text.since, "date"))
                (input("until", text.until, "date"))
                button type="submit" class="button secondary" { (common.filter) }
            }
        }
    }

    fn empty(&self, context: &Context) -> Markup {
        let text = ReadText::of(context.lang());
        let names = ["client", "resource", "company", "since", "until"];
        if names.iter().any(|name| context.query.is_set(name)) {
            let all = links::with_query(context, "reads", &[("tenant", &self.tenant)]);
            let clear = (CommonText::of(context.lang()).clear_filter, all.as_str());
            return empty_state(text.none_found, text.none_found_text, Some(clear));
        }
        empty_state(text.none, text.none_text, None)
    }

    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReadText::of(lang);
        let columns = [
            Column::text(text.day),
            Column::main(text.client),
            Column::text(text.resource),
            Column::text(text.company),
            Column::number(text.reads),
            Column::text(text.hours),
        ];
        let cells = |one: &ReadJson| {
            let client = links::one(context, "clients", &one.client);
            let name = self.client_names.get(&one.client).unwrap_or(&one.client);
            vec![
                // A day in UTC: no time that a browser would move to its own zone.
                html! { span.whole { (one.day) } },
                html! { a href=(safe_href(&client)) { (DisplayName(name)) } },
                html! { code { (one.area) "/" wbr; (one.resource) } },
                self.company(context, one),
                html! { (number(lang, one.reads)) },
                bars(lang, one),
            ]
        };
        let key = |one: &ReadJson| {
            let company = one.company.as_deref().unwrap_or_default();
            format!("{} {} {} {} {company}", one.day, one.client, one.area, one.resource)
        };
        let next = self.next.as_ref().map(|next| context.here(&["before"], [("before", next.as_str())]));
        let first = context.query.get("before").map(|_| context.here(&["before"], []));
        table(
            lang,
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.reads.iter().map(|one| (key(one), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                first,
                next,
            },
        )
    }

    fn company(&self, context: &Context, one: &ReadJson) -> Markup {
        let text = ReadText::of(context.lang());
        let of_companies = !matches!((one.area, one.resource), (_, "companies") | ("invoicing", _));
        match &one.company {
            Some(id) => {
                let href = links::record(context, &self.tenant, ("accounting", "companies"), None, id);
                html! { a href=(safe_href(&href)) { (short_id(id)) } }
            }
            None if of_companies => html! { span title=(text.several_title) { (text.several) } },
            None => html! { span.muted { (text.of_tenant) } },
        }
    }
}

/// The hours of a day as a small picture, with its numbers in words.
fn bars(lang: Lang, row: &ReadJson) -> Markup {
    let highest = row.hours.iter().copied().max().unwrap_or(0).max(1);
    let words: Vec<String> =
        hours(row).map(|(hour, reads)| format!("{hour:02}:00 {}", number(lang, reads))).collect();
    let words = words.join(", ");
    let width = row.hours.len() * BAR_WIDTH;
    html! {
        svg role="img" aria-label=(words) width=(width) height=(BARS_HEIGHT) viewBox={ "0 0 " (width) " " (BARS_HEIGHT) } {
            title { (words) }
            @for (hour, reads) in hours(row) {
                // At least two units high, so that one read is seen.
                @let height = (u128::from(reads) * u128::from(BARS_HEIGHT) / u128::from(highest)).max(2);
                rect x=(hour * BAR_WIDTH) y=(u128::from(BARS_HEIGHT) - height) width=(BAR_WIDTH - 1) height=(height) fill="currentColor" {}
            }
        }
    }
}

impl View<Context> for ChooseTenant {
    fn section(&self) -> Section {
        Section::Reads
    }

    fn title(&self, lang: Lang) -> &'static str {
        ReadText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = ReadText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if self.is_unknown {
                (notice(Severity::Warning, "unknown", &html! { (text.unknown_tenant) }, Some(&html! { (text.unknown_tenant_text) })))
            }
            form.filters method="get" {
                div.field.wide {
                    label for="tenant" { (text.tenant) }
                    input #tenant name="tenant" type="search" value=[context.query.get("tenant")] required spellcheck="false" autocapitalize="off";
                }
                button type="submit" class="button" { (text.show) }
            }
            @if self.tenants.is_empty() { (empty_state(text.no_tenants, text.no_tenants_text, None)) }
            @else { (self.table(context)) }
        }
    }

    fn csv(&self, _: &Context) -> Option<Csv> {
        let rows = self.tenants.iter().map(|one| vec![one.id.clone(), one.name.clone()]).collect();
        Some(Csv { name: "tenants", columns: vec!["id", "name"], rows })
    }
}

impl ChooseTenant {
    fn table(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReadText::of(lang);
        let cells = |one: &ListedTenant| {
            let href = links::with_query(context, "reads", &[("tenant", &one.id)]);
            vec![
                html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } span.sub { (short_id(&one.id)) } },
            ]
        };
        let next = self.next.as_ref();
        let next = next.map(|next| context.here(&["after", "tenant"], [("after", next.as_str())]));
        html! {
            h2 { (text.choose) }
            p.muted { (text.choose_text) }
            (table(
                lang,
                &Table {
                    caption: text.choose,
                    columns: &[Column::main(text.tenant)],
                    rows: self.tenants.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                    csv: Some(context.here(&["tenant"], [("format", "csv")])),
                    first: context.query.get("after").map(|_| context.here(&["after", "tenant"], [])),
                    next,
                },
            ))
        }
    }
}
