//! Forms from outside: bounded, of the right type, read once.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::params::Params;

pub(crate) const FORM_BYTES_MAX: usize = 64 * 1024;

/// Why a form could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAForm {
    WrongType,
    TooLong,
    CutOff,
    /// It was on another site's page.
    Foreign,
}

impl NotAForm {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::WrongType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::CutOff => StatusCode::BAD_REQUEST,
            Self::Foreign => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::WrongType => "Content-Type must be application/x-www-form-urlencoded",
            Self::TooLong => "the body is longer than 64 KiB",
            Self::CutOff => "the body was cut off",
            Self::Foreign => "the form was sent by another site's page",
        }
    }
}

pub(crate) async fn form(headers: &HeaderMap, mut body: Body) -> Result<Params, NotAForm> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    let read = match Limited::new(&mut body, FORM_BYTES_MAX).collect().await {
        Ok(read) => read.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            web::drain_in_background(body, DRAIN_BYTES_MAX);
            return Err(NotAForm::TooLong);
        }
        Err(_) => return Err(NotAForm::CutOff),
    };
    // Nothing at all needs no type.
    if !read.is_empty() && !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(NotAForm::WrongType);
    }
    Ok(Params::parse(&read))
}

/// How much of a refused body is still read, so that its sender sees the answer.
const DRAIN_BYTES_MAX: usize = 8 * 1024 * 1024;
