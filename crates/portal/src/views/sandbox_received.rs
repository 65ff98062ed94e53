//! What the built-in receiver got: the rows of the list, and one request.

use domain::Ticks;
use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use store::ReceivedRequest;
use ui::app::{Column, State, Table, copy_block, fact_lines, parts_code, state, table, tabs};
use ui::{Lang, safe_href, timestamp};

use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::sandbox::{ReceiverText, SandboxText};
use pages::webhooks::request_text;

/// What the receiver made of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum SignatureVerdict {
    Verified,
    Wrong,
    /// There is none to verify.
    Unsigned,
}

impl SignatureVerdict {
    fn of(request: &ReceivedRequest) -> Self {
        match (request.problem.is_empty(), request.verified.is_empty()) {
            (false, _) => Self::Wrong,
            (true, false) => Self::Verified,
            (true, true) => Self::Unsigned,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Wrong => "wrong",
            Self::Unsigned => "unsigned",
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceivedRow {
    pub(crate) number: u64,
    time: String,
    #[serde(skip)]
    at: Ticks,
    event: String,
    webhook: Option<String>,
    signature: SignatureVerdict,
    /// The headers whose signatures were verified.
    verified: Vec<String>,
    problem: String,
    /// None: the receiver let the attempt time out.
    status: Option<u16>,
}

impl ReceivedRow {
    pub(crate) fn new(request: &ReceivedRequest) -> Self {
        Self {
            number: request.number,
            time: request.at.iso(),
            at: request.at,
            event: request.event.clone(),
            webhook: request.webhook.map(|id| id.to_string()),
            signature: SignatureVerdict::of(request),
            verified: request.verified.clone(),
            problem: request.problem.clone(),
            status: request.status,
        }
    }

    fn signature(&self, lang: Lang) -> Markup {
        let text = ReceiverText::of(lang);
        html! {
            @match self.signature {
                SignatureVerdict::Verified => (state(State::Ok, text.verified)),
                SignatureVerdict::Wrong => { (state(State::Bad, text.wrong)) " " span.sub lang="en" { (self.problem) } },
                SignatureVerdict::Unsigned => (state(State::Off, text.unsigned)),
            }
        }
    }

    fn answer(&self, lang: Lang) -> Markup {
        html! {
            @match self.status {
                Some(status) => span class={ "status-" (status / 100) } { (status) },
                None => span.status-bad { (ReceiverText::of(lang).hung) },
            }
        }
    }

    pub(super) fn cells(&self, context: &Context) -> Vec<Markup> {
        let lang = context.lang();
        let href = context.team_path(&format!("sandbox/received/{}", self.number));
        vec![
            timestamp(lang, self.at),
            html! { a href=(safe_href(&href)) { (parts_code(&self.event)) } span.sub { "#" (self.number) } },
            self.signature(lang),
            self.answer(lang),
        ]
    }

    pub(super) fn csv(rows: &[Self]) -> Csv {
        let row = |one: &Self| {
            vec![
                one.number.to_string(),
                one.time.clone(),
                one.event.clone(),
                one.webhook.clone().unwrap_or_default(),
                one.signature.as_str().to_owned(),
                one.problem.clone(),
                one.status.map(|status| status.to_string()).unwrap_or_default(),
            ]
        };
        Csv {
            name: "received",
            columns: vec!["number", "time", "event", "webhook", "signature", "problem", "status"],
            rows: rows.iter().map(row).collect(),
        }
    }
}

/// One request that the built-in receiver got.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceivedPage {
    #[serde(flatten)]
    row: ReceivedRow,
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl ReceivedPage {
    pub(crate) fn new(request: ReceivedRequest) -> Self {
        Self {
            row: ReceivedRow::new(&request),
            method: request.method,
            target: request.target,
            headers: request.headers,
            body: request.body,
        }
    }

    fn facts(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (text, common) = (ReceiverText::of(lang), CommonText::of(lang));
        let webhook = html! {
            @if let Some(id) = &self.row.webhook {
                @let page = context.team_path(&format!("webhooks/{id}"));
                a href=(safe_href(&page)) { code { (id) } } " · "
                a href=(safe_href(&format!("{page}/deliveries"))) { (text.deliveries) }
            }
        };
        let signature = html! {
            (self.row.signature(lang))
            @for header in &self.row.verified { " " code { (header) } }
            @if self.row.signature == SignatureVerdict::Unsigned { " " span.muted { (text.unsigned_text) } }
        };
        fact_lines(&[
            (common.time, timestamp(lang, self.row.at)),
            (text.event, parts_code(&self.row.event)),
            (text.signature, signature),
            (text.answered, self.row.answer(lang)),
            (text.method, html! { code { (self.method) " " (self.target) } }),
            (text.webhook, webhook),
        ])
    }

    fn body(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReceiverText::of(lang);
        let is_raw = context.query.get("body") == Some("raw");
        let views = [
            (text.pretty, context.here(&["body"], []), !is_raw),
            (text.raw, context.here(&["body"], [("body", "raw")]), is_raw),
        ];
        html! {
            section.card #body {
                h2 { (text.body) }
                @if self.body.is_empty() { p.muted { (text.no_body) } }
                @else {
                    (tabs(text.body, &views))
                    @if is_raw { (copy_block(lang, "body-text", &self.body)) }
                    @else { (copy_block(lang, "body-text", &request_text::pretty(&self.body))) }
                    p { a href=(safe_href(&context.team_path("signature"))) { (text.debugger) } }
                }
            }
        }
    }

    fn headers(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = ReceiverText::of(lang);
        let columns = [Column::text(text.header), Column::text(text.value)];
        let cells = |(index, (name, value)): (usize, &(String, String))| {
            (format!("{index}"), vec![html! { code { (name) } }, html! { code { (value) } }])
        };
        html! {
            h2.after { (text.headers) }
            (table(lang, &Table {
                caption: text.headers,
                columns: &columns,
                rows: self.headers.iter().enumerate().map(cells).collect(),
                csv: Some(context.here(&[], [("format", "csv")])),
                ..Table::default()
            }))
        }
    }
}

impl View<Context> for ReceivedPage {
    fn section(&self) -> Section {
        Section::Sandbox
    }

    fn title(&self, lang: Lang) -> &'static str {
        ReceiverText::of(lang).one
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (sandbox, text) = (SandboxText::of(lang), ReceiverText::of(lang));
        html! {
            p.crumbs {
                a href=(safe_href(&context.team_path("sandbox"))) { (sandbox.title) } " › "
                a href=(safe_href(&context.team_path("sandbox/receiver"))) { (sandbox.tab_receiver) }
            }
            h1 { (text.one) " #" (self.row.number) }
            section.card { (self.facts(context)) }
            (self.body(context))
            (self.headers(context))
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let rows = self.headers.iter().map(|(name, value)| vec![name.clone(), value.clone()]);
        Some(Csv { name: "headers", columns: vec!["header", "value"], rows: rows.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_verified_wrong_or_absent() {
        let verdict = |verified: &[&str], problem: &str| {
            SignatureVerdict::of(&ReceivedRequest {
                number: 1,
                at: Ticks(0),
                webhook: None,
                event: "echo".into(),
                method: "GET".into(),
                target: "/".into(),
                headers: Vec::new(),
                body: String::new(),
                verified: verified.iter().map(|name| (*name).to_owned()).collect(),
                problem: problem.into(),
                status: Some(200),
            })
        };
        assert_eq!(verdict(&["webhook-signature"], ""), SignatureVerdict::Verified);
        assert_eq!(verdict(&[], "the delivery has no signature"), SignatureVerdict::Wrong);
        assert_eq!(verdict(&[], ""), SignatureVerdict::Unsigned);
    }
}
