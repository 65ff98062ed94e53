//! Errors of the pages, and the error page that explains them to the user.

use axum::http::StatusCode;
use domain::Realm;
use store::{Client, StoreError};

use super::browser::BrowserContext;
use super::form_body::FormError;
use super::response::{self, Response};
use crate::authorization_request::TargetError;
use crate::keys::KeyError;
use crate::pages::{self, ErrorKind, ErrorPage, RedirectAddresses};
use crate::site::Site;

/// An error that is shown to the user as a page.
#[derive(Debug)]
pub(crate) struct PageError {
    status: StatusCode,
    kind: ErrorKind,
    detail: String,
    ui_locales: Option<String>,
    retry_after_seconds: Option<u64>,
    /// The redirect URI that was sent, and those that are registered; `aldaba dev` alone shows them.
    addresses: Option<Box<(String, Client)>>,
}

impl PageError {
    pub(crate) fn new(status: StatusCode, kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            detail: detail.into(),
            ui_locales: None,
            retry_after_seconds: None,
            addresses: None,
        }
    }

    pub(crate) fn bad_request(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, kind, detail)
    }

    pub(crate) fn with_locales(self, ui_locales: Option<&str>) -> Self {
        Self { ui_locales: ui_locales.map(Into::into), ..self }
    }

    /// With the addresses of the client, for its developers. Registered addresses are not public: only `aldaba dev` shows them.
    pub(crate) fn with_addresses(self, site: &Site, sent: Option<&str>, client: &Client) -> Self {
        let is_shown = site.settings.is_development && self.kind == ErrorKind::RedirectUnregistered;
        let addresses = sent.filter(|_| is_shown).map(|sent| Box::new((sent.to_owned(), client.clone())));
        Self { addresses, ..self }
    }

    pub(crate) fn page(&self, site: &Site, browser: &BrowserContext) -> Response {
        // The page shows the request id: support finds the reason in this log line.
        let (status, address) = (self.status.as_u16(), browser.address);
        tracing::info!(status, kind = ?self.kind, detail = self.detail, %address, "error page shown");
        let lang = browser.lang(self.ui_locales.as_deref());
        let may_repeat = matches!(self.kind, ErrorKind::Busy | ErrorKind::Internal);
        let retry = browser.here(lang).filter(|_| may_repeat);
        let home = match site.realm {
            Realm::Users => site.path_with_lang(site.home(), lang),
            Realm::Developers | Realm::Operators => site.path(site.home()),
        };
        let model = ErrorPage {
            lang,
            assets: &site.assets,
            language_switch: Some(&browser.here_in(lang.other())),
            realm: site.realm,
            status: self.status.as_u16(),
            kind: self.kind,
            detail: &self.detail,
            request_id: &browser.audit.request_id,
            retry: retry.as_deref(),
            home: &home,
            addresses: self.addresses.as_deref().map(|(sent, client)| RedirectAddresses {
                client: client.id.as_str(),
                sent,
                registered: &client.redirect_uris,
            }),
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
