//! Who calls the token endpoint and its neighbours: a client with its secret, in the body or as Basic.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{ClientId, Secret};
use serde::Serialize;
use store::{AuditContext, AuditEntry, AuditKind, Client, StoreError};

use super::answer::{self, Answer};
use super::body::NotAForm;
use crate::Identity;
use crate::keys::KeyFault;
use crate::oauth_error::OAuthError;
use crate::params::Params;

const VALUE_BYTES_MAX: usize = 16 * 1024;
/// The same for every client that is not who it says.
const WRONG_CLIENT: &str = "the client is unknown or disabled, or its secret is wrong";

/// Why a client's call is refused.
#[derive(Debug)]
pub(crate) enum Refused {
    OAuth(OAuthError),
    /// The client is not who it says; told by Basic where it came by Basic.
    Client {
        by_basic: bool,
        why: &'static str,
    },
    NotAForm(NotAForm),
    Store(StoreError),
    Key(KeyFault),
}

impl From<OAuthError> for Refused {
    fn from(error: OAuthError) -> Self {
        Self::OAuth(error)
    }
}

impl From<NotAForm> for Refused {
    fn from(not: NotAForm) -> Self {
        Self::NotAForm(not)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<KeyFault> for Refused {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Store(error) => Self::Store(error),
            fault => Self::Key(fault),
        }
    }
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    error_description: &'a str,
}

impl Refused {
    pub(crate) fn answer(&self) -> Answer {
        let body =
            |status, error, error_description| answer::json(status, &ErrorBody { error, error_description });
        match self {
            Self::OAuth(error) => body(StatusCode::BAD_REQUEST, error.code, &error.description),
            // RFC 6749 has one status for a malformed request, whatever is malformed about it.
            Self::NotAForm(not @ NotAForm::TooLong) => {
                body(not.status(), "invalid_request", not.description())
            }
            Self::NotAForm(not) => body(StatusCode::BAD_REQUEST, "invalid_request", not.description()),
            Self::Client { by_basic, why } => {
                let mut answer = body(StatusCode::UNAUTHORIZED, "invalid_client", why);
                if *by_basic {
                    let challenge = HeaderValue::from_static("Basic realm=\"aldaba\", charset=\"UTF-8\"");
                    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
                answer
            }
            Self::Store(StoreError::Unavailable(why) | StoreError::Full(why)) => {
                tracing::warn!(why, "the store does not answer");
                let description = "the service cannot write or read now; try again in a few seconds";
                let busy = body(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", description);
                answer::with_retry_after(busy, 5)
            }
            Self::Store(error) => broken(error),
            Self::Key(fault) => broken(fault),
        }
    }
}

fn broken(error: &dyn std::error::Error) -> Answer {
    tracing::error!(%error, "a client's call failed");
    let body = ErrorBody { error: "server_error", error_description: "something went wrong on our side" };
    answer::json(StatusCode::INTERNAL_SERVER_ERROR, &body)
}

/// What a client showed.
struct Shown {
    id: String,
    secret: String,
    by_basic: bool,
}

impl Identity {
    /// The client that calls. It is known, active, and has shown its secret, in one way only.
    pub(super) async fn authenticate_client(
        &self,
        headers: &HeaderMap,
        form: &Params,
        context: &AuditContext,
    ) -> Result<Client, Refused> {
        form.check(VALUE_BYTES_MAX)?;
        let shown = shown(headers, form)?;
        let (id, secret) = (ClientId::new(shown.id), Secret::new(shown.secret));
        let now = self.clock.now();
        // The secret is looked at whether there is such a client or not.
        let matches = self.store.client_secret_matches(&id, &secret, now).await?;
        match self.active_client(&id).await? {
            Some(client) if matches => Ok(client),
            found => {
                if let Some(client) = found
                    && self.guard.is_worth_noting(client.id.as_str(), now)
                {
                    let entry = AuditEntry::new(AuditKind::ClientRefused, now, context);
                    self.store.record(&entry.client(&client.id)).await?;
                }
                Err(Refused::Client { by_basic: shown.by_basic, why: WRONG_CLIENT })
            }
        }
    }
}

fn shown(headers: &HeaderMap, form: &Params) -> Result<Shown, Refused> {
    let in_body = form.get("client_id");
    let Some(line) = headers.get(AUTHORIZATION) else {
        let missing = |why| Refused::Client { by_basic: false, why };
        let id = in_body.ok_or_else(|| missing("client_id is missing"))?;
        let secret = form.get("client_secret").ok_or_else(|| missing("client_secret is missing"))?;
        return Ok(Shown { id: id.into(), secret: secret.into(), by_basic: false });
    };
    if form.get("client_secret").is_some() {
        let description = "the client shows its secret twice: in the body and in Authorization";
        return Err(OAuthError::invalid_request(description).into());
    }
    let why = "Authorization is not Basic with a client's id and secret";
    let (id, secret) = basic(line).ok_or(Refused::Client { by_basic: true, why })?;
    if in_body.is_some_and(|given| given != id) {
        let description = "client_id in the body is another than in Authorization";
        return Err(OAuthError::invalid_request(description).into());
    }
    Ok(Shown { id, secret, by_basic: true })
}

/// Both halves are form-encoded before they are joined (RFC 6749, 2.3.1).
fn basic(line: &HeaderValue) -> Option<(String, String)> {
    let (scheme, credentials) = line.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (id, secret) = plain.split_once(':')?;
    Some((form_decoded(id), form_decoded(secret)))
}

fn form_decoded(text: &str) -> String {
    // As one parameter's value, so that `&` and `=` stay what they are.
    let one = format!("x={}", text.replace('&', "%26"));
    form_urlencoded::parse(one.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Whether a verifier belongs to a challenge (PKCE, S256).
pub(super) fn proves(verifier: &str, challenge: &str) -> bool {
    let fits = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let hash = domain::secret::base64url(digest(&SHA256, verifier.as_bytes()).as_ref());
    fits && aws_lc_rs::constant_time::verify_slices_are_equal(hash.as_bytes(), challenge.as_bytes()).is_ok()
}
