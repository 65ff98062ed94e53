//! `/forgot` and `/register`: pages that ask for an address and mail it a one-time link. The response, and the work before
//! it, are the same whether the address has an account or not.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::ids::InvitationId;
use domain::{Realm, Secret};
use store::{
    Actor, AuditContext, INVITATION_LIFE, Invitation, InvitationLink, InvitationOutcome, InvitationState,
    PASSWORD_RESET_LIFE, Status, StoreError,
};
use ui::Lang;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::link::stale_error;
use super::page_error::PageError;
use super::response::{self, Response};
use crate::Identity;
use crate::flow::ticket::{PendingRequest, TicketState};
use crate::pages::{self, AddressPage, ErrorKind, LinkError, MailPurpose, MailSentPage};
use crate::params::{Params, query};
use crate::sign_in::MailAdmission;
use crate::site::Site;

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    site.render(&browser, site.show_address_page(&browser, &params, MailPurpose::Reset))
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.ask_for_mail(&browser, &form, MailPurpose::Reset)).await)
}

pub(super) async fn get_registration(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    site.render(&browser, site.show_address_page(&browser, &params, MailPurpose::Registration))
}

pub(super) async fn post_registration(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.ask_for_mail(&browser, &form, MailPurpose::Registration)).await)
}

impl MailPurpose {
    fn page(self) -> &'static str {
        match self {
            Self::Reset => "forgot",
            Self::Registration => "register",
        }
    }
}

impl Site {
    /// Whether people of this realm can have such a mail.
    pub(super) fn is_offered(&self, purpose: MailPurpose) -> bool {
        let is_for_realm = match purpose {
            MailPurpose::Reset => true,
            MailPurpose::Registration => {
                self.realm == Realm::Developers && self.settings.is_registration_open
            }
        };
        is_for_realm && self.account_mails.is_sent()
    }

    fn show_address_page(
        &self,
        browser: &BrowserContext,
        params: &Params,
        purpose: MailPurpose,
    ) -> Result<Response, PageError> {
        if !self.is_offered(purpose) {
            return Err(PageError::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, ""));
        }
        let text = params.get("ticket").unwrap_or_default();
        let ticket =
            matches!(self.open_ticket(browser, text), TicketState::Valid(_)).then(|| text.to_owned());
        self.address_page(browser, purpose, ticket, "", None)
    }

    fn address_page(
        &self,
        browser: &BrowserContext,
        purpose: MailPurpose,
        ticket: Option<String>,
        email: &str,
        error: Option<LinkError>,
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) = match ticket {
            Some(ticket) => (ticket, None),
            None => self.issue_ticket(browser, PendingRequest::Home, self.clock.now())?,
        };
        let lang = browser.lang(None);
        let other = query([("ticket", ticket.as_str()), ("lang", lang.other().tag())]);
        let model = AddressPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("{}?{other}", purpose.page()))),
            purpose,
            action: &self.path_with_lang(purpose.page(), lang),
            ticket: &ticket,
            email,
            sign_in: &self.path_with_lang("login", lang),
            error,
        };
        let status = error.map_or(StatusCode::OK, LinkError::status);
        let page = response::page(status, pages::address(&model));
        let page = response::with_retry_after_if(page, error.and_then(LinkError::retry_after_seconds));
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn ask_for_mail(
        &self,
        browser: &BrowserContext,
        form: &Params,
        purpose: MailPurpose,
    ) -> Result<Response, PageError> {
        if !self.is_offered(purpose) {
            return Err(PageError::new(StatusCode::NOT_FOUND, ErrorKind::NotFound, ""));
        }
        let typed = form.get("email").unwrap_or_default();
        let text = form.get("ticket").unwrap_or_default();
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(_) => Some(text.to_owned()),
            TicketState::Stale(_) | TicketState::Unreadable => None,
        };
        if ticket.is_none() {
            return self.address_page(browser, purpose, None, typed, Some(stale_error(browser)));
        }
        let Some(email) = domain::accounts::normalized_email(typed) else {
            return self.address_page(browser, purpose, ticket, typed, Some(LinkError::EmailRefused));
        };
        let lang = browser.lang(None);
        match self.mail_throttle.admit(self.realm, &email, browser.address).await? {
            MailAdmission::Admitted => self.send_later(browser, purpose, email, lang),
            MailAdmission::RecipientHasEnough => {}
            MailAdmission::Refused { retry_after } => {
                let error = LinkError::throttled(retry_after);
                return self.address_page(browser, purpose, ticket, typed, Some(error));
            }
        }
        let model = MailSentPage {
            lang,
            assets: &self.assets,
            language_switch: None,
            purpose,
            contact: self.account_mails.contact(),
            sign_in: &self.path_with_lang("login", lang),
        };
        Ok(response::page(StatusCode::OK, pages::mail_sent(&model)))
    }

    /// Looks the address up and queues its mail in a task of its own, so that the response takes the same time whether the
    /// address has an account or not.
    fn send_later(&self, browser: &BrowserContext, purpose: MailPurpose, email: String, lang: Lang) {
        let (identity, realm, audit) = (self.shared(), self.realm, browser.audit.clone());
        tokio::spawn(async move {
            let sent = match purpose {
                MailPurpose::Reset => identity.mail_reset(realm, &email, &audit).await,
                MailPurpose::Registration => identity.mail_registration(realm, &email, lang, &audit).await,
            };
            if let Err(error) = sent {
                tracing::warn!(%error, "a mail that somebody asked for could not be queued");
            }
        });
    }
}

impl Identity {
    /// Mails the link of a reset to an account that may sign in.
    async fn mail_reset(&self, realm: Realm, email: &str, audit: &AuditContext) -> store::Result<()> {
        let found = self.store.find_account_by_email(realm, email).await?;
        let Some(account) = found.filter(|account| account.status != Status::Disabled) else {
            return Ok(());
        };
        let (token, now) = (Secret::new(self.random.token()), self.clock.now());
        let url = self.account_mails.reset_url(realm, &token);
        if let Some(mail) = self.account_mails.password_reset(&account, &url, now) {
            let until = now + PASSWORD_RESET_LIFE;
            self.store.request_password_reset(&account.id, &token, until, Some(&mail), audit).await?;
        }
        Ok(())
    }

    /// Mails an invitation to an address that has no account. Who was invited before gets that invitation again.
    async fn mail_registration(
        &self,
        realm: Realm,
        email: &str,
        lang: Lang,
        audit: &AuditContext,
    ) -> store::Result<()> {
        if self.store.find_account_by_email(realm, email).await?.is_some() {
            return Ok(());
        }
        let (token, now) = (Secret::new(self.random.token()), self.clock.now());
        let expires_at = now + INVITATION_LIFE;
        let url = self.account_mails.invitation_url(realm, &token);
        let open = self.store.find_open_invitation(realm, email).await?;
        // An expired one may have promised more than a registration gives.
        let open = open.filter(|open| open.state(now) == InvitationState::Pending);
        let is_new = open.is_none();
        let expires_at = open.as_ref().map_or(expires_at, |open| open.expires_at);
        let invitation = open.unwrap_or_else(|| Invitation {
            id: InvitationId::from(self.random.guid()),
            realm,
            email: email.to_owned(),
            name: String::new(),
            lang: lang.tag().to_owned(),
            tenants: Vec::new(),
            role: None,
            team: String::new(),
            is_team_owner: false,
            invited_by: Actor::Anonymous,
            created_at: now,
            expires_at,
            accepted_at: None,
            revoked_at: None,
        });
        let mail = self.account_mails.invitation(&invitation, &url, now);
        let link = InvitationLink { token: &token, expires_at, mail: mail.as_ref() };
        if !is_new {
            return match self.store.resend_invitation(&invitation.id, &link, audit).await? {
                InvitationOutcome::Changed(_) | InvitationOutcome::NotFound | InvitationOutcome::Ended(_) => {
                    Ok(())
                }
            };
        }
        match self.store.make_invitation(&invitation, &link, audit).await {
            // Somebody was faster.
            Err(StoreError::Exists(_)) => Ok(()),
            made => made,
        }
    }
}
