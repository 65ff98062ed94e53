//! What a scope means to a person. Scopes that we have no words for are shown by their names.

use maud::{Markup, html};
use ui::{DisplayName, Icon, Lang};

use super::words::{Said, words};

const OFFLINE_ACCESS: &str = "offline_access";

/// Each with its sign and one sentence.
pub(super) fn list(lang: Lang, scopes: &[&str]) -> Markup {
    html! {
        ul.scopes {
            @for scope in scopes {
                @let (icon, said) = meaning(lang, scope);
                li {
                    (icon)
                    div {
                        @match said {
                            Some(said) => { p { (said.title) } p { (said.text) } },
                            None => p { (DisplayName(scope)) },
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
        ul.scope-names {
            @for scope in scopes {
                @let (icon, said) = meaning(lang, scope);
                li {
                    (icon)
                    @match said {
                        Some(_) if *scope == OFFLINE_ACCESS => span { (words.offline_access_alone) },
                        Some(said) => span { (said.title) },
                        None => span { (DisplayName(scope)) },
                    }
                }
            }
        }
    }
}

fn meaning(lang: Lang, scope: &str) -> (Icon, Option<Said>) {
    let words = &words(lang).scopes;
    match scope {
        "openid" => (Icon::Person, Some(words.openid)),
        OFFLINE_ACCESS => (Icon::Clock, Some(words.offline_access)),
        "profile" => (Icon::Card, Some(words.profile)),
        "email" => (Icon::Envelope, Some(words.email)),
        "IDInfo" => (Icon::Card, Some(words.id_info)),
        "SVC.ES.NEWPOL.COR.API" => (Icon::Building, Some(words.master_data)),
        "SVC.ES.NEWPOL.ACC.API" => (Icon::Book, Some(words.accounting)),
        "SVC.ES.NEWPOL.MNG.API" => (Icon::Sliders, Some(words.management)),
        "SVC.ES.EquipoContex" => (Icon::People, Some(words.payroll)),
        "SVC.ES.Webhooks" => (Icon::Bell, Some(words.webhooks)),
        _ => (Icon::Key, None),
    }
}
