//! One request: everything that is asked for, and the decision.

use domain::{ClientKind, Ticks};
use maud::{Markup, html};
use operator::admin::Permission;
use pages::View;
use serde::Serialize;
use store::{Client, Pkce, RequestKind, TeamRequest};
use ui::app::{fact_lines, parts_code, short_id, state};
use ui::{DisplayName, Lang, RadioOption, badge, client_kind_text, radio_option, safe_href, timestamp};

use super::parts::{Act, TeamRef, act, long_text, product_names, revision_field};
use super::requests::{RequestRow, kind_word, state_word};
use crate::applications::text::area::AreaText;
use crate::applications::text::clients::ClientText;
use crate::applications::text::requests::RequestText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPage {
    pub(crate) request: RequestRow,
    client_kind: Option<&'static str>,
    redirect_uris: Vec<String>,
    pkce: Option<&'static str>,
    /// Of a redirect address.
    client: Option<String>,
    client_name: Option<String>,
    note: String,
    asked_by: String,
    asked_by_email: Option<String>,
    decided_by: Option<String>,
    /// The address of who decided, or what else did.
    #[serde(skip)]
    pub(crate) decider: Option<String>,
    #[serde(skip)]
    decided_at: Option<Ticks>,
    /// The id of the client or the subscription that the approval added or changed.
    result: Option<String>,
    revision: u64,
}

pub(crate) fn pkce_name(pkce: Pkce) -> &'static str {
    match pkce {
        Pkce::Required => "required",
        Pkce::IfSent => "if-sent",
        Pkce::Ignore => "ignore",
    }
}

impl RequestPage {
    pub(crate) fn new(
        request: &TeamRequest,
        team: TeamRef,
        asked_by_email: Option<String>,
        client: Option<&Client>,
    ) -> Self {
        let (redirect_uris, pkce, of_client) = match &request.kind {
            RequestKind::Client { redirect_uris, pkce, .. } => {
                (redirect_uris.clone(), Some(pkce_name(*pkce)), None)
            }
            RequestKind::RedirectUri { client, uri } => (vec![uri.clone()], None, Some(client.to_string())),
            RequestKind::Subscription { .. } => (Vec::new(), None, None),
        };
        let client_kind = match &request.kind {
            RequestKind::Client { kind, .. } => Some(kind.as_str()),
            RequestKind::RedirectUri { .. } | RequestKind::Subscription { .. } => None,
        };
        Self {
            request: RequestRow::new(request, team),
            client_kind,
            redirect_uris,
            pkce,
            client: of_client,
            client_name: client.map(|client| client.name.clone()),
            note: request.note.clone(),
            asked_by: request.asked_by.to_string(),
            asked_by_email,
            decided_by: request.decided_by.clone(),
            decider: None,
            decided_at: request.decided_at,
            result: request.result.clone(),
            revision: request.revision,
        }
    }

    /// What is asked for.
    fn asked(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, area) = (RequestText::of(lang), AreaText::of(lang));
        let one = &self.request;
        let mut facts = vec![
            (
                text.kind,
                html! { (kind_word(lang, one.kind)) @if one.is_sandbox { " " (badge(area.sandbox_only)) } },
            ),
            (area.team, one.team.link(context)),
        ];
        if one.kind != "redirect_uri" {
            facts.push((area.name, html! { (DisplayName(&one.what)) }));
            facts.push((area.products, html! { (product_names(lang, &one.products)) }));
        }
        if let Some(kind) = self.client_kind.and_then(ClientKind::parse) {
            facts.push((
                ClientText::of(lang).kind_of_application,
                html! { (client_kind_text(lang, kind).name) },
            ));
        }
        if let Some(client) = &self.client {
            let href = context.console_path(&format!("clients/{client}"));
            let name = self.client_name.as_deref().unwrap_or(client);
            facts.push((text.client, html! { a href=(safe_href(&href)) { (DisplayName(name)) } }));
        }
        if !self.redirect_uris.is_empty() {
            let label = if self.client.is_some() { text.redirect_uri } else { text.redirect_uris };
            facts.push((label, html! { @for uri in &self.redirect_uris { div { (parts_code(uri)) } } }));
        }
        if let Some(pkce) = self.pkce {
            let word = match pkce {
                "required" => text.pkce_required,
                "if-sent" => text.pkce_if_sent,
                _ => text.pkce_ignore,
            };
            facts.push((text.pkce, html! { (word) }));
        }
        facts.push((text.asked_by, self.developer(context)));
        facts.push((text.asked_at, timestamp(lang, one.asked_at)));
        html! { section.card { h2 { (text.asked_for) } (fact_lines(&facts)) } }
    }

    fn developer(&self, context: &Context) -> Markup {
        let href = context.console_path(&format!("developers/{}", self.asked_by));
        let name = self.asked_by_email.as_deref().unwrap_or(&self.asked_by);
        html! { a href=(safe_href(&href)) { (DisplayName(name)) } }
    }

    /// Who decided, and what came of it.
    fn decision(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = RequestText::of(lang);
        let mut facts = Vec::new();
        if let Some(at) = self.decided_at {
            facts.push((text.decided_at, timestamp(lang, at)));
        }
        if let Some(by) = self.decider.as_ref().or(self.decided_by.as_ref()) {
            facts.push((text.decided_by, html! { (DisplayName(by)) }));
        }
        if !self.request.reason.is_empty() {
            facts.push((text.reason, long_text(&self.request.reason)));
        }
        if let Some(id) = &self.result {
            let page = if self.request.kind == "subscription" { "subscriptions" } else { "clients" };
            let href = context.console_path(&format!("{page}/{id}"));
            facts.push((text.result, html! { a href=(safe_href(&href)) { (short_id(id)) } }));
        }
        html! { @if !facts.is_empty() { section.card { h2 { (state_word(lang, self.request.state).1) } (fact_lines(&facts)) } } }
    }

    fn approve(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, one) = (RequestText::of(lang), &self.request);
        let what = match one.kind {
            "client" => text.approve_client,
            "redirect_uri" => text.approve_redirect,
            _ => text.approve_subscription,
        };
        let option = |value, (label, note), is_checked| {
            let option =
                RadioOption { name: "consent", value, label, note, badge: None, error_id: None, is_checked };
            radio_option(&option)
        };
        let is_waived = context.typed("consent") == Some("none");
        let fields = html! {
            (revision_field(context.values("approve"), self.revision))
            @if !one.is_sandbox { p { b { (text.real_data) } } }
            @if one.kind == "client" {
                fieldset {
                    legend { (text.consent) }
                    div.choices {
                        (option("required", (text.with_consent, text.with_consent_text), !is_waived))
                        (option("none", (text.without_consent, text.without_consent_text), is_waived))
                    }
                }
            }
        };
        let approve = Act {
            id: "approve",
            name: "approve",
            label: text.approve,
            what: &one.what,
            text: what,
            is_dangerous: false,
        };
        act(context, &approve, &fields)
    }

    fn refuse(&self, context: &Context) -> Markup {
        let text = RequestText::of(context.lang());
        html! {
            details.more.danger #refuse open[context.is_refused("refuse")] {
                summary { (text.refuse) }
                form method="post" action=(context.path()) {
                    (context.form_token()) (revision_field(context.values("refuse"), self.revision))
                    p { b { (DisplayName(&self.request.what)) } ": " (text.refuse_text) }
                    div.field {
                        label for="reason" { (text.reason) }
                        textarea #reason name="reason" rows="3" maxlength="1000" required { (context.typed("reason").unwrap_or_default()) }
                    }
                    button type="submit" class="button destructive" name="do" value="refuse" { (text.refuse) }
                }
            }
        }
    }
}

impl View<Context> for RequestPage {
    fn section(&self) -> Section {
        Section::Requests
    }

    fn title(&self, lang: Lang) -> &'static str {
        RequestText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = RequestText::of(lang);
        let (kind, word) = state_word(lang, self.request.state);
        html! {
            p.crumbs { a href=(safe_href(&context.console_path("requests"))) { (text.title) } }
            div.title-row { h1 { (DisplayName(&self.request.what)) } (state(kind, word)) }
            (self.asked(context))
            section.card {
                h2 { (text.note) }
                @if self.note.is_empty() { p.muted { (text.no_note) } } @else { (long_text(&self.note)) }
            }
            (self.decision(context))
            @if self.request.state == "pending" {
                @if context.may(Permission::Requests) {
                    section.card.decisions { h2 { (CommonText::of(lang).actions) } (self.approve(context)) (self.refuse(context)) }
                } @else { p.muted.after { (text.support_only) } }
            }
        }
    }
}
