//! The first steps of an installation: what is done, and how to do the rest.

use maud::{Markup, html};
use operator::admin::{SetupStep, SetupStepKind};
use pages::View;
use serde::Serialize;
use ui::app::{State, copy_block, parts_code, state};
use ui::{Icon, Lang, safe_href, timestamp};

use super::text::SetupText;
use crate::context::Context;
use crate::shell::Section;
use crate::text::CommonText;

#[derive(Debug, Serialize)]
pub(crate) struct SetupPage {
    pub(crate) steps: Vec<SetupStep>,
}

/// The words of a step, the lines to copy and the page that does it, where there is one.
struct Help {
    title: &'static str,
    explanation: &'static str,
    lines: Option<&'static str>,
    page: Option<(&'static str, &'static str)>,
}

fn help(lang: Lang, kind: SetupStepKind) -> Help {
    let text = SetupText::of(lang);
    match kind {
        SetupStepKind::PublicAddress => Help {
            title: text.address,
            explanation: text.address_text,
            lines: Some(
                "[server]\nbase_url = \"https://api.example.com\"\nauth_url = \"https://api.example.com\"",
            ),
            page: Some(("configuration", text.see_configuration)),
        },
        SetupStepKind::Tls => Help {
            title: text.tls,
            explanation: text.tls_text,
            lines: Some(
                "[server]\ntls_certificates = \"/etc/aldaba/chain.pem\"\ntls_key = \"/etc/aldaba/key.pem\"",
            ),
            page: Some(("doctor", text.see_doctor)),
        },
        SetupStepKind::Mail => Help {
            title: text.mail,
            explanation: text.mail_text,
            lines: Some("[mail]\nserver = \"smtp.example.com:587\"\nfrom = \"no-reply@example.com\""),
            page: Some(("configuration", text.see_configuration)),
        },
        SetupStepKind::Backup => Help {
            title: text.backup,
            explanation: text.backup_text,
            lines: Some("aldaba store backup"),
            page: Some(("backups", text.see_backups)),
        },
        SetupStepKind::Tenant => Help {
            title: text.tenant,
            explanation: text.tenant_text,
            lines: Some("aldaba tenant add \"Acme\""),
            page: Some(("tenants", text.see_tenants)),
        },
        SetupStepKind::Client => Help {
            title: text.client,
            explanation: text.client_text,
            lines: Some("aldaba client add \"Panel\" --redirect-uri https://app.example.com/callback"),
            page: Some(("clients", text.see_clients)),
        },
    }
}

impl View<Context> for SetupPage {
    fn section(&self) -> Section {
        Section::Overview
    }

    fn title(&self, lang: Lang) -> &'static str {
        SetupText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = SetupText::of(lang);
        let live = context.here(&[], [("format", "events")]);
        let is_complete = self.steps.iter().all(|step| step.is_done);
        html! {
            div.title-row { h1 { (text.title) } span.live hidden { (CommonText::of(lang).live) } }
            p.lead { (text.lead) }
            section.card #steps data-live=(live) data-live-part {
                h2 { (text.checklist) }
                @if is_complete { p { (state(State::Ok, text.all_done)) } }
                ol.checklist { @for (number, step) in (1..).zip(&self.steps) { (step_markup(context, step, number)) } }
            }
            p.after { a href=(safe_href(&context.console_path(""))) { (text.to_overview) } }
        }
    }
}

fn step_markup(context: &Context, step: &SetupStep, number: u32) -> Markup {
    let lang = context.lang();
    let text = SetupText::of(lang);
    let help = help(lang, step.kind);
    let word = if step.is_done { text.done } else { text.open };
    html! {
        li .done[step.is_done] {
            span.tick { @if step.is_done { (Icon::Check) } @else { (number) } span.visually-hidden { (word) } }
            h3 { (help.title) }
            @if step.is_done {
                @if let Some(value) = &step.value { div.body { p.muted { (parts_code(value)) } } }
                @if let Some(at) = step.at { div.body { p.muted { (text.last_backup) " " (timestamp(lang, at)) } } }
            } @else {
                div.body {
                    p.muted { (help.explanation) }
                    @if let Some(lines) = help.lines { (copy_block(lang, &format!("step-{number}"), lines)) }
                    @if let Some((page, label)) = help.page {
                        div.actions { a class="button secondary" href=(safe_href(&context.console_path(page))) { (label) } }
                    }
                }
            }
        }
    }
}
