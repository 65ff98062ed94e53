//! Where a person sees which applications have access in their name, and takes it back.

use domain::Ticks;
use look::{Button, Emphasis, Lang, Name, Shell, Tone, Width, address, button, hidden, moment, notice, page};
use maud::{Markup, html};

use super::{debug_only, scopes, words::words};

#[derive(Clone, Copy)]
pub(crate) struct Permissions<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// May be empty.
    pub given_name: &'a str,
    pub applications: &'a [Access<'a>],
    /// The application that has just lost its access.
    pub notice: Option<&'a str>,
    pub sign_out: &'a str,
}

debug_only!(Permissions { lang, action, notice });

#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    pub key: &'a str,
    pub application: &'a str,
    pub tenant: &'a str,
    pub since: Ticks,
    /// `Ticks::default()` where it was never used.
    pub last_used: Ticks,
    pub scopes: &'a [&'a str],
}

debug_only!(Access { application, tenant, since, last_used, scopes });

pub(crate) fn permissions(model: &Permissions<'_>) -> Markup {
    let words = &words(model.lang).permissions;
    let Permissions { lang, assets, switch, .. } = *model;
    let shell = Shell { lang, assets, switch, title: words.title, width: Width::Room };
    let aside = html! {
        span { (Name(model.email)) }
        a href=(address(model.sign_out)) { (words.sign_out) }
    };
    let content = html! {
        @if !model.given_name.trim().is_empty() { p.greeting { ((words.greeting)(Name(model.given_name))) } }
        h1 { (words.title) }
        @if !model.applications.is_empty() { p.lead { (words.lead) } }
        @if let Some(name) = model.notice {
            (notice(Tone::Done, "notice", &(words.revoked)(Name(name)), None))
        }
        @if model.applications.is_empty() {
            div.empty { p { b { (words.none.title) } (words.none.text) } }
        } @else {
            ul.accesses { @for access in model.applications { li.access { (entry(model, access)) } } }
        }
    };
    page(&shell, Some(&aside), &content)
}

fn entry(model: &Permissions<'_>, access: &Access<'_>) -> Markup {
    let lang = model.lang;
    let words = &words(lang).permissions;
    html! {
        h2 { (Name(access.application)) }
        dl.facts {
            div { dt { (words.tenant) } dd { (Name(access.tenant)) } }
            div { dt { (words.since) } dd { (moment(lang, access.since)) } }
            div {
                dt { (words.last_used) }
                dd {
                    @if access.last_used == Ticks::default() { (words.never_used) }
                    @else { (moment(lang, access.last_used)) }
                }
            }
        }
        @if !access.scopes.is_empty() { (scopes::brief(lang, access.scopes)) }
        (revocation(model, access))
    }
}

/// Opened first and sent then: one click too many must not stop an application that is at work.
fn revocation(model: &Permissions<'_>, access: &Access<'_>) -> Markup {
    let words = &words(model.lang).permissions;
    let name = Name(access.application);
    html! {
        details.revocation {
            summary { (words.revoke) span.unseen { " " (name) } }
            form method="post" action=(address(model.action)) {
                p { ((words.revoke_means)(name, Name(access.tenant))) }
                (hidden("ticket", model.ticket))
                (hidden("access", access.key))
                (button(&Button { label: words.revoke_submit, emphasis: Emphasis::Grave, ..Button::default() }))
            }
        }
    }
}
