//! What a scope means to a person. Scopes that we have no words for are shown by their names.

use look::{Glyph, Lang, Name};
use maud::{Markup, html};

use super::words::{Said, words};

const OFFLINE_ACCESS: &str = "offline_access";

/// Each with its sign and one sentence.
pub(super) fn list(lang: Lang, scopes: &[&str]) -> Markup {
    html! {
        ul.scopes {
            @for scope in scopes {
                @let (glyph, said) = meaning(lang, scope);
                li {
                    (glyph)
                    div {
                        @match said {
                            Some(said) => { p { (said.title) } p { (said.text) } },
                            None => p { (Name(scope)) },
                        }
                    }
                }
            }
        }
    }
}

/// Only what they are called, for where there are many.
pub(super) fn brief(lang: Lang, scopes: &[&str]) -> Markup {
    let words = &words(lang).scopes;
    html! {
        ul.brief {
            @for scope in scopes {
                @let (glyph, said) = meaning(lang, scope);
                li {
                    (glyph)
                    @match said {
                        Some(_) if *scope == OFFLINE_ACCESS => span { (words.offline_access_alone) },
                        Some(said) => span { (said.title) },
                        None => span { (Name(scope)) },
                    }
                }
            }
        }
    }
}

fn meaning(lang: Lang, scope: &str) -> (Glyph, Option<Said>) {
    let words = &words(lang).scopes;
    match scope {
        "openid" => (Glyph::Person, Some(words.openid)),
        OFFLINE_ACCESS => (Glyph::Clock, Some(words.offline_access)),
        "profile" => (Glyph::Card, Some(words.profile)),
        "email" => (Glyph::Letter, Some(words.email)),
        "IDInfo" => (Glyph::Card, Some(words.id_info)),
        "SVC.ES.NEWPOL.COR.API" => (Glyph::Building, Some(words.master_data)),
        "SVC.ES.NEWPOL.ACC.API" => (Glyph::Book, Some(words.accounting)),
        "SVC.ES.NEWPOL.MNG.API" => (Glyph::Sliders, Some(words.management)),
        "SVC.ES.EquipoContex" => (Glyph::People, Some(words.payroll)),
        "SVC.ES.Webhooks" => (Glyph::CommitSignal, Some(words.webhooks)),
        _ => (Glyph::Key, None),
    }
}
