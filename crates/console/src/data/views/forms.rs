//! The forms of edits by hand. Each says what will happen and asks for a reason.

use maud::{Markup, html};
use operator::admin::{EDIT_REASON_CHARS_MAX, RecordJson, RecordName, RecordStatus};
use pages::webhooks::request_text::pretty;
use ui::{DisplayName, hidden_field};

use crate::context::Context;
use crate::data::text::EditText;
use crate::text::CommonText;

/// Larger records are edited through the ingest API: a form may have 256 KiB in a field.
const EDITABLE_BYTES_MAX: usize = 100 * 1024;

pub(super) fn edits(context: &Context, name: &RecordName, record: &RecordJson) -> Markup {
    let text = EditText::of(context.lang());
    let resource = name.collection.resource;
    let is_stored = record.status == RecordStatus::Stored;
    let is_disabled = record.state.as_deref() == Some("Disabled");
    html! {
        section.card #edit {
            h2 { (text.title) }
            p.muted { (text.lead) }
            (upsert(context, record, is_stored))
            @if is_stored && resource.has_state() {
                @if is_disabled { (simple(context, record, "enable", text.enable, text.enable_text)) }
                @else { (simple(context, record, "disable", text.disable, text.disable_text)) }
            }
            @if is_stored && resource.can_be_deleted() { (delete(context, record, resource == domain::Resource::companies())) }
        }
    }
}

/// What every form has: the token, the version that was read, the reason, and the button.
fn form(context: &Context, record: &RecordJson, action: &'static str, label: &str, inner: &Markup) -> Markup {
    let lang = context.lang();
    let (text, common) = (EditText::of(lang), CommonText::of(lang));
    let is_dangerous = action == "delete";
    let class = if is_dangerous { "button destructive" } else { "button" };
    let values = context.values(action);
    let (id, hint) = (format!("{action}-reason"), format!("{action}-reason-hint"));
    html! {
        details.more .danger[is_dangerous] id={ "do-" (action) } open[values.is_refused()] {
            summary { (label) }
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token()) (hidden_field("sequence", values.text("sequence", &record.sequence_version)))
                (inner)
                div.field {
                    label for=(id) { (text.reason) }
                    input id=(id) name="reason" type="text" required maxlength=(EDIT_REASON_CHARS_MAX) value=(values.text("reason", "")) autocomplete="off" aria-describedby=(hint);
                    span.hint id=(hint) { (text.reason_hint) }
                }
                @if !context.visitor.is_fresh { p.muted { (common.fresh_needed) } }
                button type="submit" class=(class) name="do" value=(action) { (label) }
            }
        }
    }
}

fn upsert(context: &Context, record: &RecordJson, is_stored: bool) -> Markup {
    let text = EditText::of(context.lang());
    let editable = record.editable_data().unwrap_or_default();
    if editable.len() > EDITABLE_BYTES_MAX {
        return html! { p { (text.too_large) } };
    }
    let stored = if editable.is_empty() { String::new() } else { pretty(&editable) };
    let (label, explanation) =
        if is_stored { (text.upsert, text.upsert_text) } else { (text.restore, text.restore_text) };
    let inner = html! {
        p { (explanation) " " code { (DisplayName(&record.id)) } "." }
        div.field {
            label for="data" { (text.data) }
            textarea.code #data name="data" rows="16" required spellcheck="false" autocapitalize="none" autocomplete="off" aria-describedby="data-hint" { (context.values("upsert").text("data", &stored)) }
            span.hint #data-hint { (text.data_hint) }
        }
    };
    form(context, record, "upsert", label, &inner)
}

fn simple(
    context: &Context,
    record: &RecordJson,
    action: &'static str,
    label: &str,
    explanation: &str,
) -> Markup {
    let inner = html! { p { (explanation) " " code { (DisplayName(&record.id)) } "." } };
    form(context, record, action, label, &inner)
}

fn delete(context: &Context, record: &RecordJson, is_company: bool) -> Markup {
    let text = EditText::of(context.lang());
    let explanation = if is_company { text.delete_company_text } else { text.delete_text };
    let inner = html! {
        p { (explanation) " " code { (DisplayName(&record.id)) } "." }
        div.field {
            label for="confirm" { (text.confirm) }
            input #confirm name="confirm" type="text" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="confirm-hint";
            span.hint #confirm-hint { code { (DisplayName(&record.id)) } }
        }
    };
    form(context, record, "delete", text.delete, &inner)
}
