//! One event of the catalogue.

use maud::{Markup, html};
use pages::{Csv, View};
use serde::Serialize;
use ui::app::{Column, Table, copy_block, empty_state, parts_code, prose, table};
use ui::{Button, Field, Lang, button, field, hidden_field, plain_name, safe_href};

use super::sandbox::SandboxState;
use crate::catalogue::{Event, Member};
use crate::context::Context;
use crate::shell::Section;
use crate::text::common::CommonText;
use crate::text::events::{EventText, EventsText};
use crate::text::sandbox::{ReceiverText, SandboxText};

#[derive(Serialize)]
pub(crate) struct EventPage {
    #[serde(flatten)]
    pub(crate) event: &'static Event,
    /// The active webhooks of the team that subscribe to it.
    pub(crate) webhooks: Vec<SubscribedWebhook>,
    #[serde(rename = "hasMoreWebhooks")]
    pub(crate) has_more_webhooks: bool,
    /// Where the event can be made to happen.
    pub(crate) sandbox: SandboxState,
}

#[derive(Serialize)]
pub(crate) struct SubscribedWebhook {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) tenant: String,
}

/// What a program learns about a test event.
#[derive(Serialize)]
pub(crate) struct SentTestEvent {
    pub(crate) webhook: String,
    pub(crate) event: String,
    /// Numbers the replays and test events of the webhook.
    pub(crate) replay: i64,
}

impl View<Context> for EventPage {
    fn section(&self) -> Section {
        Section::Events
    }

    fn title(&self, lang: Lang) -> &'static str {
        EventText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = EventText::of(lang);
        html! {
            (self.crumbs(context))
            h1 { (parts_code(&self.event.name)) }
            section.card {
                h2 { (text.when) }
                p lang="en" { (prose(&self.event.description)) }
                h3 { (text.answer) }
                p lang="en" { (prose(&self.event.answer)) }
                @if !text.english.is_empty() { p.small.muted { (text.english) } }
            }
            h2.after { (text.body) }
            (members(context, text.body, text.member, &self.event.members, true))
            (self.examples(context))
            (self.signature(context))
            (self.subscribe(context))
            @if self.event.subscription.is_some() { (self.make(context)) (self.send(context)) }
        }
    }

    fn csv(&self, _context: &Context) -> Option<Csv> {
        let row = |member: &Member| {
            vec![
                format!("{}{}", "  ".repeat(member.depth), member.name),
                member.kind.clone(),
                member.is_required.to_string(),
                member.value.clone().unwrap_or_default(),
                member.description.clone(),
            ]
        };
        Some(Csv {
            name: "event",
            columns: vec!["member", "type", "required", "value", "meaning"],
            rows: self.event.members.iter().map(row).collect(),
        })
    }
}

impl EventPage {
    fn crumbs(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (title, area) = (EventsText::of(lang).title, self.event.area.as_str());
        let of_area = context.team_path(&format!("events?area={area}"));
        html! {
            p.crumbs {
                a href=(safe_href(&context.team_path("events"))) { (title) } " › "
                a href=(safe_href(&of_area)) { (EventsText::area_name(lang, area)) } " › " (self.event.resource)
            }
        }
    }

    fn examples(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = EventText::of(lang);
        html! {
            section.card {
                h2 { (text.example) }
                (copy_block(lang, "example", &self.event.example))
                @if let Some(inner) = &self.event.inner_example {
                    p { code { (inner.member) } ": " (text.inner) }
                    (copy_block(lang, "inner-example", &inner.text))
                }
            }
        }
    }

    fn signature(&self, context: &Context) -> Markup {
        let text = EventText::of(context.lang());
        html! {
            h2.after { (text.headers) }
            (members(context, text.headers, text.header, &self.event.headers, false))
            section.card {
                h2 { (text.signature) }
                p { (text.signature_is) " " code { (self.event.signature_header()) } ". " (text.signature_how) }
                p { a href=(safe_href(&context.team_path("signature"))) { (text.debugger) } }
            }
        }
    }

    /// Makes the event happen in the sandbox.
    fn make(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let (sandbox, text) = (SandboxText::of(lang), ReceiverText::of(lang));
        if self.sandbox == SandboxState::Closed {
            return html! {};
        }
        html! {
            section.card #make {
                h2 { (text.make) }
                p.muted { (text.make_text) }
                @if self.sandbox == SandboxState::Ready {
                    form.stack method="post" action=(context.team_path("sandbox/receiver")) {
                        (context.form_token()) (hidden_field("event", &self.event.id))
                        (button(&Button { label: text.make_button, name_and_value: Some(("do", "make")), ..Button::default() }))
                    }
                } @else {
                    p { a class="button secondary" href=(safe_href(&context.team_path("sandbox"))) { (sandbox.make_first) } }
                }
            }
        }
    }

    fn send(&self, context: &Context) -> Markup {
        let text = EventText::of(context.lang());
        if self.webhooks.is_empty() {
            return html! { h2.after { (text.send) } (empty_state(text.no_webhook, text.no_webhook_text, None)) };
        }
        html! {
            section.card {
                h2 { (text.send) }
                p.muted { (text.send_text) }
                form.stack method="post" action=(context.here(&[], [])) {
                    (context.form_token())
                    div.field {
                        label for="webhook" { (text.webhook) }
                        select #webhook name="webhook" {
                            @for one in &self.webhooks {
                                option value=(one.id) { (plain_name(&one.name)) " · " (one.url) " · " (one.tenant) }
                            }
                        }
                    }
                    @if self.has_more_webhooks {
                        (field(&Field { name: "other", label: text.or_id, ..Field::default() }))
                        p.small.muted { (text.or_id_hint) }
                    }
                    (button(&Button { label: text.send_button, name_and_value: Some(("do", "send")), ..Button::default() }))
                }
            }
        }
    }

    fn subscribe(&self, context: &Context) -> Markup {
        let text = EventText::of(context.lang());
        html! {
            section.card {
                h2 { (text.subscribe) }
                @match &self.event.subscription {
                    Some(call) => {
                        p.muted { (text.subscribe_text) }
                        (copy_block(context.lang(), "subscribe", &call.curl(&context.portal.settings.base_url)))
                    },
                    None => p { (text.not_subscribable) },
                }
            }
        }
    }
}

/// Members of a body, or headers, as a table.
fn members(
    context: &Context,
    caption: &str,
    name: &'static str,
    members: &[Member],
    is_body: bool,
) -> Markup {
    let lang = context.lang();
    let (text, common) = (EventText::of(lang), CommonText::of(lang));
    let columns = [
        Column::text(name),
        Column::text(text.kind),
        Column::text(text.required),
        Column::text(text.meaning),
    ];
    let mut parents: Vec<&str> = Vec::new();
    let rows = members.iter().map(|member| {
        parents.truncate(member.depth);
        let parent = parents.last().copied();
        parents.push(&member.name);
        let cells = vec![
            html! {
                span class={ "whole depth-" (member.depth) } {
                    code { (member.name) }
                    @if let Some(parent) = parent { span.visually-hidden { " " (text.inside) " " (parent) } }
                }
            },
            html! { span.whole { (member.kind) } },
            html! { @if member.is_required { (common.yes) } @else { (common.no) } },
            html! {
                span lang="en" { (prose(&member.description)) }
                @if let Some(value) = &member.value { span.sub { (text.always) ": " code { (value) } } }
            },
        ];
        let key = parents.join(".");
        (key, cells)
    });
    let csv = is_body.then(|| context.here(&[], [("format", "csv")]));
    table(lang, &Table { caption, columns: &columns, rows: rows.collect(), csv, ..Table::default() })
}
