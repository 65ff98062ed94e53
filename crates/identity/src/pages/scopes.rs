//! Explains scopes to users. Scopes without a text are shown by their names.

use maud::{Markup, html};
use ui::{DisplayName, Icon, Lang};

use super::i18n::{Message, messages};

const OFFLINE_ACCESS: &str = "offline_access";

/// Each scope with icon, title and explanation.
pub(super) fn list(lang: Lang, scopes: &[&str]) -> Markup {
    html! {
        ul.scopes {
            @for scope in scopes {
                @let (icon, message) = meaning(lang, scope);
                li {
                    (icon)
                    div {
                        @match message {
                            Some(message) => { p { (message.title) } p { (message.text) } },
                            None => p { (DisplayName(scope)) },
                        }
                    }
                }
            }
        }
    }
}

/// Each scope with icon and title only.
pub(super) fn names(lang: Lang, scopes: &[&str]) -> Markup {
    let messages = &messages(lang).scopes;
    html! {
        ul.scope-names {
            @for scope in scopes {
                @let (icon, message) = meaning(lang, scope);
                li {
                    (icon)
                    @match message {
                        Some(_) if *scope == OFFLINE_ACCESS => span { (messages.offline_access_short) },
                        Some(message) => span { (message.title) },
                        None => span { (DisplayName(scope)) },
                    }
                }
            }
        }
    }
}

fn meaning(lang: Lang, scope: &str) -> (Icon, Option<Message>) {
    let messages = &messages(lang).scopes;
    match scope {
        "openid" => (Icon::Person, Some(messages.openid)),
        OFFLINE_ACCESS => (Icon::Clock, Some(messages.offline_access)),
        "profile" => (Icon::Card, Some(messages.profile)),
        "email" => (Icon::Envelope, Some(messages.email)),
        "IDInfo" => (Icon::Card, Some(messages.id_info)),
        "SVC.ES.NEWPOL.COR.API" => (Icon::Building, Some(messages.master_data)),
        "SVC.ES.NEWPOL.ACC.API" => (Icon::Book, Some(messages.accounting)),
        "SVC.ES.NEWPOL.MNG.API" => (Icon::Sliders, Some(messages.management)),
        "SVC.ES.EquipoContex" => (Icon::People, Some(messages.payroll)),
        "SVC.ES.Webhooks" => (Icon::Bell, Some(messages.webhooks)),
        _ => (Icon::Key, None),
    }
}
