//! Decides the next step of an authorization request. Pure.

use std::time::Duration;

use domain::second_factor::has_second_factor;
use domain::{ClientKind, Scopes, SecondFactorPolicy, TenantId, Ticks};
use store::{Client, Consent, Grant, Session, TenantMembership};

use crate::authorization_request::AuthorizationRequest;
use crate::oauth_error::OAuthError;

/// The inputs of the decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowState<'a> {
    pub(crate) request: &'a AuthorizationRequest,
    pub(crate) client: &'a Client,
    /// When the flow started: a more recent session was created for it.
    pub(crate) started_at: Ticks,
    pub(crate) session: Option<&'a Session>,
    pub(crate) second_factor: SecondFactorState,
    /// The user's active memberships.
    pub(crate) memberships: &'a [TenantMembership],
    /// The user's live grants.
    pub(crate) grants: &'a [Grant],
    /// The tenant that the user has just chosen on the page.
    pub(crate) chosen_tenant: Option<&'a TenantId>,
    pub(crate) now: Ticks,
}

/// What is known about the second factor of the session's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SecondFactorState {
    pub(crate) policy: SecondFactorPolicy,
    pub(crate) is_enrolled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    SignIn,
    /// The user has signed in with a password and must give the second factor.
    GiveSecondFactor,
    /// The user must add a second factor.
    Enrol,
    /// Show the tenant page, with or without asking for consent.
    ChooseTenant {
        needs_consent: bool,
    },
    Issue(Box<TenantMembership>),
    Refuse(OAuthError),
}

pub(crate) fn next_step(state: &FlowState<'_>) -> Step {
    // Checked at every step: the operator may change the client's products while the user is at a page.
    if let Err(error) = check_scopes(state.request.scopes(), state.client) {
        return Step::Refuse(error);
    }
    let silent = state.request.prompt.none;
    if let Some(session) = state.session
        && session.authenticated_at >= state.started_at
        && !is_hinted_user(state, session)
    {
        return refuse("login_required", "The signed-in user is not the one that id_token_hint names.");
    }
    let Some(session) = state.session.filter(|session| is_sufficient(state, session)) else {
        return if silent {
            refuse("login_required", "The user is not signed in, and prompt=none allows no sign-in page.")
        } else {
            Step::SignIn
        };
    };
    debug_assert!(session.expires_at > state.now);
    if let Some(step) = second_factor_step(state, session) {
        return step;
    }
    if state.memberships.is_empty() {
        return refuse("access_denied", "The user has no active tenant.");
    }
    if let Some(membership) =
        state.chosen_tenant.and_then(|chosen_tenant| membership_in(state, chosen_tenant))
    {
        return issue(membership);
    }
    let only = if let [only] = state.memberships { Some(only) } else { None };
    // A client may name the tenant (`acr_values`). That does not choose it for the user, but a tenant that the user
    // has already granted may be used again without a page.
    let named = state.request.tenant.as_ref().and_then(|tenant| membership_in(state, tenant));
    let renewed = named.filter(|membership| silent && has_grant(state, membership));
    let Some(membership) = only.or(renewed) else {
        if silent {
            return refuse(
                "interaction_required",
                "The user has several tenants and must choose one, and prompt=none allows no page.",
            );
        }
        return Step::ChooseTenant { needs_consent: needs_consent(state, None) };
    };
    if !needs_consent(state, Some(membership)) {
        return issue(membership);
    }
    if silent {
        return refuse("consent_required", "The user must consent, and prompt=none allows no page.");
    }
    Step::ChooseTenant { needs_consent: true }
}

/// What the session's user has to do about a second factor, if anything.
fn second_factor_step(state: &FlowState<'_>, session: &Session) -> Option<Step> {
    let SecondFactorState { policy, is_enrolled } = state.second_factor;
    let is_needed = state.request.needs_second_factor || policy == SecondFactorPolicy::Required;
    if has_second_factor(&session.methods) || !(is_needed || is_enrolled) {
        return None;
    }
    if !is_enrolled && policy == SecondFactorPolicy::Off {
        let description = "The user has no second factor (acr_values=2fa), and nobody can add one here.";
        return Some(refuse("unmet_authentication_requirements", description));
    }
    Some(if state.request.prompt.none {
        let description = "The user must give or add a second factor, and prompt=none allows no page.";
        refuse("interaction_required", description)
    } else if is_enrolled {
        Step::GiveSecondFactor
    } else {
        Step::Enrol
    })
}

/// Refuses scopes that the client's products do not open, by name.
pub(crate) fn check_scopes(scopes: Scopes, client: &Client) -> Result<(), OAuthError> {
    let refused = scopes.without(scopes.allowed_for(client.products));
    if refused.is_empty() {
        return Ok(());
    }
    let description = format!(
        "This client may not have the scope {refused}: its products are {}. Request fewer scopes, or ask the \
         operator to add the product.",
        client.products.names().join(", ")
    );
    Err(OAuthError::new("invalid_scope", description))
}

fn issue(membership: &TenantMembership) -> Step {
    Step::Issue(Box::new(membership.clone()))
}

fn refuse(code: &'static str, description: &str) -> Step {
    Step::Refuse(OAuthError::new(code, description))
}

/// Whether the session satisfies `prompt`, `max_age` and `id_token_hint`.
fn is_sufficient(state: &FlowState<'_>, session: &Session) -> bool {
    // A sign-in during this flow is sufficient, however long the user then takes to choose a tenant.
    let is_fresh = session.authenticated_at >= state.started_at;
    let forces_sign_in = state.request.prompt.login || state.request.prompt.select_account;
    let age = state.now.since(session.authenticated_at);
    let is_young = state
        .request
        .max_age_seconds
        .is_none_or(|seconds| seconds > 0 && age <= Duration::from_secs(seconds));
    is_hinted_user(state, session) && (is_fresh || (!forces_sign_in && is_young))
}

/// Whether the session belongs to the user of `id_token_hint`, if there is one.
fn is_hinted_user(state: &FlowState<'_>, session: &Session) -> bool {
    state.request.hinted_user.as_deref().is_none_or(|hinted| hinted == session.account.as_str())
}

fn membership_in<'a>(state: &FlowState<'a>, tenant: &TenantId) -> Option<&'a TenantMembership> {
    state.memberships.iter().find(|membership| membership.tenant.id == *tenant)
}

/// Consent holds as long as a live grant covers the requested scopes. A native application is asked about each time,
/// unless it returns to an https address: nothing else proves which program gets the code (RFC 8252, section 8.6).
fn needs_consent(state: &FlowState<'_>, membership: Option<&TenantMembership>) -> bool {
    let is_https = state.request.target.redirect_uri.starts_with("https://");
    if state.client.kind == ClientKind::Native && !is_https {
        return true;
    }
    let has_consent = membership.is_some_and(|membership| has_grant(state, membership));
    state.request.prompt.consent || (state.client.consent == Consent::Required && !has_consent)
}

fn has_grant(state: &FlowState<'_>, membership: &TenantMembership) -> bool {
    state.grants.iter().any(|grant| {
        grant.client == state.client.id
            && grant.tenant == membership.tenant.id
            && crate::grant::GrantDetails::from_json(&grant.details)
                .is_some_and(|details| details.scopes().has_all(state.request.scopes()))
    })
}
