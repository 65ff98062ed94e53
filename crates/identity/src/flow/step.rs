//! The one dispatcher: what comes next in a sign-in. A second factor will be a step between the
//! password and the tenant.

use std::time::Duration;

use domain::{TenantId, Ticks};
use store::{Client, Consent, Grant, Session, TenantMembership};

use crate::oauth_error::OAuthError;
use crate::request::Authorization;

/// All that the decision stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) asked: &'a Authorization,
    pub(crate) client: &'a Client,
    /// When this errand began: a session that is younger was made for it.
    pub(crate) started_at: Ticks,
    pub(crate) session: Option<&'a Session>,
    /// The user's open seats.
    pub(crate) seats: &'a [TenantMembership],
    /// What the user has granted and not revoked.
    pub(crate) grants: &'a [Grant],
    /// What the user has just chosen on the page.
    pub(crate) chosen: Option<&'a TenantId>,
    pub(crate) now: Ticks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    SignIn,
    /// The page with the tenants, with or without the question for consent.
    Choose {
        asks_consent: bool,
    },
    Issue(Box<TenantMembership>),
    Refuse(OAuthError),
}

pub(crate) fn next(at: &Situation<'_>) -> Step {
    let silent = at.asked.prompt.none;
    if let Some(session) = at.session
        && session.authenticated_at >= at.started_at
        && !is_hinted(at, session)
    {
        return refuse("login_required", "another user has signed in than the one asked for");
    }
    let Some(session) = at.session.filter(|session| is_fit(at, session)) else {
        return if silent { refuse("login_required", "the user must sign in") } else { Step::SignIn };
    };
    debug_assert!(session.expires_at > at.now);
    if at.seats.is_empty() {
        return refuse("access_denied", "the user has no tenant to sign in to");
    }
    if let Some(seat) = at.chosen.and_then(|chosen| seat_in(at, chosen)) {
        return issue(seat);
    }
    let only = if let [only] = at.seats { Some(only) } else { None };
    // An application may name the tenant. That chooses nothing for the user, but what was chosen before
    // may be renewed without a question.
    let named = at.asked.tenant.as_ref().and_then(|tenant| seat_in(at, tenant));
    let renewed = named.filter(|seat| silent && has_grant(at, seat));
    let Some(seat) = only.or(renewed) else {
        if silent {
            return refuse("interaction_required", "the user must choose a tenant");
        }
        return Step::Choose { asks_consent: asks_consent(at, None) };
    };
    if !asks_consent(at, Some(seat)) {
        return issue(seat);
    }
    if silent {
        return refuse("consent_required", "the user must consent");
    }
    Step::Choose { asks_consent: true }
}

fn issue(seat: &TenantMembership) -> Step {
    Step::Issue(Box::new(seat.clone()))
}

fn refuse(code: &'static str, description: &str) -> Step {
    Step::Refuse(OAuthError::new(code, description))
}

/// Whether the session satisfies what the request asks of a sign-in.
fn is_fit(at: &Situation<'_>, session: &Session) -> bool {
    // A sign-in for this very errand is enough, however long the user then takes to choose.
    let is_fresh = session.authenticated_at >= at.started_at;
    let asks_anew = at.asked.prompt.login || at.asked.prompt.select_account;
    let age = at.now.since(session.authenticated_at);
    let is_young =
        at.asked.max_age_seconds.is_none_or(|seconds| seconds > 0 && age <= Duration::from_secs(seconds));
    is_hinted(at, session) && (is_fresh || (!asks_anew && is_young))
}

/// Whether it is the session of the user that the request names, if it names one.
fn is_hinted(at: &Situation<'_>, session: &Session) -> bool {
    at.asked.hinted_user.as_deref().is_none_or(|hinted| hinted == session.user.as_str())
}

fn seat_in<'a>(at: &Situation<'a>, tenant: &TenantId) -> Option<&'a TenantMembership> {
    at.seats.iter().find(|seat| seat.tenant.id == *tenant)
}

/// A consent stands as long as the grant that came of it, for what it was given for.
fn asks_consent(at: &Situation<'_>, seat: Option<&TenantMembership>) -> bool {
    let stands = seat.is_some_and(|seat| has_grant(at, seat));
    at.asked.prompt.consent || (at.client.consent == Consent::Required && !stands)
}

fn has_grant(at: &Situation<'_>, seat: &TenantMembership) -> bool {
    at.grants.iter().any(|grant| {
        grant.client == at.client.id
            && grant.tenant == seat.tenant.id
            && crate::grant::Details::read(&grant.details)
                .is_some_and(|details| details.scopes().has_all(at.asked.scopes()))
    })
}
