//! What the team has asked the operator for.

use domain::{ClientKind, Ticks};
use maud::{Markup, html};
use serde::Serialize;
use store::{RequestKind, RequestState, TeamRequest};
use ui::app::{Column, State, Table, state, table};
use ui::{DisplayName, client_kind_text, hidden_field, timestamp};

use crate::context::Context;
use crate::text::subscriptions::SubscriptionText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestRow {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// Of a client.
    pub(crate) client_kind: Option<&'static str>,
    pub(crate) state: &'static str,
    /// The name or the address that was asked for.
    pub(crate) what: String,
    pub(crate) products: Vec<&'static str>,
    pub(crate) is_sandbox: bool,
    pub(crate) reason: String,
    pub(crate) asked: String,
    #[serde(skip)]
    pub(crate) asked_at: Ticks,
    /// What an approval has made.
    pub(crate) result: Option<String>,
}

impl RequestRow {
    pub(crate) fn new(request: &TeamRequest) -> Self {
        let (what, products, is_sandbox) = match &request.kind {
            RequestKind::Client { name, products, is_sandbox, .. } => {
                (name.clone(), products.names(), *is_sandbox)
            }
            RequestKind::RedirectUri { uri, .. } => (uri.clone(), Vec::new(), false),
            RequestKind::Subscription { name, product, is_sandbox } => {
                (name.clone(), vec![product.as_str()], *is_sandbox)
            }
        };
        Self {
            id: request.id.to_string(),
            kind: request.kind.as_str(),
            client_kind: match &request.kind {
                RequestKind::Client { kind, .. } => Some(kind.as_str()),
                RequestKind::RedirectUri { .. } | RequestKind::Subscription { .. } => None,
            },
            state: request.state.as_str(),
            what,
            products,
            is_sandbox,
            reason: request.reason.clone(),
            asked: request.created_at.iso(),
            asked_at: request.created_at,
            result: request.result.clone(),
        }
    }

    fn state(&self, text: &SubscriptionText) -> (State, &'static str) {
        match RequestState::ALL.iter().find(|one| one.as_str() == self.state) {
            Some(RequestState::Pending) | None => (State::Waiting, text.pending_state),
            Some(RequestState::Approved) => (State::Ok, text.approved_state),
            Some(RequestState::Refused) => (State::Bad, text.refused_state),
            Some(RequestState::Withdrawn) => (State::Off, text.withdrawn_state),
        }
    }
}

/// The table of requests; nothing where there are none.
pub(crate) fn requests(context: &Context, rows: &[RequestRow]) -> Markup {
    let text = SubscriptionText::of(context.lang());
    let columns =
        [Column::main(text.name), Column::text(text.status), Column::text(text.asked), Column::text("")];
    let cells = |row: &RequestRow| {
        let (kind, word) = row.state(text);
        vec![
            html! {
                (DisplayName(&row.what))
                @if let Some(kind) = row.client_kind.and_then(ClientKind::parse) { span.sub { (client_kind_text(context.lang(), kind).name) } }
                @if row.is_sandbox { span.sub { (text.sandbox) } }
            },
            html! { (state(kind, word)) @if !row.reason.is_empty() { span.sub { (text.reason) ": " (DisplayName(&row.reason)) } } },
            timestamp(context.lang(), row.asked_at),
            html! {
                @if row.state == "pending" {
                    form.inline method="post" action=(context.here(&[], [])) {
                        (context.form_token()) (hidden_field("request", &row.id))
                        button type="submit" class="button secondary small" name="do" value="withdraw" { (text.withdraw) }
                    }
                }
            },
        ]
    };
    html! {
        @if !rows.is_empty() {
            h2.after { (text.pending) }
            (table(context.lang(), &Table {
                caption: text.pending,
                columns: &columns,
                rows: rows.iter().map(|row| (row.id.clone(), cells(row))).collect(),
                ..Table::default()
            }))
        }
    }
}
