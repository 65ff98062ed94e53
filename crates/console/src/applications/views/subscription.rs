//! One subscription: its keys, limits and usage.

use domain::Ticks;
use maud::{Markup, html};
use operator::admin::{DayUsage, Permission, RouteUsage};
use pages::{Csv, View};
use serde::Serialize;
use store::KeyInfo;
use ui::app::{
    Chart, ChartPoint, Column, Table, chart, copy_inline, facts, meter, number, parts_code, table,
};
use ui::{DisplayName, Field, Lang, badge, field, hidden_field, safe_href, short_day, timestamp};

use super::parts::{
    Act, act, check_field, confirm_field, overlap_field, owner, product_names, revision_field,
};
use super::subscriptions::{SubscriptionRow, quota_field};
use crate::applications::text::area::AreaText;
use crate::applications::text::subscriptions::SubscriptionText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscriptionPage {
    #[serde(flatten)]
    pub(crate) row: SubscriptionRow,
    pub(crate) keys: Vec<KeyRow>,
    /// The limits that apply.
    pub(crate) rate_per_minute: Option<u32>,
    pub(crate) calls_per_day: Option<u64>,
    /// Its own quota, if it has one.
    pub(crate) daily_quota: Option<u64>,
    pub(crate) calls_today: u64,
    pub(crate) days: Vec<DayUsage>,
    pub(crate) routes: Vec<RouteUsage>,
    pub(crate) revision: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyRow {
    slot: &'static str,
    /// The end of a key that was replaced.
    valid_until: Option<String>,
    last_used: Option<String>,
    #[serde(skip)]
    valid_until_at: Option<Ticks>,
    #[serde(skip)]
    last_used_at: Option<Ticks>,
}

impl KeyRow {
    pub(crate) fn new(key: &KeyInfo) -> Self {
        Self {
            slot: key.slot.as_str(),
            valid_until: key.valid_until.map(Ticks::iso),
            last_used: key.last_used_at.map(Ticks::iso),
            valid_until_at: key.valid_until,
            last_used_at: key.last_used_at,
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
        let (text, area) = (SubscriptionText::of(lang), AreaText::of(lang));
        html! {
            p.crumbs { a href=(safe_href(&context.console_path("subscriptions"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&self.row.name)) } (self.row.state(lang)) @if self.row.is_sandbox { (badge(area.sandbox)) } }
            @match self.row.status {
                "suspended" => p.lead { (text.suspended_text) },
                "cancelled" => p.lead { (text.cancelled_text) },
                _ => {},
            }
            (self.facts(context))
            @if !self.keys.is_empty() { section.card { h2 { (text.keys) } (self.keys(context)) } }
            (self.usage(context))
            @if self.may_change(context) { (self.actions(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &RouteUsage| vec![one.route.clone(), one.calls.to_string(), one.failed.to_string()];
        Some(Csv {
            name: "usage",
            columns: vec!["route", "calls", "failed"],
            rows: self.routes.iter().map(row).collect(),
        })
    }
}

impl SubscriptionPage {
    /// A cancelled one stays as it is.
    fn may_change(&self, context: &Context) -> bool {
        context.may(Permission::Keys) && self.row.status != "cancelled"
    }

    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (SubscriptionText::of(lang), AreaText::of(lang));
        let limit = |limit: Option<u64>| {
            html! { @if let Some(limit) = limit { (number(lang, limit)) } @else { (text.unlimited) } }
        };
        html! {
            section.card {
                (facts(&[
                    (area.id, copy_inline(lang, "subscription-id", &self.row.id)),
                    (area.team, owner(context, self.row.team.as_ref(), text.every_client)),
                    (area.products, html! { (product_names(lang, &self.row.products)) }),
                    (text.per_minute, limit(self.rate_per_minute.map(u64::from))),
                    (text.per_day, html! { (limit(self.calls_per_day)) @if self.daily_quota.is_some() { " " (badge(text.own_quota)) } }),
                    (CommonText::of(lang).created, timestamp(lang, self.row.created_at)),
                ]))
            }
        }
    }

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
                html! { @if is_current && self.may_change(context) { (regenerate_form(context, key.slot)) } },
            ]
        };
        let rows = self.keys.iter().enumerate();
        let rows = rows.map(|(index, key)| (format!("{}-{index}", key.slot), cells(key))).collect();
        table(lang, &Table { caption: text.keys, columns: &columns, rows, ..Table::default() })
    }

    fn usage(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SubscriptionText::of(lang);
        let columns = [Column::main(text.route), Column::number(text.calls), Column::number(text.failed)];
        let cells = |one: &RouteUsage| {
            vec![
                parts_code(&one.route),
                html! { (number(lang, one.calls)) },
                html! { (number(lang, one.failed)) },
            ]
        };
        let point = |day: &DayUsage| ChartPoint {
            label: html! { (day.day) },
            tick: html! { (short_day(lang, &day.day)) },
            ok: day.calls.saturating_sub(day.failed),
            bad: day.failed,
        };
        let points: Vec<ChartPoint> = self.days.iter().map(point).collect();
        html! {
            section.card {
                h2 { (text.usage) }
                p {
                    (text.today) ": " b { (number(lang, self.calls_today)) }
                    @if let Some(quota) = self.calls_per_day { " / " (number(lang, quota)) " " span.muted { (text.of_quota) } }
                }
                @if let Some(quota) = self.calls_per_day { (meter(text.of_quota, self.calls_today, quota)) }
                @if self.days.is_empty() { p.muted { (text.no_usage) } }
                @else {
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
                }
            }
        }
    }

    fn actions(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (SubscriptionText::of(lang), AreaText::of(lang));
        let (label, what, is_dangerous, name) = if self.row.status == "active" {
            (text.suspend, text.suspend_text, true, "suspend")
        } else {
            (text.resume, text.resume_text, false, "resume")
        };
        let status = Act { id: "status", name, label, what: &self.row.name, text: what, is_dangerous };
        let cancel = Act {
            id: "cancel",
            name: "cancel",
            label: text.cancel,
            what: &self.row.name,
            text: text.cancel_text,
            is_dangerous: true,
        };
        html! {
            section.card {
                h2 { (CommonText::of(lang).actions) }
                (self.change_form(context))
                (act(context, &status, &html! {}))
                (act(context, &cancel, &confirm_field("cancel", area.confirm, &self.row.id)))
            }
        }
    }

    fn change_form(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area, common) = (SubscriptionText::of(lang), AreaText::of(lang), CommonText::of(lang));
        let values = context.values("change");
        let quota = self.daily_quota.map(|quota| quota.to_string()).unwrap_or_default();
        let team = self.row.team.as_ref().map_or("", |team| team.id.as_str());
        html! {
            details.more #change open[values.is_refused()] {
                summary { (text.change) }
                form method="post" action=(context.path()) {
                    (context.form_token()) (revision_field(values, self.revision))
                    (quota_field(lang, Some(values.text("quota", &quota))))
                    (field(&Field { name: "team", label: area.team_id, value: Some(values.text("team", team)), hint: Some(text.team_hint), ..Field::default() }))
                    (check_field("sandbox", (area.sandbox_only, area.sandbox_only_hint), values.is_checked("sandbox", self.row.is_sandbox)))
                    p.muted { (common.fresh_needed) }
                    button type="submit" class="button" name="do" value="change" { (common.save) }
                }
            }
        }
    }
}

fn regenerate_form(context: &Context, slot: &str) -> Markup {
    let lang = context.lang();
    let text = SubscriptionText::of(lang);
    let id = format!("regenerate-{slot}");
    let regenerate = Act {
        id: &id,
        name: "regenerate",
        label: text.regenerate,
        what: if slot == "primary" { text.primary } else { text.secondary },
        text: text.regenerate_text,
        is_dangerous: true,
    };
    act(context, &regenerate, &html! { (hidden_field("slot", slot)) (overlap_field(lang, slot)) })
}
