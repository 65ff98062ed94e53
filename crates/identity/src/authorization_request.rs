//! Parses an authorization request: first the target of the response (client and redirect URI), then the rest, whose
//! errors can be sent to that target.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::scope::RequestedScopes;
use domain::second_factor::SECOND_FACTOR_METHOD;
use domain::{ClientId, Scope, Scopes, TenantId, redirect_uri};
use serde::{Deserialize, Serialize};
use store::{Client, Pkce};

use crate::oauth_error::OAuthError;
use crate::params::Params;

const VALUE_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ResponseMode {
    Query,
    FormPost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "the values of `prompt` can be combined")]
pub(crate) struct Prompt {
    pub(crate) none: bool,
    pub(crate) login: bool,
    pub(crate) consent: bool,
    pub(crate) select_account: bool,
}

/// A request whose client and redirect URI are valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuthorizationRequest {
    #[serde(rename = "reply")]
    pub(crate) target: ResponseTarget,
    /// The names of the supported scopes.
    scope: String,
    /// Whether the request has unknown scopes, which are not granted.
    pub(crate) has_unknown_scope: bool,
    pub(crate) nonce: Option<String>,
    pub(crate) challenge: Option<String>,
    /// Whether a challenge was sent, also for a client that ignores PKCE.
    #[serde(default)]
    pub(crate) has_challenge: bool,
    pub(crate) prompt: Prompt,
    pub(crate) max_age_seconds: Option<u64>,
    pub(crate) login_hint: Option<String>,
    /// The user of `id_token_hint`; the session must belong to this user.
    pub(crate) hinted_user: Option<String>,
    pub(crate) ui_locales: Option<String>,
    pub(crate) tenant: Option<TenantId>,
    /// `acr_values=2fa`: the user must have given a second factor.
    #[serde(default)]
    pub(crate) needs_second_factor: bool,
}

impl AuthorizationRequest {
    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).scopes
    }
}

/// Where the authorization response goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResponseTarget {
    pub(crate) client: ClientId,
    pub(crate) redirect_uri: String,
    pub(crate) mode: ResponseMode,
    pub(crate) state: Option<String>,
}

/// Why the response cannot be sent to a client; the user sees an error page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetError {
    UnknownClient,
    /// The client is a resource server.
    NotForSignIn,
    RedirectMissing,
    RedirectUnregistered,
}

/// The value of `client_id`, unless it is missing, repeated or malformed.
pub(crate) fn client_id(params: &Params) -> Option<ClientId> {
    let id = params.single("client_id").ok().flatten();
    id.filter(|id| !id.contains('\0')).map(ClientId::new)
}

/// Whether a client may have a redirect URI: a registered one, or the portal's own, which every client of a team has.
pub(crate) fn may_redirect(client: &Client, uri: &str, portal: Option<&str>) -> bool {
    let is_portal = portal == Some(uri) && client.team.is_some();
    is_portal || client.redirect_uris.iter().any(|registered| redirect_uri::matches(registered, uri))
}

/// What a request object says about the response. Request objects are not supported; its client is told so where it expects
/// the response, to an address that the plain parameters name.
#[derive(Debug, Default, Deserialize)]
struct RequestObject {
    response_mode: Option<String>,
    state: Option<String>,
}

impl RequestObject {
    /// Not verified: it decides nothing but how the refusal is sent.
    fn of(params: &Params) -> Self {
        let object = params.single("request").ok().flatten().filter(|object| object.len() <= VALUE_BYTES_MAX);
        let payload = object.and_then(|object| object.split('.').nth(1));
        let payload = payload.and_then(|payload| URL_SAFE_NO_PAD.decode(payload).ok());
        payload.and_then(|payload| serde_json::from_slice(&payload).ok()).unwrap_or_default()
    }
}

/// The target of the response: `redirect_uri` must match one that the client may have.
pub(crate) fn response_target(
    params: &Params,
    client: &Client,
    portal: Option<&str>,
) -> Result<ResponseTarget, TargetError> {
    let uri = params.single("redirect_uri").map_err(|_| TargetError::RedirectUnregistered)?;
    let uri = uri.filter(|uri| !uri.is_empty()).ok_or(TargetError::RedirectMissing)?;
    if !may_redirect(client, uri, portal) {
        return Err(TargetError::RedirectUnregistered);
    }
    let object = RequestObject::of(params);
    let single = |name: &str| params.single(name).ok().flatten();
    let mode = match single("response_mode").or(object.response_mode.as_deref()) {
        // An application behind a private-use scheme gets the URL and nothing else; `parse` refuses a form.
        Some("form_post") if redirect_uri::private_use_scheme(uri).is_none() => ResponseMode::FormPost,
        _ => ResponseMode::Query,
    };
    // A repeated or overlong state is not returned.
    let state = single("state").or(object.state.as_deref()).filter(|state| state.len() <= VALUE_BYTES_MAX);
    Ok(ResponseTarget {
        client: client.id.clone(),
        redirect_uri: uri.into(),
        mode,
        state: state.map(Into::into),
    })
}

/// Parses the other parameters. `hinted_user` is the subject of the verified `id_token_hint`.
pub(crate) fn parse(
    params: &Params,
    target: ResponseTarget,
    client: &Client,
    hinted_user: Option<String>,
) -> Result<AuthorizationRequest, OAuthError> {
    params.check(VALUE_BYTES_MAX)?;
    check_unsupported(params)?;
    match params.get("response_mode") {
        Some("form_post") if redirect_uri::private_use_scheme(&target.redirect_uri).is_some() => {
            let description =
                "response_mode must be query: a redirect_uri with a private-use scheme takes no form.";
            return Err(OAuthError::invalid_request(description));
        }
        None | Some("query" | "form_post") => {}
        Some(_) => return Err(OAuthError::invalid_request("response_mode must be query or form_post.")),
    }
    match params.get("response_type") {
        Some("code") => {}
        None => return Err(OAuthError::invalid_request("response_type is missing. It must be code.")),
        Some(_) => {
            return Err(OAuthError::new("unsupported_response_type", "response_type must be code."));
        }
    }
    let RequestedScopes { scopes, has_unknown } = scopes(params)?;
    Ok(AuthorizationRequest {
        scope: scopes.to_string(),
        has_unknown_scope: has_unknown,
        nonce: params.get("nonce").map(Into::into),
        challenge: challenge(params, client.pkce_rule())?,
        has_challenge: params.get("code_challenge").is_some(),
        prompt: prompt(params)?,
        max_age_seconds: max_age(params)?,
        login_hint: params.get("login_hint").map(Into::into),
        hinted_user,
        ui_locales: params.get("ui_locales").map(Into::into),
        tenant: acr_values(params).find_map(|value| value.strip_prefix("tenant:")).map(TenantId::new),
        needs_second_factor: acr_values(params).any(|value| value == SECOND_FACTOR_METHOD),
        target,
    })
}

/// The values of `acr_values`; unknown ones are ignored.
fn acr_values(params: &Params) -> impl Iterator<Item = &str> {
    params.get("acr_values").unwrap_or_default().split(' ')
}

fn check_unsupported(params: &Params) -> Result<(), OAuthError> {
    for (name, code) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ] {
        if params.get(name).is_some() {
            return Err(OAuthError::new(code, format!("The parameter {name} is not supported.")));
        }
    }
    Ok(())
}

fn scopes(params: &Params) -> Result<RequestedScopes, OAuthError> {
    let invalid = |description: &str| OAuthError::new("invalid_scope", description);
    let requested = Scopes::parse(params.get("scope").ok_or_else(|| invalid("scope is missing."))?);
    if requested.scopes.is_empty() {
        return Err(invalid(
            "None of the requested scopes is known. The discovery document lists them in scopes_supported.",
        ));
    }
    if requested.scopes == Scopes::default().with(Scope::OfflineAccess) {
        return Err(invalid("offline_access needs another scope beside it."));
    }
    Ok(requested)
}

fn challenge(params: &Params, mode: Pkce) -> Result<Option<String>, OAuthError> {
    if mode == Pkce::Ignore {
        return Ok(None);
    }
    let invalid = OAuthError::invalid_request;
    let method = params.get("code_challenge_method");
    match (params.get("code_challenge"), method) {
        (None, None) if mode == Pkce::Required => {
            Err(invalid("code_challenge is missing. This client must use PKCE with S256."))
        }
        (None, None) => Ok(None),
        (None, Some(_)) => Err(invalid("code_challenge_method was sent without a code_challenge.")),
        (Some(challenge), Some("S256")) if is_challenge(challenge) => Ok(Some(challenge.into())),
        (Some(_), Some("S256")) => Err(invalid("code_challenge must be 43 characters of base64url.")),
        (Some(_), _) => Err(invalid("code_challenge_method must be S256.")),
    }
}

/// Whether the text has the form of a SHA-256 hash in base64url.
fn is_challenge(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn prompt(params: &Params) -> Result<Prompt, OAuthError> {
    let mut prompt = Prompt::default();
    for value in params.get("prompt").unwrap_or_default().split(' ').filter(|value| !value.is_empty()) {
        match value {
            "none" => prompt.none = true,
            "login" => prompt.login = true,
            "consent" => prompt.consent = true,
            "select_account" => prompt.select_account = true,
            _ => {
                let description = "prompt must be none, login, consent or select_account.";
                return Err(OAuthError::invalid_request(description));
            }
        }
    }
    if prompt.none && (prompt.login || prompt.consent || prompt.select_account) {
        return Err(OAuthError::invalid_request("prompt=none cannot be combined with another value."));
    }
    Ok(prompt)
}

fn max_age(params: &Params) -> Result<Option<u64>, OAuthError> {
    let Some(text) = params.get("max_age") else { return Ok(None) };
    let seconds = text
        .parse()
        .map_err(|_| OAuthError::invalid_request("max_age must be a number of seconds, zero or more."))?;
    Ok(Some(seconds))
}
