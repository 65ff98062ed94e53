//! What an authorization response says to the program around the identity provider: it is attached to the HTTP response.

use domain::{ClientId, Secret};

use super::response::Response;
use crate::authorization_request::{AuthorizationRequest, ResponseTarget};

/// Attached (as an extension) to every response that sends a browser to a client's redirect URI.
#[derive(Clone, Debug)]
pub struct AuthorizationResponse {
    pub client: ClientId,
    pub redirect_uri: String,
    /// None for an error.
    pub code: Option<Secret>,
    /// Whether only the holder of a PKCE verifier can exchange the code.
    pub has_challenge: bool,
}

impl AuthorizationResponse {
    pub(super) fn with_code(request: &AuthorizationRequest, code: &Secret) -> Self {
        let has_challenge = request.challenge.is_some();
        Self { code: Some(code.clone()), has_challenge, ..Self::with_error(&request.target) }
    }

    pub(super) fn with_error(target: &ResponseTarget) -> Self {
        let redirect_uri = target.redirect_uri.clone();
        Self { client: target.client.clone(), redirect_uri, code: None, has_challenge: false }
    }

    pub(super) fn attach(self, mut response: Response) -> Response {
        response.extensions_mut().insert(self);
        response
    }
}
