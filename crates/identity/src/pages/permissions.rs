//! Where a person sees which applications have access in their name, and takes it back.

use domain::Ticks;
use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Lang, Layout, PageWidth, Severity, button, hidden_field, notice, page,
    safe_href, timestamp,
};

use super::{debug_only, scopes, words::words};

#[derive(Clone, Copy)]
pub(crate) struct Permissions<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
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
    let Permissions { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: words.title, width: PageWidth::Wide };
    let aside = html! {
        span { (DisplayName(model.email)) }
        a href=(safe_href(model.sign_out)) { (words.sign_out) }
    };
    let content = html! {
        @if !model.given_name.trim().is_empty() { p.greeting { ((words.greeting)(DisplayName(model.given_name))) } }
        h1 { (words.title) }
        @if !model.applications.is_empty() { p.lead { (words.lead) } }
        @if let Some(name) = model.notice {
            (notice(Severity::Success, "notice", &(words.revoked)(DisplayName(name)), None))
        }
        @if model.applications.is_empty() {
            div.empty { p { b { (words.none.title) } (words.none.text) } }
        } @else {
            ul.access-list { @for access in model.applications { li.access { (entry(model, access)) } } }
        }
    };
    page(&layout, Some(&aside), &content)
}

fn entry(model: &Permissions<'_>, access: &Access<'_>) -> Markup {
    let lang = model.lang;
    let words = &words(lang).permissions;
    html! {
        h2 { (DisplayName(access.application)) }
        dl.facts {
            div { dt { (words.tenant) } dd { (DisplayName(access.tenant)) } }
            div { dt { (words.since) } dd { (timestamp(lang, access.since)) } }
            div {
                dt { (words.last_used) }
                dd {
                    @if access.last_used == Ticks::default() { (words.never_used) }
                    @else { (timestamp(lang, access.last_used)) }
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
    let name = DisplayName(access.application);
    html! {
        details.revocation {
            summary { (words.revoke) span.visually-hidden { " " (name) } }
            form method="post" action=(safe_href(model.action)) {
                p { ((words.revoke_means)(name, DisplayName(access.tenant))) }
                (hidden_field("ticket", model.ticket))
                (hidden_field("access", access.key))
                (button(&Button { label: words.revoke_submit, style: ButtonStyle::Destructive, ..Button::default() }))
            }
        }
    }
}
