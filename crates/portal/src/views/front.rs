//! The front page: what the service offers, how to begin, and whether it is up.

use maud::{Markup, html};
use ui::app::{State, state};
use ui::{Icon, Lang, safe_href};

use crate::Portal;
use crate::text::common::CommonText;
use crate::text::front::FrontText;

/// The beginning of what the call on the front page returns, with sample data.
const SAMPLE: &str = r#"[
  {
    "vatName": "Cafetería Molina, S.L.",
    "vatNumber": "B75686493",
    "state": "Enabled",
    "correlationId": "2a3b3c72-fb9b-8e45-…",
    "sequenceVersion": "359"
  }
]"#;

fn first_call(base_url: &str) -> String {
    format!(
        "curl {base_url}/accounting/api/companies \\\n  -H 'Ocp-Apim-Subscription-Key: …' \\\n  -H 'Authorization: Bearer …'"
    )
}

pub(crate) struct FrontPage {
    pub(crate) is_up: bool,
    pub(crate) is_signed_in: bool,
}

impl Portal {
    pub(crate) fn front_page(&self, lang: Lang, page: &FrontPage) -> Markup {
        let (text, common) = (FrontText::of(lang), CommonText::of(lang));
        let base = self.base_path();
        let sign_in = format!("{base}/login?lang={}", lang.tag());
        let portal_href = format!("{base}/");
        let docs = self.settings.docs_url.as_deref();
        let register =
            self.settings.is_registration_open.then(|| format!("{base}/register?lang={}", lang.tag()));
        let links = html! {
            @if page.is_signed_in { a href=(safe_href(&portal_href)) { (text.open_portal) } }
            @else { a href=(safe_href(&sign_in)) { (common.sign_in) } }
        };
        let content = html! {
            div.hero {
                div {
                    h1 { (text.headline) }
                    p.lead { (text.lead) }
                    div.actions {
                        @if page.is_signed_in { a.button href=(safe_href(&portal_href)) { (text.open_portal) } }
                        @else {
                            a.button href=(safe_href(&sign_in)) { (common.sign_in) }
                            @if let Some(register) = &register { a class="button secondary" href=(safe_href(register)) { (common.register) } }
                        }
                        @if let Some(docs) = docs { a class="button secondary" href=(safe_href(docs)) { (text.read_reference) } }
                    }
                    @if register.is_none() && !page.is_signed_in { p.small.muted { (text.by_invitation) } }
                }
                pre tabindex="0" role="region" aria-label=(text.sample) { code { (first_call(&self.settings.base_url)) "\n\n" span.answer { (SAMPLE) } } }
            }
            section.card aria-labelledby="begin" {
                h2 #begin { (text.begin) }
                ol.numbered {
                    @for (title, explanation) in text.steps() { li { b { (title) } p { (explanation) } } }
                }
            }
            div.cards {
                @for (icon, title, explanation) in text.offers() {
                    section.card { h2 { (icon) span { (title) } } p.muted { (explanation) } }
                }
            }
            section.card aria-labelledby="links" {
                h2 #links { (text.documents) }
                ul.links {
                    @if let Some(docs) = docs {
                        li { a href=(safe_href(docs)) { (text.api_reference) } " · " span.muted { (text.api_reference_note) } }
                    }
                    li { a href="/openapi.json" { "OpenAPI" } " · " a href="/asyncapi.json" { "AsyncAPI" } " · " span.muted { (text.documents_note) } }
                    li { a href=(safe_href(&format!("{}/.well-known/openid-configuration", self.settings.issuer))) { "OpenID Connect" } " · " span.muted { (text.discovery_note) } }
                    li {
                        (text.status) ": "
                        @if page.is_up { (state(State::Ok, text.up)) } @else { (state(State::Bad, text.down)) }
                    }
                }
            }
        };
        self.plain_page(lang, text.title, "/", &content, &links)
    }
}

impl FrontText {
    fn steps(&self) -> [(&'static str, &'static str); 3] {
        [
            (self.step_key, self.step_key_text),
            (self.step_sign_in, self.step_sign_in_text),
            (self.step_listen, self.step_listen_text),
        ]
    }

    fn offers(&self) -> [(Icon, &'static str, &'static str); 3] {
        [
            (Icon::Person, self.offer_identity, self.offer_identity_text),
            (Icon::Book, self.offer_reads, self.offer_reads_text),
            (Icon::Bell, self.offer_webhooks, self.offer_webhooks_text),
        ]
    }
}
