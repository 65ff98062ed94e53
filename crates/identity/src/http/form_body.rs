//! Reads `application/x-www-form-urlencoded` bodies of bounded size.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use domain::ClientId;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::params::Params;

pub(crate) const FORM_BYTES_MAX: usize = 64 * 1024;
const CLIENT_ID_BYTES_MAX: usize = 256;
/// For the whole form; the listener ends one that stalls before that.
const FORM_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a form was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormError {
    WrongContentType,
    TooLong,
    Truncated,
    TooSlow,
    /// A page of another site submitted the form.
    CrossSite,
}

impl FormError {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::WrongContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Truncated => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::CrossSite => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::WrongContentType => "Content-Type must be application/x-www-form-urlencoded.",
            Self::TooLong => "The body is longer than 64 KiB.",
            Self::Truncated => "The connection closed before the whole body arrived. Send the request again.",
            Self::TooSlow => "The body took too long to arrive. Send the request again.",
            Self::CrossSite => {
                "A page of another site submitted this form. Open the page again and submit it there."
            }
        }
    }
}

/// The client that a form names, for CORS: browser applications send their id in the body.
pub(super) fn client_id(form: &Result<Params, FormError>) -> Option<ClientId> {
    let id = form.as_ref().ok()?.get("client_id")?;
    Some(id).filter(|id| id.len() <= CLIENT_ID_BYTES_MAX && !id.contains('\0')).map(ClientId::new)
}

pub(crate) async fn form(headers: &HeaderMap, mut body: Body) -> Result<Params, FormError> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let reading = Limited::new(&mut body, FORM_BYTES_MAX).collect();
    let read = match tokio::time::timeout(FORM_TIMEOUT, reading).await {
        Ok(Ok(read)) => read.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            web::drain_in_background(body, DRAIN_BYTES_MAX);
            return Err(FormError::TooLong);
        }
        Ok(Err(error)) if !web::is_body_stalled(&*error) => return Err(FormError::Truncated),
        Ok(Err(_)) | Err(_) => return Err(FormError::TooSlow),
    };
    // An empty body needs no Content-Type.
    if !read.is_empty() && !media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(FormError::WrongContentType);
    }
    Ok(Params::parse(&read))
}

/// Bytes of a refused body that are still read, so that the sender sees the response.
const DRAIN_BYTES_MAX: usize = 8 * 1024 * 1024;
