//! `/invitation`: the page on which an invited person makes their account.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::password_rules::PasswordOwner;
use domain::{AccountId, NAME_CHARS_MAX, Realm, Secret, checked_name};
use store::{AcceptOutcome, Account, Actor, Invitation, InvitedPerson};
use ui::Lang;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::link::{LinkRequest, stale_error};
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::SignIn;
use crate::pages::{self, InvitationPage, LinkError, LinkKind};
use crate::params::{Params, query};
use crate::sign_in::AUTHENTICATION_METHODS;
use crate::site::Site;

const PAGE: &str = "invitation";
/// The console's page with the first steps of an installation.
const FIRST_STEPS: &str = "setup";

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    site.render(&browser, site.show_invitation(&browser, &params).await)
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.accept_invitation(&browser, &form)).await)
}

/// What the form shows: the invitation, and what was typed.
struct InvitationForm<'a> {
    browser: &'a BrowserContext,
    invitation: &'a Invitation,
    token: &'a Secret,
    name: &'a str,
    /// The address, where the invitation has none.
    email: &'a str,
}

impl Site {
    async fn show_invitation(
        &self,
        browser: &BrowserContext,
        params: &Params,
    ) -> Result<Response, PageError> {
        let (token, ticket) = match self.link_request(browser, params) {
            LinkRequest::FromMail(token) => {
                return Ok(match self.pending_invitation(&token).await? {
                    Some(_) => self.without_token(browser, PAGE, &token)?,
                    None => self.void_link_page(browser, LinkKind::Invitation),
                });
            }
            LinkRequest::Ticket { token, text } => (token, Some(text)),
            LinkRequest::StaleTicket(token) => (token, None),
            LinkRequest::None => return Ok(self.void_link_page(browser, LinkKind::Invitation)),
        };
        let Some(invitation) = self.pending_invitation(&token).await? else {
            return Ok(self.void_link_page(browser, LinkKind::Invitation));
        };
        let name = invitation.name.clone();
        let form = InvitationForm { browser, invitation: &invitation, token: &token, name: &name, email: "" };
        self.invitation_page(&form, ticket, None, StatusCode::OK)
    }

    async fn pending_invitation(&self, token: &Secret) -> store::Result<Option<Invitation>> {
        self.store.find_invitation_by_token(self.realm, token, self.clock.now()).await
    }

    /// The page with the given ticket, or with a new one.
    fn invitation_page(
        &self,
        form: &InvitationForm<'_>,
        ticket: Option<String>,
        error: Option<LinkError>,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let InvitationForm { browser, invitation, .. } = form;
        let (ticket, browser_id) = match ticket {
            Some(ticket) => (ticket, None),
            None => self.link_ticket(browser, form.token)?,
        };
        let lang = browser.lang(Some(&invitation.lang));
        let other = query([("ticket", ticket.as_str()), ("lang", lang.other().tag())]);
        let model = InvitationPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("{PAGE}?{other}"))),
            realm: self.realm,
            action: &self.path_with_lang(PAGE, lang),
            ticket: &ticket,
            fixed_email: Some(invitation.email.as_str()).filter(|email| !email.is_empty()),
            email: form.email,
            name: form.name,
            error,
        };
        let page = response::page(status, pages::invitation(&model));
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn accept_invitation(
        &self,
        browser: &BrowserContext,
        form: &Params,
    ) -> Result<Response, PageError> {
        let (token, ticket) = match self.link_request(browser, form) {
            LinkRequest::Ticket { token, text } => (token, Some(text)),
            LinkRequest::StaleTicket(token) => (token, None),
            // A form never has the secret itself.
            LinkRequest::FromMail(_) | LinkRequest::None => {
                return Ok(self.void_link_page(browser, LinkKind::Invitation));
            }
        };
        let Some(invitation) = self.pending_invitation(&token).await? else {
            return Ok(self.void_link_page(browser, LinkKind::Invitation));
        };
        let (name, email) =
            (form.get("given_name").unwrap_or_default(), form.get("email").unwrap_or_default());
        let shown = InvitationForm { browser, invitation: &invitation, token: &token, name, email };
        let accepted = if ticket.is_none() {
            Err(stale_error(browser))
        } else {
            self.make_account(&shown, form).await?
        };
        match accepted {
            Ok(Some(account)) => self.begin_invited_session(browser, &account, &invitation).await,
            Ok(None) => Ok(self.void_link_page(browser, LinkKind::Invitation)),
            Err(error) => {
                let page = self.invitation_page(&shown, ticket, Some(error), error.status())?;
                Ok(response::with_retry_after_if(page, error.retry_after_seconds()))
            }
        }
    }

    /// Makes the account; none if the link has become void meanwhile.
    async fn make_account(
        &self,
        shown: &InvitationForm<'_>,
        form: &Params,
    ) -> Result<Result<Option<Account>, LinkError>, PageError> {
        let InvitationForm { browser, invitation, token, .. } = *shown;
        let Some(name) = checked_name(shown.name, NAME_CHARS_MAX) else {
            return Ok(Err(LinkError::NameRefused));
        };
        let email = if invitation.email.is_empty() {
            domain::accounts::normalized_email(shown.email)
        } else {
            Some(invitation.email.clone())
        };
        let Some(email) = email else { return Ok(Err(LinkError::EmailRefused)) };
        let password = Secret::new(form.get("new_password").unwrap_or_default());
        let repeated = form.get("repeated_password").unwrap_or_default();
        let owner = PasswordOwner { name, email: &email };
        let password_hash = match self.new_password(password, repeated, &owner).await {
            Ok(hash) => hash,
            Err(error) => return Ok(Err(error.into())),
        };
        let lang = Lang::choose(form.get("lang"), None);
        let person = InvitedPerson {
            id: AccountId::from(self.random.guid()),
            email,
            given_name: name.to_owned(),
            lang: lang.tag().to_owned(),
            password_hash,
        };
        let audit = browser.audit.by(Actor::account(self.realm, person.id.clone()));
        Ok(match self.store.accept_invitation(self.realm, token, &person, &audit).await? {
            AcceptOutcome::Accepted(account) => Ok(Some(account)),
            AcceptOutcome::LinkIsVoid => Ok(None),
            AcceptOutcome::AccountExists => Err(LinkError::AccountExists),
        })
    }

    /// Signs the browser in to the new account. A session that it had ends. The first operator, whose invitation names nobody,
    /// gets to the first steps of an installation.
    async fn begin_invited_session(
        &self,
        browser: &BrowserContext,
        account: &Account,
        invitation: &Invitation,
    ) -> Result<Response, PageError> {
        let entry = self.sign_in_entry(browser, account).note("first session of an invited account");
        let sign_in = SignIn::with_password(account, AUTHENTICATION_METHODS);
        let new = self.begin_session(browser, account, &sign_in, &entry).await?;
        let is_first = self.realm == Realm::Operators && invitation.email.is_empty();
        let home = if is_first { FIRST_STEPS } else { self.home() };
        let next = response::redirect(&self.path_in(browser, home));
        Ok(self.with_session(next, &new))
    }
}
