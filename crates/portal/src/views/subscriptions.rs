//! The subscriptions' pages: the list with what can be asked for, and one with its keys and usage.

use domain::Ticks;
use domain::subscription::Product;
use maud::{Markup, html};
use serde::Serialize;
use ui::app::{
    Chart, ChartPoint, Column, State, Table, chart, copy_block, empty_state, facts, meter, number,
    parts_code, state, table,
};
use ui::{
    Button, DisplayName, Field, Lang, badge, button, field, hidden_field, safe_href, short_day, timestamp,
};

use super::overlap::overlap_field;
use super::requests::{RequestRow, requests};
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::subscriptions::SubscriptionText;
use pages::{Csv, View};

#[derive(Debug, Serialize)]
pub(crate) struct SubscriptionsPage {
    pub(crate) subscriptions: Vec<SubscriptionRow>,
    pub(crate) requests: Vec<RequestRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscriptionRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) products: Vec<&'static str>,
    pub(crate) is_sandbox: bool,
    /// `active`, `suspended` or `cancelled`.
    pub(crate) status: &'static str,
    pub(crate) since: String,
    #[serde(skip)]
    pub(crate) since_at: Ticks,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscriptionPage {
    pub(crate) subscription: SubscriptionRow,
    pub(crate) keys: Vec<KeyRow>,
    pub(crate) rate_per_minute: Option<u64>,
    pub(crate) daily_quota: Option<u64>,
    pub(crate) calls_today: u64,
    pub(crate) days: Vec<UsageDay>,
    pub(crate) routes: Vec<UsageRoute>,
    /// A key that was revealed or made just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown_key: Option<ShownKey>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyRow {
    pub(crate) slot: &'static str,
    /// The end of a key that was replaced.
    pub(crate) valid_until: Option<String>,
    #[serde(skip)]
    pub(crate) valid_until_at: Option<Ticks>,
    pub(crate) last_used: Option<String>,
    #[serde(skip)]
    pub(crate) last_used_at: Option<Ticks>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownKey {
    pub(crate) slot: &'static str,
    pub(crate) key: String,
    pub(crate) is_new: bool,
}

impl std::fmt::Debug for ShownKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShownKey(***)")
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct UsageDay {
    pub(crate) day: String,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct UsageRoute {
    pub(crate) route: String,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
}

pub(crate) fn product_name(text: &SubscriptionText, product: &str) -> &'static str {
    match product {
        "accounting" => text.accounting,
        "payroll" => text.payroll,
        _ => text.invoicing,
    }
}

fn products(text: &SubscriptionText, names: &[&'static str]) -> String {
    names.iter().map(|name| product_name(text, name)).collect::<Vec<_>>().join(", ")
}

impl SubscriptionRow {
    fn state(&self, text: &SubscriptionText) -> Markup {
        match self.status {
            "active" => state(State::Ok, text.active),
            "suspended" => state(State::Bad, text.suspended),
            _ => state(State::Off, text.cancelled),
        }
    }
}

impl View<Context> for SubscriptionsPage {
    fn section(&self) -> Section {
        Section::Subscriptions
    }

    fn title(&self, lang: Lang) -> &'static str {
        SubscriptionText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = SubscriptionText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if self.subscriptions.is_empty() { (empty_state(text.none, text.none_text, None)) }
            @else { (self.table(context)) }
            (requests(context, &self.requests))
            section.card { h2 { (text.ask) } (ask_form(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &SubscriptionRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.products.join(" "),
                one.status.to_owned(),
                one.since.clone(),
            ]
        };
        Some(Csv {
            name: "subscriptions",
            columns: vec!["id", "name", "products", "status", "since"],
            rows: self.subscriptions.iter().map(row).collect(),
        })
    }
}

impl SubscriptionsPage {
    fn table(&self, context: &Context) -> Markup {
        let text = SubscriptionText::of(context.lang());
        let columns = [
            Column::main(text.name),
            Column::text(text.products),
            Column::text(text.status),
            Column::text(text.since),
        ];
        let cells = |one: &SubscriptionRow| {
            let href = context.team_path(&format!("subscriptions/{}", one.id));
            vec![
                html! {
                    a href=(safe_href(&href)) { (DisplayName(&one.name)) }
                    @if one.is_sandbox { " " (badge(text.sandbox)) }
                },
                html! { (products(text, &one.products)) },
                one.state(text),
                timestamp(context.lang(), one.since_at),
            ]
        };
        table(
            context.lang(),
            &Table {
                caption: text.title,
                columns: &columns,
                rows: self.subscriptions.iter().map(|one| (one.id.clone(), cells(one))).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            },
        )
    }
}

fn ask_form(context: &Context) -> Markup {
    let text = SubscriptionText::of(context.lang());
    let products = [
        (Product::Accounting, text.accounting_text),
        (Product::Payroll, text.payroll_text),
        (Product::Invoicing, text.invoicing_text),
    ];
    html! {
        form.stack method="post" action=(context.here(&[], [])) {
            (context.form_token())
            fieldset {
                legend { (text.product) }
                div.choices {
                    @for (index, (product, explanation)) in products.iter().enumerate() {
                        (ui::radio_option(&ui::RadioOption {
                            name: "product",
                            value: product.as_str(),
                            label: product_name(text, product.as_str()),
                            note: explanation,
                            badge: None,
                            error_id: None,
                            is_checked: context.typed("product").map_or(index == 0, |typed| typed == product.as_str()),
                        }))
                    }
                }
            }
            (field(&Field { name: "name", label: text.name, value: context.typed("name"), is_required: true, ..Field::default() }))
            div.field {
                label for="note" { (text.ask_note) }
                textarea #note name="note" rows="2" maxlength="1000" aria-describedby="note-hint" { (context.typed("note").unwrap_or_default()) }
                span.hint #note-hint { (text.ask_note_hint) }
            }
            label.check { input type="checkbox" name="sandbox" value="true" checked[context.typed("sandbox").is_some()]; span { (text.ask_sandbox) } }
            (button(&Button { label: text.send, name_and_value: Some(("do", "ask")), ..Button::default() }))
        }
    }
}

impl View<Context> for SubscriptionPage {
    fn section(&self) -> Section {
        Section::Subscriptions
    }

    fn title(&self, lang: Lang) -> &'static str {
        SubscriptionText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SubscriptionText::of(lang);
        let one = &self.subscription;
        let limit = |limit: Option<u64>| {
            html! { @if let Some(limit) = limit { (number(lang, limit)) } @else { (text.unlimited) } }
        };
        html! {
            p.crumbs { a href=(safe_href(&context.team_path("subscriptions"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&one.name)) } (one.state(text)) @if one.is_sandbox { (badge(text.sandbox)) } }
            @if one.status == "suspended" { p.lead { (text.suspended_text) } }
            @if let Some(shown) = &self.shown_key { (shown_key(lang, shown)) }
            section.card {
                (facts(&[
                    (text.products, html! { (products(text, &one.products)) }),
                    (text.limits, limit(self.rate_per_minute)),
                    (text.per_day, limit(self.daily_quota)),
                    (text.since, timestamp(lang, one.since_at)),
                ]))
            }
            section.card {
                h2 { (text.keys) }
                p.muted { (text.keys_text) }
                (self.keys(context))
            }
            (self.usage(context))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &UsageRoute| vec![one.route.clone(), one.calls.to_string(), one.failed.to_string()];
        Some(Csv {
            name: "usage",
            columns: vec!["route", "calls", "failed"],
            rows: self.routes.iter().map(row).collect(),
        })
    }
}

fn shown_key(lang: Lang, shown: &ShownKey) -> Markup {
    let text = SubscriptionText::of(lang);
    let title = match (shown.is_new, shown.slot) {
        (false, "primary") => text.revealed_primary,
        (false, _) => text.revealed_secondary,
        (true, "primary") => text.new_primary,
        (true, _) => text.new_secondary,
    };
    html! {
        section.card.secret-once role="status" {
            h2 { (title) }
            p { (text.revealed_text) }
            (copy_block(lang, "shown-key", &shown.key))
        }
    }
}

impl SubscriptionPage {
    fn keys(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (SubscriptionText::of(lang), CommonText::of(lang));
        let columns = [
            Column::main(text.key),
            Column::text(text.last_used),
            Column::text(text.valid_until),
            Column::text(""),
        ];
        let cells = |key: &KeyRow| {
            let name = if key.slot == "primary" { text.primary } else { text.secondary };
            let is_current = key.valid_until_at.is_none();
            vec![
                html! { (name) " " code aria-hidden="true" { "••••••••" } @if !is_current { " " (badge(text.replaced)) } },
                html! { @match key.last_used_at { Some(at) => (timestamp(lang, at)), None => (common.never) } },
                html! { @if let Some(at) = key.valid_until_at { (timestamp(lang, at)) } },
                html! { @if is_current && self.subscription.status != "cancelled" { (key_actions(context, key.slot)) } },
            ]
        };
        let rows = self.keys.iter().enumerate();
        table(
            lang,
            &Table {
                caption: text.keys,
                columns: &columns,
                rows: rows.map(|(index, key)| (format!("{}-{index}", key.slot), cells(key))).collect(),
                ..Table::default()
            },
        )
    }

    fn usage(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SubscriptionText::of(lang);
        let columns = [Column::main(text.route), Column::number(text.calls), Column::number(text.failed)];
        let cells = |one: &UsageRoute| {
            vec![
                parts_code(&one.route),
                html! { (number(lang, one.calls)) },
                html! { (number(lang, one.failed)) },
            ]
        };
        let point = |day: &UsageDay| ChartPoint {
            label: html! { (day.day) },
            tick: html! { (short_day(lang, &day.day)) },
            ok: day.calls.saturating_sub(day.failed),
            bad: day.failed,
        };
        let points: Vec<ChartPoint> = self.days.iter().map(point).collect();
        html! {
            section.card {
                h2 { (text.usage) }
                @if let Some(quota) = self.daily_quota {
                    p { (text.usage_today) ": " b { (number(lang, self.calls_today)) } " / " (number(lang, quota)) " " span.muted { (text.usage_of_quota) } }
                    (meter(text.usage_of_quota, self.calls_today, quota))
                } @else {
                    p { (text.usage_today) ": " b { (number(lang, self.calls_today)) } }
                }
                @if self.days.is_empty() {
                    p.muted { (text.no_usage) }
                } @else {
                    h3 { (text.by_day) }
                    (chart(lang, &Chart { id: "usage", title: text.by_day, time: text.date, ok: text.succeeded, bad: text.failed, points: &points }))
                    h3 { (text.by_route) }
                    (table(lang, &Table {
                        caption: text.by_route,
                        columns: &columns,
                        rows: self.routes.iter().map(|one| (one.route.clone(), cells(one))).collect(),
                        csv: Some(context.here(&[], [("format", "csv")])),
                        ..Table::default()
                    }))
                    p { a href=(safe_href(&context.team_path(&format!("calls?subscription={}", self.subscription.id)))) { (text.see_calls) } }
                }
            }
        }
    }
}

fn key_actions(context: &Context, slot: &'static str) -> Markup {
    let text = SubscriptionText::of(context.lang());
    html! {
        form.inline method="post" action=(context.here(&[], [])) {
            (context.form_token()) (hidden_field("slot", slot))
            button type="submit" class="button secondary small" name="do" value="reveal" title=(text.reveal_text) { (text.reveal) }
        }
        details.more.danger id={ "regenerate-" (slot) } {
            summary { (text.regenerate) }
            form method="post" action=(context.here(&[], [])) {
                (context.form_token()) (hidden_field("slot", slot))
                p { (text.regenerate_text) }
                (overlap_field(context.lang(), slot))
                button type="submit" class="button destructive" name="do" value="regenerate" { (text.regenerate) }
            }
        }
    }
}
