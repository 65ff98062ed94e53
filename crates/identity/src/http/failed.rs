//! What can go wrong on a page, and the page that says so.

use axum::http::StatusCode;
use store::StoreError;

use super::answer::{self, Answer};
use super::body::NotAForm;
use super::visit::Visit;
use crate::Identity;
use crate::keys::KeyFault;
use crate::pages::{self, ErrorKind, ErrorPage};
use crate::request::Unanswerable;

/// A failure that the person in front of the screen is told.
#[derive(Debug)]
pub(crate) struct Failed {
    status: StatusCode,
    kind: ErrorKind,
    detail: String,
    ui_locales: Option<String>,
    retry_after_seconds: Option<u64>,
}

impl Failed {
    pub(crate) fn new(status: StatusCode, kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { status, kind, detail: detail.into(), ui_locales: None, retry_after_seconds: None }
    }

    pub(crate) fn bad(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, detail)
    }

    pub(crate) fn speaking(self, ui_locales: Option<&str>) -> Self {
        Self { ui_locales: ui_locales.map(Into::into), ..self }
    }

    pub(crate) fn page(&self, identity: &Identity, visit: &Visit) -> Answer {
        // The request's id stands on the page: whoever is told it must find the reason here.
        let (status, address) = (self.status.as_u16(), visit.address);
        tracing::info!(status, kind = ?self.kind, detail = self.detail, %address, "an error page was shown");
        let model = ErrorPage {
            lang: visit.lang(self.ui_locales.as_deref()),
            assets: &identity.assets,
            language_switch: None,
            status: self.status.as_u16(),
            kind: self.kind,
            detail: &self.detail,
            request_id: &visit.context.request_id,
        };
        let page = answer::page(self.status, pages::error_page(&model), None);
        match self.retry_after_seconds {
            Some(seconds) => answer::with_retry_after(page, seconds),
            None => page,
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::Full(_) => {
                tracing::warn!(%error, "the store does not answer");
                let busy = Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorKind::Busy, "");
                Self { retry_after_seconds: Some(5), ..busy }
            }
            _ => {
                tracing::error!(%error, "the store failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorKind::Broken, "")
            }
        }
    }
}

impl From<KeyFault> for Failed {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Store(error) => error.into(),
            fault => {
                tracing::error!(error = %fault, "no token can be signed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorKind::Broken, "")
            }
        }
    }
}

impl From<NotAForm> for Failed {
    fn from(not: NotAForm) -> Self {
        Self::new(not.status(), ErrorKind::BadRequest, not.description())
    }
}

impl From<Unanswerable> for Failed {
    fn from(why: Unanswerable) -> Self {
        match why {
            Unanswerable::Client => Self::bad(
                ErrorKind::UnknownClient,
                "client_id is missing, unknown, or names an application that is disabled",
            ),
            Unanswerable::RedirectMissing => Self::bad(ErrorKind::RedirectMissing, "redirect_uri is missing"),
            Unanswerable::RedirectUnregistered => Self::bad(
                ErrorKind::RedirectUnregistered,
                "redirect_uri is not, character by character, one that is registered for this client_id",
            ),
        }
    }
}
