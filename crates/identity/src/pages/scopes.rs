//! Explains scopes to users, in the same words before and after they allow them. Scopes without a text are shown by their names.

use maud::{Markup, html};
use ui::{DisplayName, Icon, Lang};

use super::i18n::{Message, messages};

/// What the scopes let an application do: the organisation's data first, in the order of this crate's texts, and what the
/// application learns about the person in one line at the end.
pub(super) fn list(lang: Lang, scopes: &[&str]) -> Markup {
    let mut data: Vec<&str> = scopes.iter().copied().filter(|scope| !is_identity(scope)).collect();
    data.sort_by_key(|scope| rank(scope));
    html! {
        ul.scopes {
            @for scope in data {
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
            @if let Some(text) = identity(lang, scopes) { li.identity { (Icon::Person) p { (text) } } }
        }
    }
}

/// Whether a scope is about more than the person who signs in.
pub(super) fn has_data(scopes: &[&str]) -> bool {
    scopes.iter().any(|scope| !is_identity(scope))
}

fn is_identity(scope: &str) -> bool {
    matches!(scope, "openid" | "profile" | "email" | "IDInfo")
}

/// What the application learns about the person, if anything.
fn identity(lang: Lang, scopes: &[&str]) -> Option<&'static str> {
    let has = |wanted: &[&str]| scopes.iter().any(|scope| wanted.contains(scope));
    let text = (messages(lang).scopes.identity)(has(&["profile", "IDInfo"]), has(&["email", "IDInfo"]));
    scopes.iter().any(|scope| is_identity(scope)).then_some(text)
}

/// The position in the list: data, notifications, unknown scopes, and that the access lasts.
fn rank(scope: &str) -> usize {
    const ORDER: [&str; 5] = [
        "SVC.ES.NEWPOL.ACC.API",
        "SVC.ES.NEWPOL.COR.API",
        "SVC.ES.NEWPOL.MNG.API",
        "SVC.ES.EquipoContex",
        "SVC.ES.Webhooks",
    ];
    match scope {
        "offline_access" => ORDER.len() + 1,
        _ => ORDER.iter().position(|known| *known == scope).unwrap_or(ORDER.len()),
    }
}

fn meaning(lang: Lang, scope: &str) -> (Icon, Option<Message>) {
    let messages = &messages(lang).scopes;
    match scope {
        "offline_access" => (Icon::Clock, Some(messages.offline_access)),
        "SVC.ES.NEWPOL.COR.API" => (Icon::Building, Some(messages.master_data)),
        "SVC.ES.NEWPOL.ACC.API" => (Icon::Book, Some(messages.accounting)),
        "SVC.ES.NEWPOL.MNG.API" => (Icon::Sliders, Some(messages.management)),
        "SVC.ES.EquipoContex" => (Icon::People, Some(messages.payroll)),
        "SVC.ES.Webhooks" => (Icon::Bell, Some(messages.webhooks)),
        _ => (Icon::Key, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_scope_has_a_text() {
        let scopes = domain::Scope::ALL.map(domain::Scope::name);
        for lang in Lang::ALL {
            assert!(!list(lang, &scopes).into_string().contains("<bdi>"), "{}", lang.tag());
        }
    }

    #[test]
    fn data_comes_first_and_identity_in_one_line() {
        let asked =
            ["openid", "offline_access", "profile", "new.scope", "SVC.ES.Webhooks", "SVC.ES.NEWPOL.ACC.API"];
        let text = list(Lang::En, &asked).into_string();
        let position = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
        let order = ["See the accounting", "Be notified", "new.scope", "Keep access", "Know who you are"]
            .map(position);
        assert!(order.is_sorted(), "{order:?} {text}");
        assert_eq!(text.matches("<li").count(), 5, "openid and profile are one line");
        assert!(text.contains("your name and your language."), "{text}");
        assert!(!list(Lang::En, &["SVC.ES.Webhooks"]).into_string().contains("who you are"));
    }

    #[test]
    fn identity_names_what_the_application_learns() {
        let learns = |scopes: &[&str]| identity(Lang::Es, scopes).unwrap_or_default();
        assert!(learns(&["openid"]).contains("identificador de tu cuenta"));
        assert!(!learns(&["openid", "email"]).contains("nombre"));
        assert_eq!(learns(&["IDInfo"]), learns(&["openid", "profile", "email"]));
        assert!(!has_data(&["openid", "IDInfo"]) && has_data(&["openid", "offline_access"]));
    }
}
