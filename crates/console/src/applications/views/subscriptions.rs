//! The list of subscriptions.

use domain::Ticks;
use domain::subscription::Products;
use maud::{Markup, html};
use operator::admin::Permission;
use pages::{Csv, View};
use serde::Serialize;
use store::{Status, Subscription};
use ui::app::{Column, State, state};
use ui::{DisplayName, Field, Lang, badge, field, safe_href, timestamp};

use super::parts::{
    Filters, TeamRef, empty, filters, is_filtered, owner, paged, product_names, products_field,
};
use crate::applications::text::area::AreaText;
use crate::applications::text::subscriptions::SubscriptionText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct SubscriptionsPage {
    pub(crate) subscriptions: Vec<SubscriptionRow>,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SubscriptionRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) team: Option<TeamRef>,
    pub(crate) products: Vec<&'static str>,
    pub(crate) is_sandbox: bool,
    /// `active`, `suspended` or `cancelled`.
    pub(crate) status: &'static str,
    pub(crate) created: String,
    #[serde(skip)]
    pub(crate) created_at: Ticks,
}

impl SubscriptionRow {
    pub(crate) fn new(one: &Subscription, team: Option<TeamRef>) -> Self {
        Self {
            id: one.id.to_string(),
            name: one.name.clone(),
            team,
            products: one.products.names(),
            is_sandbox: one.is_sandbox,
            status: match (one.cancelled_at, one.status) {
                (Some(_), _) => "cancelled",
                (None, Status::Active) => "active",
                (None, _) => "suspended",
            },
            created: one.created_at.iso(),
            created_at: one.created_at,
        }
    }

    pub(crate) fn state(&self, lang: Lang) -> Markup {
        let text = SubscriptionText::of(lang);
        match self.status {
            "active" => state(State::Ok, text.active),
            "suspended" => state(State::Bad, text.suspended),
            _ => state(State::Off, text.cancelled),
        }
    }
}

/// A table of subscriptions, for the pages of teams, too.
pub(crate) fn columns(lang: Lang) -> [Column; 5] {
    let (area, common) = (AreaText::of(lang), CommonText::of(lang));
    [
        Column::main(area.name),
        Column::text(area.team),
        Column::text(area.products),
        Column::text(common.state),
        Column::text(common.created),
    ]
}

pub(crate) fn cells(context: &Context, one: &SubscriptionRow) -> Vec<Markup> {
    let lang = context.lang();
    let area = AreaText::of(lang);
    let href = context.console_path(&format!("subscriptions/{}", one.id));
    vec![
        html! { a href=(safe_href(&href)) { (DisplayName(&one.name)) } @if one.is_sandbox { " " (badge(area.sandbox)) } },
        owner(context, one.team.as_ref(), area.no_team),
        html! { (product_names(lang, &one.products)) },
        one.state(lang),
        timestamp(lang, one.created_at),
    ]
}

impl View<Context> for SubscriptionsPage {
    fn section(&self) -> Section {
        Section::Subscriptions
    }

    fn title(&self, lang: Lang) -> &'static str {
        SubscriptionText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (SubscriptionText::of(lang), AreaText::of(lang));
        let states = [
            ("", CommonText::of(lang).all),
            ("active", text.active),
            ("suspended", text.suspended),
            ("cancelled", text.cancelled),
        ];
        let filter = Filters {
            has_search: true,
            has_team: true,
            states: &states,
            state: context.query.get("state").unwrap_or_default(),
        };
        let rows = self.subscriptions.iter().map(|one| (one.id.clone(), cells(context, one))).collect();
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if !self.subscriptions.is_empty() || is_filtered(context) { (filters(context, &filter)) }
            @if self.subscriptions.is_empty() { (empty(context, (text.none, text.none_text), (area.none_found, area.none_found_text))) }
            @else { (paged(context, text.title, &columns(lang), rows, self.next.as_deref())) }
            @if context.may(Permission::Keys) { (new_form(context)) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &SubscriptionRow| {
            vec![
                one.id.clone(),
                one.name.clone(),
                one.team.as_ref().map(|team| team.id.clone()).unwrap_or_default(),
                one.products.join(" "),
                one.is_sandbox.to_string(),
                one.status.to_owned(),
                one.created.clone(),
            ]
        };
        Some(Csv {
            name: "subscriptions",
            columns: vec!["id", "name", "team", "products", "sandbox", "status", "created"],
            rows: self.subscriptions.iter().map(row).collect(),
        })
    }
}

fn new_form(context: &Context) -> Markup {
    let lang = context.lang();
    let (text, area, common) = (SubscriptionText::of(lang), AreaText::of(lang), CommonText::of(lang));
    let values = context.values("add");
    html! {
        section.card {
            h2 { (text.new) }
            details.more #new open[values.is_refused()] {
                summary { (text.new) }
                form method="post" action=(context.path()) {
                    (context.form_token())
                    (field(&Field { name: "name", label: area.name, value: context.typed("name"), is_required: true, ..Field::default() }))
                    (products_field(lang, values, Products::all()))
                    (quota_field(lang, context.typed("quota")))
                    (field(&Field { name: "team", label: area.team_id, value: context.typed("team"), hint: Some(text.team_hint), ..Field::default() }))
                    p.muted { (common.fresh_needed) }
                    button type="submit" class="button" name="do" value="add" { (text.new) }
                }
            }
        }
    }
}

pub(crate) fn quota_field(lang: Lang, value: Option<&str>) -> Markup {
    let text = SubscriptionText::of(lang);
    field(&Field {
        name: "quota",
        label: text.quota,
        value,
        inputmode: Some("numeric"),
        hint: Some(text.quota_hint),
        ..Field::default()
    })
}
