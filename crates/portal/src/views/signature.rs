//! The signature debugger.

use maud::{Markup, html};
use pages::View;
use serde::Serialize;
use ui::{Button, Field, Icon, Lang, Severity, button, field, notice};

use crate::context::Context;
use crate::shell::Section;
use crate::signature::SignatureDiagnosis;
use crate::text::signature::{SignatureText, reason};

#[derive(Default, Serialize)]
pub(crate) struct SignaturePage {
    /// As it was typed; a program need not be told what it sent.
    #[serde(skip)]
    pub(crate) input: SignatureInput,
    pub(crate) diagnosis: Option<SignatureDiagnosis>,
}

#[derive(Default)]
pub(crate) struct SignatureInput {
    pub(crate) body: String,
    pub(crate) secret: String,
    pub(crate) signature: String,
    pub(crate) id: String,
    pub(crate) timestamp: String,
}

impl View<Context> for SignaturePage {
    fn section(&self) -> Section {
        Section::Signature
    }

    fn title(&self, lang: Lang) -> &'static str {
        SignatureText::of(lang).title
    }

    fn content(&self, context: &Context) -> Markup {
        let text = SignatureText::of(context.lang());
        html! {
            h1 { (text.title) }
            p.lead { (text.lead) }
            @if let Some(diagnosis) = &self.diagnosis { (verdict(context.lang(), diagnosis)) }
            section.card { (self.form(context)) }
        }
    }
}

impl SignaturePage {
    fn form(&self, context: &Context) -> Markup {
        let text = SignatureText::of(context.lang());
        let typed =
            |name, label, value| field(&Field { name, label, value: Some(value), ..Field::default() });
        html! {
            form.stack method="post" action=(context.here(&[], [])) {
                (context.form_token())
                div.field {
                    label for="body" { (text.body) }
                    textarea.code #body name="body" rows="8" spellcheck="false" { "\n" (self.input.body) }
                }
                div.field {
                    label for="secret" { (text.secret) }
                    input #secret name="secret" type="password" autocomplete="off" value=(self.input.secret) required;
                }
                div.field {
                    label for="signature" { (text.signature) }
                    input #signature name="signature" value=(self.input.signature) spellcheck="false" aria-describedby="signature-hint" required;
                    span.hint #signature-hint { (text.signature_hint) }
                }
                fieldset.stack {
                    legend { (text.standard) }
                    (typed("id", text.id, self.input.id.as_str()))
                    (typed("timestamp", text.timestamp, self.input.timestamp.as_str()))
                }
                (button(&Button { label: text.check, ..Button::default() }))
            }
        }
    }
}

fn verdict(lang: Lang, diagnosis: &SignatureDiagnosis) -> Markup {
    let text = SignatureText::of(lang);
    if diagnosis.reasons.is_empty() {
        let explanation = html! { (text.matches_text) };
        return notice(Severity::Success, "verdict", &html! { (text.matches) }, Some(&explanation));
    }
    html! {
        div class="notice error" role="alert" id="verdict" {
            (Icon::Alert)
            div {
                p.notice-title { (text.differs) }
                ul { @for one in &diagnosis.reasons { li { p { (reason(lang, one.code, &one.message)) } } } }
            }
        }
    }
}
