//! Errors of the pages, and the error page that explains them to the user.

use axum::http::StatusCode;
use store::StoreError;

use super::browser::BrowserContext;
use super::form_body::FormError;
use super::response::{self, Response};
use crate::authorization_request::TargetError;
use crate::keys::KeyError;
use crate::pages::{self, ErrorKind, ErrorPage};
use crate::site::Site;

/// An error that is shown to the user as a page.
#[derive(Debug)]
pub(crate) struct PageError {
    status: StatusCode,
    kind: ErrorKind,
    detail: String,
    ui_locales: Option<String>,
    retry_after_seconds: Option<u64>,
}

impl PageError {
    pub(crate) fn new(status: StatusCode, kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), ui_locales: None, retry_after_seconds: None }
    }

    pub(crate) fn bad_request(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, detail)
    }

    pub(crate) fn with_locales(self, ui_locales: Option<&str>) -> Self {
        Self { ui_locales: ui_locales.map(Into::into), ..self }
    }

    pub(crate) fn page(&self, site: &Site, browser: &BrowserContext) -> Response {
        // The page shows the request id: support finds the reason in this log line.
        let (status, address) = (self.status.as_u16(), browser.address);
        tracing::info!(status, kind = ?self.kind, detail = self.detail, %address, "error page shown");
        let model = ErrorPage {
            lang: browser.lang(self.ui_locales.as_deref()),
            assets: &site.assets,
            language_switch: None,
            status: self.status.as_u16(),
            kind: self.kind,
            detail: &self.detail,
            request_id: &browser.audit.request_id,
        };
        let page = response::page(self.status, pages::error_page(&model));
        match self.retry_after_seconds {
            Some(seconds) => response::with_retry_after(page, seconds),
            None => page,
        }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        match error {
            // What the person signed in with was changed in this moment.
            StoreError::ProofVoid => Self::bad_request(ErrorKind::Expired, error.to_string()),
            StoreError::Unavailable(_) | StoreError::Full(_) => {
                tracing::warn!(%error, "store unavailable");
                let unavailable = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorKind::Busy, "");
                Self { retry_after_seconds: Some(5), ..unavailable }
            }
            _ => {
                tracing::error!(%error, "store failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorKind::Internal, "")
            }
        }
    }
}

impl From<KeyError> for PageError {
    fn from(fault: KeyError) -> Self {
        match fault {
            KeyError::Store(error) => error.into(),
            fault => {
                tracing::error!(error = %fault, "signing failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorKind::Internal, "")
            }
        }
    }
}

impl From<FormError> for PageError {
    fn from(error: FormError) -> Self {
        Self::new(error.status(), ErrorKind::BadRequest, error.description())
    }
}

impl From<TargetError> for PageError {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::UnknownClient => Self::bad_request(
                ErrorKind::UnknownClient,
                "client_id is missing or unknown, or the client is disabled.",
            ),
            TargetError::NotForSignIn => Self::bad_request(
                ErrorKind::NotForSignIn,
                "The client is a resource server: it checks tokens and signs nobody in.",
            ),
            TargetError::RedirectMissing => {
                Self::bad_request(ErrorKind::RedirectMissing, "redirect_uri is missing.")
            }
            TargetError::RedirectUnregistered => Self::bad_request(
                ErrorKind::RedirectUnregistered,
                "redirect_uri does not exactly match one that is registered for this client_id.",
            ),
        }
    }
}
