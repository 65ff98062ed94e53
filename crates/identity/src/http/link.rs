//! What the pages of one-time links share. The link of a mail leads to a page that puts its secret into a ticket, so that
//! the secret leaves the address bar; opening a page never uses the link up, because mail scanners open links.

use axum::http::StatusCode;
use domain::Secret;
use ui::Lang;

use super::browser::BrowserContext;
use super::page_error::PageError;
use super::response::{self, Response};
use crate::flow::ticket::{LinkToken, PendingRequest, TicketState};
use crate::new_password::NewPasswordError;
use crate::pages::{self, LinkError, LinkKind, VoidLinkPage};
use crate::params::{Params, query};
use crate::sign_in::BUSY_SECONDS;
use crate::site::Site;

/// Longer secrets are of no link.
const TOKEN_BYTES_MAX: usize = 64;

/// The secret of a link that a request brings.
pub(super) enum LinkRequest {
    /// In the URL, as in the mail.
    FromMail(Secret),
    /// In a ticket of this browser.
    Ticket {
        token: Secret,
        text: String,
    },
    /// In a ticket that has expired or that another browser got.
    StaleTicket(Secret),
    None,
}

impl Site {
    pub(super) fn link_request(&self, browser: &BrowserContext, params: &Params) -> LinkRequest {
        if let Some(token) = params.get("token").filter(|token| token.len() <= TOKEN_BYTES_MAX) {
            return LinkRequest::FromMail(Secret::new(token));
        }
        let Some(text) = params.get("ticket") else { return LinkRequest::None };
        match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => match ticket.pending {
                PendingRequest::Link(LinkToken(token)) => {
                    LinkRequest::Ticket { token: Secret::new(token), text: text.to_owned() }
                }
                _ => LinkRequest::None,
            },
            TicketState::Stale(PendingRequest::Link(LinkToken(token))) => {
                LinkRequest::StaleTicket(Secret::new(token))
            }
            TicketState::Stale(_) | TicketState::Unreadable => LinkRequest::None,
        }
    }

    /// Issues a ticket that carries the secret of a link; returns a new browser id where the browser has none.
    pub(super) fn link_ticket(
        &self,
        browser: &BrowserContext,
        token: &Secret,
    ) -> Result<(String, Option<Secret>), PageError> {
        let pending = PendingRequest::Link(LinkToken(token.reveal().to_owned()));
        self.issue_ticket(browser, pending, self.clock.now())
    }

    /// Leads the browser from the link of a mail to the same page without the secret in its URL.
    pub(super) fn without_token(
        &self,
        browser: &BrowserContext,
        page: &str,
        token: &Secret,
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) = self.link_ticket(browser, token)?;
        let mut params = vec![("ticket", ticket.as_str())];
        params.extend(browser.selected_lang().map(|lang| ("lang", lang)));
        let next = response::redirect(&self.path(&format!("{page}?{}", query(params))));
        Ok(self.with_browser_cookie(next, browser_id.as_ref()))
    }

    /// The same page for every link that does not work: unknown, used, replaced, revoked or expired.
    pub(super) fn void_link_page(&self, browser: &BrowserContext, kind: LinkKind) -> Response {
        let lang = browser.lang(None);
        let is_reset_offered = kind == LinkKind::Reset && self.account_mails.is_sent();
        let forgot = is_reset_offered.then(|| self.path_with_lang("forgot", lang));
        let model = VoidLinkPage {
            lang,
            assets: &self.assets,
            language_switch: None,
            kind,
            contact: self.account_mails.contact(),
            forgot: forgot.as_deref(),
            sign_in: &self.path_with_lang("login", lang),
        };
        response::page(StatusCode::NOT_FOUND, pages::void_link(&model))
    }

    pub(super) fn path_with_lang(&self, page: &str, lang: Lang) -> String {
        self.path(&format!("{page}?{}", query([("lang", lang.tag())])))
    }
}

/// Why the form is shown again: the page was open for too long, or the browser accepts no cookies.
pub(super) fn stale_error(browser: &BrowserContext) -> LinkError {
    if browser.browser_id.is_some() { LinkError::Expired } else { LinkError::NoCookies }
}

impl From<NewPasswordError> for LinkError {
    fn from(error: NewPasswordError) -> Self {
        match error {
            NewPasswordError::Refused(refusal) => Self::Password(refusal),
            NewPasswordError::RepetitionDiffers => Self::RepetitionDiffers,
            NewPasswordError::Busy => Self::Busy { seconds: BUSY_SECONDS },
        }
    }
}
