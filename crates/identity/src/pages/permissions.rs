//! The page on which users see which applications have access in their name, and withdraw it.

use domain::Ticks;
use maud::{Markup, html};
use ui::{
    Button, ButtonStyle, DisplayName, Lang, Layout, PageWidth, Severity, button, hidden_field,
    minute_timestamp, notice, page_with_script, safe_href,
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
    /// In display order. Those of one application are shown together, where its first one stands.
    pub entries: &'a [PermissionEntry<'a>],
    /// The access that has just been withdrawn.
    pub notice: Option<WithdrawnNotice<'a>>,
    /// URL of the account page.
    pub account: &'a str,
    pub sign_out: &'a str,
}

debug_only!(PermissionsPage { lang, action, notice });

#[derive(Clone, Copy, Debug)]
pub(crate) struct WithdrawnNotice<'a> {
    pub application: &'a str,
    pub tenant: &'a str,
    /// A colleague's authorization keeps its webhooks alive.
    pub webhooks_go_on: bool,
}

/// The access of one application to one tenant.
#[derive(Clone, Copy)]
pub(crate) struct PermissionEntry<'a> {
    pub key: &'a str,
    /// The id of the application; names are not unique.
    pub client: &'a str,
    pub application: &'a str,
    pub tenant: &'a str,
    pub since: Ticks,
    /// `Ticks::default()` if the access was never used.
    pub last_used: Ticks,
    pub scopes: &'a [&'a str],
    /// Whether the user has allowed it.
    pub is_own: bool,
    /// How many other users of the tenant have allowed it.
    pub colleagues: usize,
    /// Whether the user may end it for the whole tenant.
    pub is_admin: bool,
    pub webhooks: &'a [WebhookRow<'a>],
    pub webhooks_left_out: usize,
    /// Some of the webhooks go on without the user's own authorization.
    pub is_kept_by_colleague: bool,
}

debug_only!(PermissionEntry { application, tenant, since, last_used, scopes });

#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookRow<'a> {
    pub resource: &'a str,
    pub host: &'a str,
    pub last_delivered_at: Option<Ticks>,
}

pub(crate) fn permissions(model: &PermissionsPage<'_>) -> Markup {
    let messages = &messages(model.lang).permissions;
    let PermissionsPage { lang, assets, language_switch, .. } = *model;
    let layout = Layout { lang, assets, language_switch, title: messages.title, width: PageWidth::Wide };
    let aside = html! {
        a href=(safe_href(model.account)) { (DisplayName(model.email)) }
        a href=(safe_href(model.sign_out)) { (messages.sign_out) }
    };
    let content = html! {
        @if !model.given_name.trim().is_empty() { p.greeting { ((messages.greeting)(DisplayName(model.given_name))) } }
        h1 { (messages.title) }
        @if !model.entries.is_empty() { p.lead { (messages.lead) } }
        @if let Some(WithdrawnNotice { application, tenant, webhooks_go_on }) = model.notice {
            @let text = if webhooks_go_on { messages.revoked_webhooks_go_on } else { messages.revoked };
            @let text = text(DisplayName(application), DisplayName(tenant));
            (notice(Severity::Success, "notice", &text, None))
        }
        @if model.entries.is_empty() {
            div.empty { p { b { (messages.none.title) } (messages.none.text) } }
        } @else {
            ul.access-list { @for group in by_application(model.entries) { li.application { (application(model, &group)) } } }
        }
    };
    page_with_script(&layout, Some(&aside), &content)
}

/// The entries of each application, in the order of the first ones.
fn by_application<'a>(entries: &'a [PermissionEntry<'a>]) -> Vec<Vec<&'a PermissionEntry<'a>>> {
    let mut groups: Vec<Vec<&PermissionEntry<'_>>> = Vec::new();
    for entry in entries {
        let known = groups.iter_mut().find(|group| group.iter().any(|other| other.client == entry.client));
        match known {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups
}

fn application(model: &PermissionsPage<'_>, group: &[&PermissionEntry<'_>]) -> Markup {
    html! {
        @if let Some(first) = group.first() { h2 { (DisplayName(first.application)) } }
        ul { @for access in group { li.access { (entry(model, access)) } } }
    }
}

fn entry(model: &PermissionsPage<'_>, access: &PermissionEntry<'_>) -> Markup {
    let lang = model.lang;
    let messages = &messages(lang).permissions;
    html! {
        h3 { (DisplayName(access.tenant)) }
        dl.facts {
            div { dt { (messages.since) } dd { (minute_timestamp(lang, access.since)) } }
            div {
                dt { (messages.last_used) }
                dd {
                    @if access.last_used == Ticks::default() { (messages.never_used) }
                    @else { (minute_timestamp(lang, access.last_used)) }
                }
            }
        }
        @if !access.scopes.is_empty() {
            details.permissions {
                summary { (messages.can_do) span.visually-hidden { ": " (DisplayName(access.application)) ", " (DisplayName(access.tenant)) } }
                (scopes::list(lang, access.scopes))
            }
        }
        (webhooks(lang, access))
        @if access.is_admin && access.colleagues > 0 { p.note { ((messages.colleagues)(access.colleagues)) } }
        div.revocations {
            @if access.is_own { (revocation(model, access)) }
            @if access.is_admin { (tenant_revocation(model, access)) }
        }
    }
}

/// The application's webhooks: what they are about, where they go, and when something was last sent.
fn webhooks(lang: Lang, access: &PermissionEntry<'_>) -> Markup {
    let messages = &messages(lang).permissions;
    html! {
        @if !access.webhooks.is_empty() {
            h4 { (messages.webhooks) }
            ul.webhooks {
                @for webhook in access.webhooks {
                    li {
                        span { b { (DisplayName(webhook.resource)) } " → " (DisplayName(webhook.host)) }
                        span.note {
                            @match webhook.last_delivered_at {
                                Some(at) => { (messages.last_delivery) " " (minute_timestamp(lang, at)) },
                                None => (messages.no_delivery),
                            }
                        }
                    }
                }
                @if access.webhooks_left_out > 0 { li { ((messages.more_webhooks)(access.webhooks_left_out)) } }
            }
        }
    }
}

/// Needs two clicks, so that one accidental click does not stop a running application.
fn revocation(model: &PermissionsPage<'_>, access: &PermissionEntry<'_>) -> Markup {
    let messages = &messages(model.lang).permissions;
    let name = DisplayName(access.application);
    html! {
        details.revocation {
            summary { (messages.revoke) span.visually-hidden { ": " (name) ", " (DisplayName(access.tenant)) } }
            form method="post" action=(safe_href(model.action)) {
                p { ((messages.revoke_explanation)(name, DisplayName(access.tenant))) }
                @if !access.webhooks.is_empty() {
                    p { (if access.is_kept_by_colleague { messages.webhooks_go_on } else { messages.webhooks_stop }) }
                }
                (hidden_field("ticket", model.ticket))
                (hidden_field("access", access.key))
                (button(&Button { label: messages.revoke_submit, style: ButtonStyle::Destructive, ..Button::default() }))
            }
        }
    }
}

/// For administrators: ends the access that any user of the tenant has given.
fn tenant_revocation(model: &PermissionsPage<'_>, access: &PermissionEntry<'_>) -> Markup {
    let messages = &messages(model.lang).permissions;
    let name = DisplayName(access.application);
    html! {
        details.revocation {
            summary { (messages.revoke_for_tenant) span.visually-hidden { ": " (name) ", " (DisplayName(access.tenant)) } }
            form method="post" action=(safe_href(model.action)) {
                p { ((messages.revoke_for_tenant_explanation)(name, DisplayName(access.tenant))) }
                (hidden_field("ticket", model.ticket))
                (hidden_field("access", access.key))
                (hidden_field("for", "tenant"))
                (button(&Button { label: messages.revoke_submit, style: ButtonStyle::Destructive, ..Button::default() }))
            }
        }
    }
}
