//! The texts of the pages: one struct, filled once per language, so that a missing text does not compile. Texts that
//! contain a name are functions, because languages put it in different places.

mod en;
mod es;
mod link;
mod second_factor;

use domain::Realm;
use maud::Markup;
use ui::{DisplayName, Lang};

pub(super) use second_factor::second_factor_text;

pub(super) const fn messages(lang: Lang) -> &'static Messages {
    match lang {
        Lang::Es => &es::MESSAGES,
        Lang::En => &en::MESSAGES,
    }
}

/// A title and the explanation below it.
#[derive(Clone, Copy)]
pub(in crate::pages) struct Message {
    pub title: &'static str,
    pub text: &'static str,
}

pub(in crate::pages) use link::LinkText;

type NameTemplate = fn(DisplayName<'_>) -> Markup;
type DurationTemplate = fn(&str) -> Markup;
type LinkTemplate = fn(&Markup) -> Markup;

pub(in crate::pages) struct Messages {
    pub sign_in: SignInText,
    pub choice: TenantChoiceText,
    pub scopes: ScopesText,
    pub code: CodeText,
    pub form_post: FormPostText,
    pub sign_out: SignOutText,
    pub error: ErrorText,
    pub permissions: PermissionsText,
    pub account: AccountText,
    pub link: LinkText,
}

pub(in crate::pages) struct SignInText {
    pub title: &'static str,
    pub title_with_error: &'static str,
    pub lead: NameTemplate,
    /// What the person signs in to, without an application.
    pub lead_home: fn(Realm) -> &'static str,
    pub username: &'static str,
    pub password: &'static str,
    pub show_password: &'static str,
    pub submit: &'static str,
    pub forgotten: &'static str,
    pub assurance: NameTemplate,
    pub wrong: Message,
    pub empty: Message,
    pub expired: Message,
    pub no_cookies: Message,
    pub busy: &'static str,
    pub busy_wait: DurationTemplate,
    pub too_many: &'static str,
    pub too_many_wait: DurationTemplate,
}

pub(in crate::pages) struct TenantChoiceText {
    pub title: &'static str,
    pub title_with_error: &'static str,
    pub lead: NameTemplate,
    pub consent_title: &'static str,
    /// Where the application asks for data of the organisation, and where it asks for the person's alone.
    pub consent_heading: NameTemplate,
    pub consent_heading_identity: NameTemplate,
    /// Where the browser goes after the answer: a host, an application on this device, or a code to copy.
    pub returns_to: NameTemplate,
    pub returns_to_device: &'static str,
    pub returns_with_code: &'static str,
    pub signed_in_as: NameTemplate,
    pub other_account: &'static str,
    pub allows: &'static str,
    pub legend: &'static str,
    /// With one organisation there is nothing to ask.
    pub legend_of_one: &'static str,
    pub short_code: &'static str,
    pub tax_number: &'static str,
    pub search: &'static str,
    pub search_submit: &'static str,
    pub count: fn(usize, usize) -> String,
    pub count_cut: fn(usize, usize) -> String,
    pub none_found: NameTemplate,
    pub none_found_advice: &'static str,
    pub last_used: &'static str,
    pub continue_label: &'static str,
    pub allow: &'static str,
    pub deny: &'static str,
    /// With the title of the page on which access is withdrawn.
    pub revocable: fn(&str) -> Markup,
    pub nothing_chosen: Message,
    pub not_yours: Message,
}

pub(in crate::pages) struct ScopesText {
    /// What the application learns about the person: with the name, and with the e-mail address.
    pub identity: fn(bool, bool) -> &'static str,
    pub offline_access: Message,
    pub master_data: Message,
    pub accounting: Message,
    pub management: Message,
    pub payroll: Message,
    pub webhooks: Message,
}

pub(in crate::pages) struct CodeText {
    pub title: &'static str,
    pub heading: NameTemplate,
    pub lead: &'static str,
    pub label: &'static str,
    pub state: &'static str,
    pub valid: DurationTemplate,
    pub under_a_minute: &'static str,
}

pub(in crate::pages) struct FormPostText {
    pub title: &'static str,
    pub lead: &'static str,
    pub submit: &'static str,
}

pub(in crate::pages) struct SignOutText {
    pub title: &'static str,
    pub heading: &'static str,
    pub requested_by: NameTemplate,
    pub signed_in_as: NameTemplate,
    pub submit: &'static str,
    pub cancel: &'static str,
    pub done_title: &'static str,
    pub done_text: &'static str,
    pub access_stays: LinkTemplate,
    pub back: NameTemplate,
    pub again: &'static str,
}

pub(in crate::pages) struct ErrorText {
    pub reference: &'static str,
    pub details: &'static str,
    pub retry: &'static str,
    pub home: fn(Realm) -> &'static str,
    pub addresses: RedirectAddressesText,
    pub unknown_client: Message,
    pub not_for_sign_in: Message,
    pub redirect_missing: Message,
    pub redirect_unregistered: Message,
    pub bad_request: Message,
    pub expired: Message,
    pub not_found: Message,
    pub busy: Message,
    pub broken: Message,
}

/// About the addresses of an application whose redirect URI is not registered; `aldaba dev` alone shows them.
pub(in crate::pages) struct RedirectAddressesText {
    pub title: &'static str,
    pub sent: &'static str,
    pub registered: &'static str,
    pub none: &'static str,
    pub register: &'static str,
}

pub(in crate::pages) struct PermissionsText {
    pub title: &'static str,
    pub greeting: NameTemplate,
    pub lead: &'static str,
    pub none: Message,
    pub revoked: fn(DisplayName<'_>, DisplayName<'_>) -> Markup,
    /// After a withdrawal, where a colleague's authorization keeps webhooks alive.
    pub revoked_webhooks_go_on: fn(DisplayName<'_>, DisplayName<'_>) -> Markup,
    /// What is folded below it is [`ScopesText`].
    pub can_do: &'static str,
    pub since: &'static str,
    pub last_used: &'static str,
    pub never_used: &'static str,
    pub revoke: &'static str,
    pub revoke_explanation: fn(DisplayName<'_>, DisplayName<'_>) -> Markup,
    /// Before a withdrawal: the webhooks stop, or a colleague's authorization keeps some of them alive.
    pub webhooks_stop: &'static str,
    pub webhooks_go_on: &'static str,
    pub revoke_submit: &'static str,
    pub webhooks: &'static str,
    pub last_delivery: &'static str,
    pub no_delivery: &'static str,
    pub more_webhooks: fn(usize) -> Markup,
    pub colleagues: fn(usize) -> Markup,
    pub revoke_for_tenant: &'static str,
    pub revoke_for_tenant_explanation: fn(DisplayName<'_>, DisplayName<'_>) -> Markup,
    pub sign_out: &'static str,
}

pub(in crate::pages) struct AccountText {
    pub title: &'static str,
    pub to_portal: &'static str,
    pub lead: fn(Realm) -> &'static str,
    pub profile: &'static str,
    pub name: &'static str,
    pub language: &'static str,
    pub save: &'static str,
    pub password: &'static str,
    pub password_note: &'static str,
    pub current_password: &'static str,
    pub new_password: &'static str,
    pub repeated_password: &'static str,
    pub change_password: &'static str,
    pub sessions: &'static str,
    pub sessions_note: &'static str,
    pub this_browser: &'static str,
    pub unknown_browser: &'static str,
    pub since: &'static str,
    pub end_session: &'static str,
    pub end_others: &'static str,
    pub applications: &'static str,
    pub profile_saved: &'static str,
    pub password_changed: &'static str,
    pub sessions_ended: &'static str,
    pub family_name: &'static str,
    pub name_refused: &'static str,
    pub current_password_wrong: &'static str,
    pub repetition_differs: &'static str,
    pub expired: &'static str,
}
