//! The list of requests.

use domain::Ticks;
use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use store::{RequestKind, RequestState, TeamRequest};
use ui::app::{Column, State, state};
use ui::{DisplayName, Lang, badge, safe_href, timestamp};

use super::parts::{Filters, TeamRef, empty, filters, paged, product_names};
use crate::applications::text::area::AreaText;
use crate::applications::text::requests::RequestText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct RequestsPage {
    pub(crate) requests: Vec<RequestRow>,
    pub(crate) next: Option<String>,
    /// None: every state.
    #[serde(skip)]
    pub(crate) state: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestRow {
    pub(crate) id: String,
    pub(crate) team: TeamRef,
    pub(crate) kind: &'static str,
    /// The name or the address that is asked for.
    pub(crate) what: String,
    pub(crate) products: Vec<&'static str>,
    pub(crate) is_sandbox: bool,
    pub(crate) state: &'static str,
    pub(crate) reason: String,
    pub(crate) asked: String,
    pub(crate) decided: Option<String>,
    #[serde(skip)]
    pub(crate) asked_at: Ticks,
}

impl RequestRow {
    pub(crate) fn new(request: &TeamRequest, team: TeamRef) -> Self {
        let (what, products, is_sandbox) = match &request.kind {
            RequestKind::Client { name, products, is_sandbox, .. } => (name, products.names(), *is_sandbox),
            RequestKind::RedirectUri { uri, .. } => (uri, Vec::new(), false),
            RequestKind::Subscription { name, product, is_sandbox } => {
                (name, vec![product.as_str()], *is_sandbox)
            }
        };
        Self {
            id: request.id.to_string(),
            team,
            kind: request.kind.as_str(),
            what: what.clone(),
            products,
            is_sandbox,
            state: request.state.as_str(),
            reason: request.reason.clone(),
            asked: request.created_at.iso(),
            decided: request.decided_at.map(Ticks::iso),
            asked_at: request.created_at,
        }
    }

    /// What is asked for, as a link to the request.
    pub(crate) fn link(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let href = context.console_path(&format!("requests/{}", self.id));
        html! {
            a href=(safe_href(&href)) { (DisplayName(&self.what)) }
            @if self.is_sandbox { " " (badge(AreaText::of(lang).sandbox)) }
            span.sub { (kind_word(lang, self.kind)) @if !self.products.is_empty() { " · " (product_names(lang, &self.products)) } }
        }
    }
}

pub(crate) fn kind_word(lang: Lang, kind: &str) -> &'static str {
    let text = RequestText::of(lang);
    match kind {
        "client" => text.client,
        "redirect_uri" => text.redirect_uri,
        _ => text.subscription,
    }
}

pub(crate) fn state_word(lang: Lang, name: &str) -> (State, &'static str) {
    let text = RequestText::of(lang);
    match RequestState::ALL.into_iter().find(|one| one.as_str() == name) {
        Some(RequestState::Pending) | None => (State::Waiting, text.pending),
        Some(RequestState::Approved) => (State::Ok, text.approved),
        Some(RequestState::Refused) => (State::Bad, text.refused),
        Some(RequestState::Withdrawn) => (State::Off, text.withdrawn),
    }
}

/// A table of requests for the pages of teams, too.
pub(crate) fn columns(lang: Lang) -> [Column; 4] {
    let text = RequestText::of(lang);
    [
        Column::main(text.asked_for),
        Column::text(AreaText::of(lang).team),
        Column::text(CommonText::of(lang).state),
        Column::text(text.asked_at),
    ]
}

pub(crate) fn cells(context: &Context, row: &RequestRow) -> Vec<Markup> {
    let lang = context.lang();
    let (kind, word) = state_word(lang, row.state);
    vec![
        row.link(context),
        row.team.link(context),
        html! { (state(kind, word)) @if !row.reason.is_empty() { span.sub { (DisplayName(&row.reason)) } } },
        timestamp(lang, row.asked_at),
    ]
}

impl View<Context> for RequestsPage {
    fn section(&self) -> Section {
        Section::Requests
    }

    fn title(&self, lang: Lang) -> &'static str {
        RequestText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = RequestText::of(lang);
        let mut states: Vec<(&str, &str)> =
            RequestState::ALL.iter().map(|one| (one.as_str(), state_word(lang, one.as_str()).1)).collect();
        states.push(("all", CommonText::of(lang).all));
        let filter = Filters {
            has_search: false,
            has_team: true,
            states: &states,
            state: self.state.unwrap_or("all"),
        };
        let rows = self.requests.iter().map(|row| (row.id.clone(), cells(context, row))).collect();
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            (filters(context, &filter))
            @if self.requests.is_empty() { (empty(context, (text.none, text.none_text), (text.none_found, text.none_found_text))) }
            @else { (paged(context, text.title, &columns(lang), rows, self.next.as_deref())) }
        }
    }

    fn has_more(&self) -> bool {
        self.next.is_some()
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |one: &RequestRow| {
            vec![
                one.id.clone(),
                one.team.id.clone(),
                one.kind.to_owned(),
                one.what.clone(),
                one.products.join(" "),
                one.is_sandbox.to_string(),
                one.state.to_owned(),
                one.asked.clone(),
                one.decided.clone().unwrap_or_default(),
                one.reason.clone(),
            ]
        };
        let columns = "id team kind what products sandbox state asked decided reason";
        Some(Csv {
            name: "requests",
            columns: columns.split(' ').collect(),
            rows: self.requests.iter().map(row).collect(),
        })
    }
}
