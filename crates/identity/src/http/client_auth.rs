//! Client authentication for the token, revocation and introspection endpoints (`client_secret_post`,
//! `client_secret_basic`, and `none` for public clients), their error responses, and PKCE verification.

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::{ClientId, Secret};
use serde::Serialize;
use store::{AuditContext, AuditEntry, AuditKind, Client, Status, StoreError};

use super::form_body::FormError;
use super::response::{self, Response};
use crate::Identity;
use crate::keys::KeyError;
use crate::oauth_error::OAuthError;
use crate::params::Params;

const VALUE_BYTES_MAX: usize = 16 * 1024;
/// One text for all causes, so that it does not reveal which clients exist.
const INVALID_CLIENT: &str = "The client is unknown or disabled, or its secret is wrong.";
const SECRET_MISSING: &str = "client_secret is missing. Send it in the body or as HTTP Basic.";
const PUBLIC_WITH_SECRET: &str = "This client is public and has no secret. Send client_id in the body, and neither \
                                  client_secret nor an Authorization header.";
const PUBLIC_REFUSED: &str =
    "This client is public and cannot authenticate. This endpoint needs a client with a secret.";

/// Why an endpoint refuses a client's request.
#[derive(Debug)]
pub(crate) enum EndpointError {
    OAuth(OAuthError),
    /// Client authentication failed; the response has a Basic challenge if the client used Basic.
    InvalidClient {
        used_basic: bool,
        reason: &'static str,
    },
    FormError(FormError),
    Store(StoreError),
    Key(KeyError),
}

impl From<OAuthError> for EndpointError {
    fn from(error: OAuthError) -> Self {
        Self::OAuth(error)
    }
}

impl From<FormError> for EndpointError {
    fn from(not: FormError) -> Self {
        Self::FormError(not)
    }
}

impl From<StoreError> for EndpointError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<KeyError> for EndpointError {
    fn from(fault: KeyError) -> Self {
        match fault {
            KeyError::Store(error) => Self::Store(error),
            fault => Self::Key(fault),
        }
    }
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
    error_description: &'a str,
}

impl EndpointError {
    pub(crate) fn response(&self) -> Response {
        let body = |status, error, error_description| {
            response::json(status, &ErrorBody { error, error_description })
        };
        match self {
            Self::OAuth(error) => body(StatusCode::BAD_REQUEST, error.code, &error.description),
            // RFC 6749 has one status, 400, for every malformed request.
            Self::FormError(not @ (FormError::TooLong | FormError::TooSlow)) => {
                body(not.status(), "invalid_request", not.description())
            }
            Self::FormError(not) => body(StatusCode::BAD_REQUEST, "invalid_request", not.description()),
            Self::InvalidClient { used_basic, reason } => {
                let mut response = body(StatusCode::UNAUTHORIZED, "invalid_client", reason);
                if *used_basic {
                    let challenge = HeaderValue::from_static("Basic realm=\"aldaba\", charset=\"UTF-8\"");
                    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
                response
            }
            Self::Store(StoreError::Unavailable(reason) | StoreError::Full(reason)) => {
                tracing::warn!(reason, "store unavailable");
                let description = "The service cannot reach its database. Try again in a few seconds.";
                let unavailable =
                    body(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", description);
                response::with_retry_after(unavailable, 5)
            }
            Self::Store(error) => server_error(error),
            Self::Key(fault) => server_error(fault),
        }
    }
}

fn server_error(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "request failed");
    let body = ErrorBody {
        error: "server_error",
        error_description: "The service failed. Try again, and report the request id if it fails again.",
    };
    response::json(StatusCode::INTERNAL_SERVER_ERROR, &body)
}

/// The client id and secret of a request; a public client sends no secret.
struct ClientCredentials {
    id: String,
    secret: Option<String>,
    used_basic: bool,
}

impl Identity {
    /// The client, unless it is unknown or disabled.
    pub(crate) async fn active_client(&self, id: &ClientId) -> store::Result<Option<Client>> {
        let client = self.store.find_client(id).await?;
        Ok(client.filter(|client| client.status == Status::Active))
    }

    /// Identifies the client: it must exist and be active. A public one sends its id alone, in the body; every other one
    /// presents its secret in exactly one way.
    pub(super) async fn authenticate_client(
        &self,
        headers: &HeaderMap,
        form: &Params,
        context: &AuditContext,
    ) -> Result<Client, EndpointError> {
        form.check(VALUE_BYTES_MAX)?;
        let credentials = client_credentials(headers, form)?;
        let id = ClientId::new(credentials.id);
        let Some(secret) = credentials.secret.map(Secret::new) else {
            let client = self.active_client(&id).await?.filter(|client| client.kind.is_public());
            let reason = SECRET_MISSING;
            return client.ok_or(EndpointError::InvalidClient { used_basic: false, reason });
        };
        let now = self.clock.now();
        // Compared whether the client exists or not, so that the time does not reveal it.
        let matches = self.store.client_secret_matches(&id, &secret, now).await?;
        match self.active_client(&id).await? {
            Some(client) if matches => Ok(client),
            found => {
                let is_public = found.as_ref().is_some_and(|client| client.kind.is_public());
                if let Some(client) = found
                    && self.client_failures.is_worth_auditing(client.id.as_str(), now)
                {
                    let entry = AuditEntry::new(AuditKind::ClientRefused, now, context);
                    self.store.record(&entry.client(&client.id)).await?;
                }
                Err(EndpointError::InvalidClient {
                    used_basic: credentials.used_basic,
                    reason: if is_public { PUBLIC_WITH_SECRET } else { INVALID_CLIENT },
                })
            }
        }
    }

    /// Authenticates a client that has a secret.
    pub(super) async fn authenticate_confidential_client(
        &self,
        headers: &HeaderMap,
        form: &Params,
        context: &AuditContext,
    ) -> Result<Client, EndpointError> {
        let client = self.authenticate_client(headers, form, context).await?;
        if client.kind.is_public() {
            return Err(EndpointError::InvalidClient { used_basic: false, reason: PUBLIC_REFUSED });
        }
        Ok(client)
    }
}

fn client_credentials(headers: &HeaderMap, form: &Params) -> Result<ClientCredentials, EndpointError> {
    let in_body = form.get("client_id");
    let Some(header) = headers.get(AUTHORIZATION) else {
        let missing = |reason| EndpointError::InvalidClient { used_basic: false, reason };
        let id =
            in_body.ok_or_else(|| missing("client_id is missing. Send it in the body or as HTTP Basic."))?;
        let secret = form.get("client_secret").map(Into::into);
        return Ok(ClientCredentials { id: id.into(), secret, used_basic: false });
    };
    if form.get("client_secret").is_some() {
        let description =
            "The client secret is both in the body and in the Authorization header. Send it once.";
        return Err(OAuthError::invalid_request(description).into());
    }
    let reason = "The Authorization header is not HTTP Basic with a client id and a client secret.";
    let (id, secret) = basic(header).ok_or(EndpointError::InvalidClient { used_basic: true, reason })?;
    if in_body.is_some_and(|given| given != id) {
        let description = "client_id in the body differs from the one in the Authorization header.";
        return Err(OAuthError::invalid_request(description).into());
    }
    Ok(ClientCredentials { id, secret: Some(secret), used_basic: true })
}

/// Decodes Basic credentials; id and secret are each form-encoded (RFC 6749, 2.3.1).
fn basic(header: &HeaderValue) -> Option<(String, String)> {
    let (scheme, credentials) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let plain = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (id, secret) = plain.split_once(':')?;
    Some((form_decoded(id), form_decoded(secret)))
}

fn form_decoded(text: &str) -> String {
    // Decoded as the value of one parameter, so that `&` and `=` keep their literal meaning.
    let parameter = format!("x={}", text.replace('&', "%26"));
    form_urlencoded::parse(parameter.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Whether a code verifier matches a code challenge (PKCE, S256).
pub(crate) fn matches_challenge(verifier: &str, challenge: &str) -> bool {
    let is_well_formed = (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let hash = domain::secret::base64url(digest(&SHA256, verifier.as_bytes()).as_ref());
    is_well_formed
        && aws_lc_rs::constant_time::verify_slices_are_equal(hash.as_bytes(), challenge.as_bytes()).is_ok()
}

/// What the fuzz targets call.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing {
    use super::{ClientCredentials, EndpointError, HeaderMap, Params};

    /// Id, secret, and whether they came from the header.
    pub(crate) fn client_credentials(
        headers: &HeaderMap,
        form: &Params,
    ) -> Result<(String, Option<String>, bool), EndpointError> {
        let ClientCredentials { id, secret, used_basic } = super::client_credentials(headers, form)?;
        Ok((id, secret, used_basic))
    }
}
