//! What is shown once: the secret of a client, the keys of a subscription, a token.

use domain::{Secret, Ticks};
use maud::{Markup, html};
use pages::View;
use serde::{Serialize, Serializer};
use ui::app::copy_block;
use ui::{DisplayName, Lang, safe_href, timestamp};

use crate::applications::text::area::AreaText;
use crate::context::Context;
use crate::shell::Section;

type Word = fn(Lang) -> &'static str;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretsPage {
    #[serde(skip)]
    pub(crate) section: Section,
    #[serde(skip)]
    pub(crate) title: Word,
    /// The page of what the secrets belong to.
    #[serde(skip)]
    pub(crate) back: String,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) secrets: Vec<ShownSecret>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "iso")]
    pub(crate) old_valid_until: Option<Ticks>,
}

#[derive(Serialize)]
pub(crate) struct ShownSecret {
    name: &'static str,
    value: String,
    #[serde(skip)]
    label: Word,
}

#[allow(clippy::ref_option, reason = "the signature is that of serde")]
fn iso<S: Serializer>(at: &Option<Ticks>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Ticks::iso).serialize(serializer)
}

impl ShownSecret {
    pub(crate) fn new(name: &'static str, label: Word, secret: &Secret) -> Self {
        Self { name, value: secret.reveal().to_owned(), label }
    }
}

impl View<Context> for SecretsPage {
    fn section(&self) -> Section {
        self.section
    }

    fn title(&self, lang: Lang) -> &'static str {
        (self.title)(lang)
    }

    fn content(&self, context: &Context) -> Markup {
        let lang = context.lang();
        let text = AreaText::of(lang);
        html! {
            h1 { ((self.title)(lang)) }
            p.lead { (DisplayName(&self.name)) " · " code { (self.id) } }
            section.card.secret-once role="status" {
                p { (text.shown_once) }
                @for secret in &self.secrets {
                    h2 { ((secret.label)(lang)) }
                    (copy_block(lang, secret.name, &secret.value))
                }
                @if let Some(until) = self.old_valid_until { p { (text.old_until) " " (timestamp(lang, until)) "." } }
            }
            p.after { a.button href=(safe_href(&self.back)) { (text.go_on) } }
        }
    }
}
