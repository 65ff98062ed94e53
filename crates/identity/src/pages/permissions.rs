//! The page on which users see which applications have access in their name, and withdraw it.

use domain::Ticks;
use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Lang, Layout, PageWidth, Severity, button, hidden_field, notice, page,
    safe_href, timestamp,
};

use super::{debug_only, i18n::messages, scopes};

#[derive(Clone, Copy)]
pub(crate) struct PermissionsPage<'a> {
    pub lang: Lang,
    pub assets: &'a str,
    pub language_switch: Option<&'a str>,
    pub action: &'a str,
    pub ticket: &'a str,
    pub email: &'a str,
    /// May be empty.
    pub given_name: &'a str,
    pub applications: &'a [PermissionEntry<'a>],
    /// The application whose access has just been withdrawn.
    pub notice: Option<&'a str>,
    pub sign_out: &'a str,
}

debug_only!(PermissionsPage { lang, action, notice });

#[derive(Clone, Copy)]
pub(crate) struct PermissionEntry<'a> {
    pub key: &'a str,
    pub application: &'a str,
    pub tenant: &'a str,
    pub since: Ticks,
    /// `Ticks::default()` if the access was never used.
    pub last_used: Ticks,
    pub scopes: &'a [&'a str],
}

debug_only!(PermissionEntry { application, tenant, since, last_used, scopes });

pub(crate) fn permissions(model: &PermissionsPage<'_>) -> Markup {
    let messages = &messages(model.lang).permissions;
    let PermissionsPage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: messages.title, width: PageWidth::Wide };
    let aside = html! {
        span { (DisplayName(model.email)) }
        a href=(safe_href(model.sign_out)) { (messages.sign_out) }
    };
    let content = html! {
        @if !model.given_name.trim().is_empty() { p.greeting { ((messages.greeting)(DisplayName(model.given_name))) } }
        h1 { (messages.title) }
        @if !model.applications.is_empty() { p.lead { (messages.lead) } }
        @if let Some(name) = model.notice {
            (notice(Severity::Success, "notice", &(messages.revoked)(DisplayName(name)), None))
        }
        @if model.applications.is_empty() {
            div.empty { p { b { (messages.none.title) } (messages.none.text) } }
        } @else {
            ul.access-list { @for access in model.applications { li.access { (entry(model, access)) } } }
        }
    };
    page(&layout, Some(&aside), &content)
}

fn entry(model: &PermissionsPage<'_>, access: &PermissionEntry<'_>) -> Markup {
    let lang = model.lang;
    let messages = &messages(lang).permissions;
    html! {
        h2 { (DisplayName(access.application)) }
        dl.facts {
            div { dt { (messages.tenant) } dd { (DisplayName(access.tenant)) } }
            div { dt { (messages.since) } dd { (timestamp(lang, access.since)) } }
            div {
                dt { (messages.last_used) }
                dd {
                    @if access.last_used == Ticks::default() { (messages.never_used) }
                    @else { (timestamp(lang, access.last_used)) }
                }
            }
        }
        @if !access.scopes.is_empty() { (scopes::names(lang, access.scopes)) }
        (revocation(model, access))
    }
}

/// Needs two clicks, so that one accidental click does not stop a running application.
fn revocation(model: &PermissionsPage<'_>, access: &PermissionEntry<'_>) -> Markup {
    let messages = &messages(model.lang).permissions;
    let name = DisplayName(access.application);
    html! {
        details.revocation {
            summary { (messages.revoke) span.visually-hidden { " " (name) } }
            form method="post" action=(safe_href(model.action)) {
                p { ((messages.revoke_explanation)(name, DisplayName(access.tenant))) }
                (hidden_field("ticket", model.ticket))
                (hidden_field("access", access.key))
                (button(&Button { label: messages.revoke_submit, style: ButtonStyle::Destructive, ..Button::default() }))
            }
        }
    }
}
