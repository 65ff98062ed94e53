//! The one dispatcher: what comes next in a sign-in. A second factor will be a step between the
//! password and the tenant.

use std::time::Duration;

use domain::{TenantId, Ticks};
use store::{Client, Consent, Grant, Session, TenantMembership};

use crate::authorization_request::AuthorizationRequest;
use crate::oauth_error::OAuthError;

/// All that the decision stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowState<'a> {
    pub(crate) request: &'a AuthorizationRequest,
    pub(crate) client: &'a Client,
    /// When this errand began: a session that is younger was made for it.
    pub(crate) started_at: Ticks,
    pub(crate) session: Option<&'a Session>,
    /// The user's open seats.
    pub(crate) memberships: &'a [TenantMembership],
    /// What the user has granted and not revoked.
    pub(crate) grants: &'a [Grant],
    /// What the user has just chosen on the page.
    pub(crate) chosen_tenant: Option<&'a TenantId>,
    pub(crate) now: Ticks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    SignIn,
    /// The page with the tenants, with or without the question for consent.
    ChooseTenant {
        needs_consent: bool,
    },
    Issue(Box<TenantMembership>),
    Refuse(OAuthError),
}

pub(crate) fn next_step(state: &FlowState<'_>) -> Step {
    let silent = state.request.prompt.none;
    if let Some(session) = state.session
        && session.authenticated_at >= state.started_at
        && !is_hinted_user(state, session)
    {
        return refuse("login_required", "another user has signed in than the one asked for");
    }
    let Some(session) = state.session.filter(|session| is_sufficient(state, session)) else {
        return if silent { refuse("login_required", "the user must sign in") } else { Step::SignIn };
    };
    debug_assert!(session.expires_at > state.now);
    if state.memberships.is_empty() {
        return refuse("access_denied", "the user has no tenant to sign in to");
    }
    if let Some(membership) =
        state.chosen_tenant.and_then(|chosen_tenant| membership_in(state, chosen_tenant))
    {
        return issue(membership);
    }
    let only = if let [only] = state.memberships { Some(only) } else { None };
    // An application may name the tenant. That chooses nothing for the user, but what was chosen before
    // may be renewed without a question.
    let named = state.request.tenant.as_ref().and_then(|tenant| membership_in(state, tenant));
    let renewed = named.filter(|membership| silent && has_grant(state, membership));
    let Some(membership) = only.or(renewed) else {
        if silent {
            return refuse("interaction_required", "the user must choose a tenant");
        }
        return Step::ChooseTenant { needs_consent: needs_consent(state, None) };
    };
    if !needs_consent(state, Some(membership)) {
        return issue(membership);
    }
    if silent {
        return refuse("consent_required", "the user must consent");
    }
    Step::ChooseTenant { needs_consent: true }
}

fn issue(membership: &TenantMembership) -> Step {
    Step::Issue(Box::new(membership.clone()))
}

fn refuse(code: &'static str, description: &str) -> Step {
    Step::Refuse(OAuthError::new(code, description))
}

/// Whether the session satisfies what the request asks of a sign-in.
fn is_sufficient(state: &FlowState<'_>, session: &Session) -> bool {
    // A sign-in for this very errand is enough, however long the user then takes to choose.
    let is_fresh = session.authenticated_at >= state.started_at;
    let forces_sign_in = state.request.prompt.login || state.request.prompt.select_account;
    let age = state.now.since(session.authenticated_at);
    let is_young = state
        .request
        .max_age_seconds
        .is_none_or(|seconds| seconds > 0 && age <= Duration::from_secs(seconds));
    is_hinted_user(state, session) && (is_fresh || (!forces_sign_in && is_young))
}

/// Whether it is the session of the user that the request names, if it names one.
fn is_hinted_user(state: &FlowState<'_>, session: &Session) -> bool {
    state.request.hinted_user.as_deref().is_none_or(|hinted| hinted == session.user.as_str())
}

fn membership_in<'a>(state: &FlowState<'a>, tenant: &TenantId) -> Option<&'a TenantMembership> {
    state.memberships.iter().find(|membership| membership.tenant.id == *tenant)
}

/// A consent stands as long as the grant that came of it, for what it was given for.
fn needs_consent(state: &FlowState<'_>, membership: Option<&TenantMembership>) -> bool {
    let stands = membership.is_some_and(|membership| has_grant(state, membership));
    state.request.prompt.consent || (state.client.consent == Consent::Required && !stands)
}

fn has_grant(state: &FlowState<'_>, membership: &TenantMembership) -> bool {
    state.grants.iter().any(|grant| {
        grant.client == state.client.id
            && grant.tenant == membership.tenant.id
            && crate::grant::GrantDetails::from_json(&grant.details)
                .is_some_and(|details| details.scopes().has_all(state.request.scopes()))
    })
}
