//! What the pages say: one table, filled once for each language, so that a missing sentence does not compile.
//! Sentences with a name inside are functions, because languages put it in different places.

mod en;
mod es;

use maud::Markup;
use ui::{DisplayName, Lang};

pub(super) const fn words(lang: Lang) -> &'static Words {
    match lang {
        Lang::Es => &es::WORDS,
        Lang::En => &en::WORDS,
    }
}

/// Something said in a few words, and what it means.
#[derive(Clone, Copy)]
pub(in crate::pages) struct Said {
    pub title: &'static str,
    pub text: &'static str,
}

type WithName = fn(DisplayName<'_>) -> Markup;
type WithSpan = fn(&str) -> Markup;
type WithLink = fn(&Markup) -> Markup;

pub(in crate::pages) struct Words {
    pub sign_in: SignIn,
    pub choice: RadioOption,
    pub scopes: Scopes,
    pub code: Code,
    pub form_post: FormPost,
    pub sign_out: SignOut,
    pub error: Error,
    pub permissions: Permissions,
}

pub(in crate::pages) struct SignIn {
    pub title: &'static str,
    pub title_with_problem: &'static str,
    pub lead: WithName,
    pub lead_permissions: &'static str,
    pub username: &'static str,
    pub password: &'static str,
    pub submit: &'static str,
    pub forgotten: &'static str,
    pub assurance: WithName,
    pub wrong: Said,
    pub wrong_is_slow: &'static str,
    pub empty: Said,
    pub expired: Said,
    pub no_cookies: Said,
    pub busy: &'static str,
    pub busy_wait: WithSpan,
    pub too_many: &'static str,
    pub too_many_wait: WithSpan,
}

pub(in crate::pages) struct RadioOption {
    pub title: &'static str,
    pub title_with_problem: &'static str,
    pub lead: WithName,
    pub consent_title: &'static str,
    pub consent_heading: WithName,
    pub signed_in_as: WithName,
    pub other_account: &'static str,
    pub allows: &'static str,
    pub legend: &'static str,
    pub search: &'static str,
    pub search_submit: &'static str,
    pub count: fn(usize, usize) -> String,
    pub count_cut: fn(usize, usize) -> String,
    pub none_found: WithName,
    pub none_found_advice: &'static str,
    pub recent: &'static str,
    pub go_on: &'static str,
    pub allow: &'static str,
    pub deny: &'static str,
    pub revocable: &'static str,
    pub nothing_chosen: Said,
    pub not_yours: Said,
}

pub(in crate::pages) struct Scopes {
    pub openid: Said,
    pub offline_access: Said,
    /// Where it stands without its text.
    pub offline_access_alone: &'static str,
    pub profile: Said,
    pub email: Said,
    pub id_info: Said,
    pub master_data: Said,
    pub accounting: Said,
    pub management: Said,
    pub payroll: Said,
    pub webhooks: Said,
}

pub(in crate::pages) struct Code {
    pub title: &'static str,
    pub heading: WithName,
    pub lead: &'static str,
    pub label: &'static str,
    pub valid: WithSpan,
    pub under_a_minute: &'static str,
}

pub(in crate::pages) struct FormPost {
    pub title: &'static str,
    pub lead: &'static str,
    pub submit: &'static str,
}

pub(in crate::pages) struct SignOut {
    pub title: &'static str,
    pub heading: &'static str,
    pub asked_by: WithName,
    pub signed_in_as: WithName,
    pub submit: &'static str,
    pub or_stay: &'static str,
    pub done_title: &'static str,
    pub done_text: &'static str,
    pub access_stays: WithLink,
    pub back: WithName,
}

pub(in crate::pages) struct Error {
    pub reference: &'static str,
    pub details: &'static str,
    pub unknown_client: Said,
    pub redirect_missing: Said,
    pub redirect_unregistered: Said,
    pub bad_request: Said,
    pub expired: Said,
    pub not_found: Said,
    pub busy: Said,
    pub broken: Said,
}

pub(in crate::pages) struct Permissions {
    pub title: &'static str,
    pub greeting: WithName,
    pub lead: &'static str,
    pub none: Said,
    pub revoked: WithName,
    pub tenant: &'static str,
    pub since: &'static str,
    pub last_used: &'static str,
    pub never_used: &'static str,
    pub revoke: &'static str,
    pub revoke_means: fn(DisplayName<'_>, DisplayName<'_>) -> Markup,
    pub revoke_submit: &'static str,
    pub sign_out: &'static str,
}
