//! An authorization request, read once: first whom to answer (client and address), then what is asked.

use domain::scope::RequestedScopes;
use domain::{ClientId, Scope, Scopes, TenantId};
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
#[allow(clippy::struct_excessive_bools, reason = "the values of `prompt`, which may stand together")]
pub(crate) struct Prompt {
    pub(crate) none: bool,
    pub(crate) login: bool,
    pub(crate) consent: bool,
    pub(crate) select_account: bool,
}

/// A request whose client and address are known and registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Authorization {
    pub(crate) reply: Reply,
    /// Names of the scopes that are granted.
    scope: String,
    /// Whether more was asked for than is granted.
    pub(crate) has_unknown_scope: bool,
    pub(crate) nonce: Option<String>,
    pub(crate) challenge: Option<String>,
    pub(crate) prompt: Prompt,
    pub(crate) max_age_seconds: Option<u64>,
    pub(crate) login_hint: Option<String>,
    /// Whose session it must be.
    pub(crate) hinted_user: Option<String>,
    pub(crate) ui_locales: Option<String>,
    pub(crate) tenant: Option<TenantId>,
}

impl Authorization {
    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::parse(&self.scope).scopes
    }
}

/// Where the answer goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) client: ClientId,
    pub(crate) redirect_uri: String,
    pub(crate) mode: ResponseMode,
    pub(crate) state: Option<String>,
}

/// Why nobody can be answered but the person in front of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswerable {
    Client,
    RedirectMissing,
    RedirectUnregistered,
}

/// The one value of `client_id`, the first thing to know.
pub(crate) fn client_id(params: &Params) -> Option<ClientId> {
    let id = params.one("client_id").ok().flatten();
    id.filter(|id| !id.contains('\0')).map(ClientId::new)
}

/// Where to answer: exactly an address that this client has registered.
pub(crate) fn reply(params: &Params, client: &Client) -> Result<Reply, Unanswerable> {
    let uri = params.one("redirect_uri").map_err(|_| Unanswerable::RedirectUnregistered)?;
    let uri = uri.filter(|uri| !uri.is_empty()).ok_or(Unanswerable::RedirectMissing)?;
    if !client.redirect_uris.iter().any(|registered| registered == uri) {
        return Err(Unanswerable::RedirectUnregistered);
    }
    let mode = match params.one("response_mode") {
        Ok(Some("form_post")) => ResponseMode::FormPost,
        _ => ResponseMode::Query,
    };
    // A state that is given twice, or is too long, is not echoed.
    let state = params.one("state").ok().flatten().filter(|state| state.len() <= VALUE_BYTES_MAX);
    Ok(Reply { client: client.id.clone(), redirect_uri: uri.into(), mode, state: state.map(Into::into) })
}

/// What is asked. `hinted_user` is what the id_token_hint was found to name.
pub(crate) fn authorization(
    params: &Params,
    reply: Reply,
    client: &Client,
    hinted_user: Option<String>,
) -> Result<Authorization, OAuthError> {
    params.check(VALUE_BYTES_MAX)?;
    check_unsupported(params)?;
    match params.get("response_mode") {
        None | Some("query" | "form_post") => {}
        Some(_) => return Err(OAuthError::invalid_request("response_mode must be query or form_post")),
    }
    match params.get("response_type") {
        Some("code") => {}
        None => return Err(OAuthError::invalid_request("response_type is missing; it must be code")),
        Some(_) => {
            return Err(OAuthError::new("unsupported_response_type", "response_type must be code"));
        }
    }
    let RequestedScopes { scopes, has_unknown } = scopes(params)?;
    Ok(Authorization {
        scope: scopes.to_string(),
        has_unknown_scope: has_unknown,
        nonce: params.get("nonce").map(Into::into),
        challenge: challenge(params, client.pkce)?,
        prompt: prompt(params)?,
        max_age_seconds: max_age(params)?,
        login_hint: params.get("login_hint").map(Into::into),
        hinted_user,
        ui_locales: params.get("ui_locales").map(Into::into),
        tenant: params
            .get("acr_values")
            .and_then(|values| values.split(' ').find_map(|value| value.strip_prefix("tenant:")))
            .map(TenantId::new),
        reply,
    })
}

fn check_unsupported(params: &Params) -> Result<(), OAuthError> {
    for (name, code) in [
        ("request", "request_not_supported"),
        ("request_uri", "request_uri_not_supported"),
        ("registration", "registration_not_supported"),
    ] {
        if params.get(name).is_some() {
            return Err(OAuthError::new(code, format!("the parameter {name} is not supported")));
        }
    }
    Ok(())
}

fn scopes(params: &Params) -> Result<RequestedScopes, OAuthError> {
    let invalid = |description: &str| OAuthError::new("invalid_scope", description);
    let asked = Scopes::parse(params.get("scope").ok_or_else(|| invalid("scope is missing"))?);
    if asked.scopes.is_empty() {
        return Err(invalid(
            "none of the scopes asked for is known; scopes_supported in the discovery document lists them",
        ));
    }
    if asked.scopes == Scopes::default().with(Scope::OfflineAccess) {
        return Err(invalid("offline_access alone gives access to nothing"));
    }
    Ok(asked)
}

fn challenge(params: &Params, mode: Pkce) -> Result<Option<String>, OAuthError> {
    if mode == Pkce::Ignore {
        return Ok(None);
    }
    let wrong = OAuthError::invalid_request;
    let method = params.get("code_challenge_method");
    match (params.get("code_challenge"), method) {
        (None, None) if mode == Pkce::Required => {
            Err(wrong("code_challenge is missing; this client must use PKCE with S256"))
        }
        (None, None) => Ok(None),
        (None, Some(_)) => Err(wrong("code_challenge_method came without a code_challenge")),
        (Some(challenge), Some("S256")) if is_challenge(challenge) => Ok(Some(challenge.into())),
        (Some(_), Some("S256")) => Err(wrong("code_challenge must be 43 characters of base64url")),
        (Some(_), _) => Err(wrong("code_challenge_method must be S256")),
    }
}

/// What SHA-256 looks like in base64url.
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
                let description = "prompt must be none, login, consent or select_account";
                return Err(OAuthError::invalid_request(description));
            }
        }
    }
    if prompt.none && (prompt.login || prompt.consent || prompt.select_account) {
        return Err(OAuthError::invalid_request("prompt none cannot stand beside another value"));
    }
    Ok(prompt)
}

fn max_age(params: &Params) -> Result<Option<u64>, OAuthError> {
    let Some(text) = params.get("max_age") else { return Ok(None) };
    let seconds = text
        .parse()
        .map_err(|_| OAuthError::invalid_request("max_age must be a number of seconds, zero or more"))?;
    Ok(Some(seconds))
}
