//! CORS (cross-origin resource sharing) for the endpoints that a browser application calls from its own pages: token,
//! userinfo and revocation. Only the origins of the redirect URIs of active browser applications may read their responses.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use axum::response::IntoResponse as _;
use domain::ClientId;

use super::client_auth::EndpointError;
use super::response::Response;
use crate::Identity;
use crate::site::Site;

/// A host name has at most 253 characters.
const ORIGIN_BYTES_MAX: usize = 300;
/// How long browsers may remember the answer to a preflight request.
const MAX_AGE_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// Answers a preflight request, which names no client: the origin must be that of some active browser application. The
/// request that follows must come from the origin of its own client.
pub(super) async fn preflight(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    match site.is_known_origin(&headers).await {
        Ok(true) => {
            allow_origin(&headers, &mut response);
            let answer = response.headers_mut();
            answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
            let allowed = HeaderValue::from_static("authorization, content-type");
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
            answer.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        }
        Ok(false) => {}
        Err(error) => response = EndpointError::from(error).response(),
    }
    vary_by_origin(response)
}

impl Identity {
    /// Lets the page that sent the request read the response, if its origin is one of the client's. An error of a request
    /// that identifies no client can be read by the pages of every active browser application.
    pub(super) async fn with_cors(
        &self,
        headers: &HeaderMap,
        client: Option<&ClientId>,
        mut response: Response,
    ) -> Response {
        match self.may_read(headers, client, response.status()).await {
            Ok(true) => {
                allow_origin(headers, &mut response);
                let exposed = HeaderValue::from_static("retry-after, www-authenticate, x-request-id");
                response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            }
            Ok(false) => {}
            // The request has had its effect; only the page cannot read the response.
            Err(error) => tracing::warn!(%error, "the origin of a request could not be looked up"),
        }
        vary_by_origin(response)
    }

    async fn may_read(
        &self,
        headers: &HeaderMap,
        client: Option<&ClientId>,
        status: StatusCode,
    ) -> store::Result<bool> {
        let Some(origin) = origin(headers) else { return Ok(false) };
        let client = match client {
            Some(id) => self.active_client(id).await?,
            None => None,
        };
        match client {
            Some(client) => Ok(client.origins().contains(origin)),
            None if status.is_success() => Ok(false),
            None => self.is_known_origin(headers).await,
        }
    }

    /// Whether the request comes from the origin of an active browser application.
    async fn is_known_origin(&self, headers: &HeaderMap) -> store::Result<bool> {
        match origin(headers) {
            Some(origin) => self.store.is_client_origin(origin).await,
            None => Ok(false),
        }
    }
}

/// The one value of `Origin`, which browsers send in lower case and without a default port.
fn origin(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(ORIGIN).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok().filter(|origin| origin.len() <= ORIGIN_BYTES_MAX && !origin.contains('\0'))
}

fn allow_origin(headers: &HeaderMap, response: &mut Response) {
    if let Some(origin) = headers.get(ORIGIN) {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

fn vary_by_origin(mut response: Response) -> Response {
    response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
    response
}
