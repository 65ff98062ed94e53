//! `/reset`: the page on which an account's owner sets a new password with the link of a mail.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::Secret;
use domain::password_rules::PasswordOwner;
use store::{Account, Actor};

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::link::{LinkRequest, stale_error};
use super::page_error::PageError;
use super::response::{self, Response};
use crate::pages::{self, LinkError, LinkKind, PasswordSetPage, ResetPage};
use crate::params::{Params, query};
use crate::site::Site;

const PAGE: &str = "reset";

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    site.render(&browser, site.show_reset(&browser, &params).await)
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.reset_password(&browser, &form)).await)
}

impl Site {
    async fn show_reset(&self, browser: &BrowserContext, params: &Params) -> Result<Response, PageError> {
        let (token, ticket) = match self.link_request(browser, params) {
            LinkRequest::FromMail(token) => {
                return Ok(match self.resettable_account(&token).await? {
                    Some(_) => self.without_token(browser, PAGE, &token)?,
                    None => self.void_link_page(browser, LinkKind::Reset),
                });
            }
            LinkRequest::Ticket { token, text } => (token, Some(text)),
            LinkRequest::StaleTicket(token) => (token, None),
            LinkRequest::None => return Ok(self.void_link_page(browser, LinkKind::Reset)),
        };
        match self.resettable_account(&token).await? {
            Some(account) => self.reset_page(browser, &account, &token, ticket, None),
            None => Ok(self.void_link_page(browser, LinkKind::Reset)),
        }
    }

    async fn resettable_account(&self, token: &Secret) -> store::Result<Option<Account>> {
        self.store.find_password_reset(self.realm, token, self.clock.now()).await
    }

    /// The page with the given ticket, or with a new one.
    fn reset_page(
        &self,
        browser: &BrowserContext,
        account: &Account,
        token: &Secret,
        ticket: Option<String>,
        error: Option<LinkError>,
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) = match ticket {
            Some(ticket) => (ticket, None),
            None => self.link_ticket(browser, token)?,
        };
        let lang = browser.lang(Some(&account.lang));
        let other = query([("ticket", ticket.as_str()), ("lang", lang.other().tag())]);
        let model = ResetPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("{PAGE}?{other}"))),
            action: &self.path_with_lang(PAGE, lang),
            ticket: &ticket,
            email: &account.email,
            error,
        };
        let status = error.map_or(StatusCode::OK, LinkError::status);
        let page = response::page(status, pages::reset(&model));
        let page = response::with_retry_after_if(page, error.and_then(LinkError::retry_after_seconds));
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn reset_password(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let (token, ticket) = match self.link_request(browser, form) {
            LinkRequest::Ticket { token, text } => (token, Some(text)),
            LinkRequest::StaleTicket(token) => (token, None),
            // A form never has the secret itself.
            LinkRequest::FromMail(_) | LinkRequest::None => {
                return Ok(self.void_link_page(browser, LinkKind::Reset));
            }
        };
        let Some(account) = self.resettable_account(&token).await? else {
            return Ok(self.void_link_page(browser, LinkKind::Reset));
        };
        let owner = PasswordOwner { name: &account.given_name, email: &account.email };
        let password = Secret::new(form.get("new_password").unwrap_or_default());
        let repeated = form.get("repeated_password").unwrap_or_default();
        let hash = if ticket.is_none() {
            Err(stale_error(browser))
        } else {
            self.new_password(password, repeated, &owner).await.map_err(LinkError::from)
        };
        let hash = match hash {
            Ok(hash) => hash,
            Err(error) => return self.reset_page(browser, &account, &token, ticket, Some(error)),
        };
        let mail = self.account_mails.password_changed(&account, self.clock.now());
        let audit = browser.audit.by(Actor::account(self.realm, account.id.clone()));
        let set = self.store.reset_password(self.realm, &token, &hash, mail.as_ref(), &audit).await?;
        Ok(match set {
            Some(account) => self.password_set_page(browser, &account),
            None => self.void_link_page(browser, LinkKind::Reset),
        })
    }

    /// Leads to the sign-in, which asks for the second factor too.
    fn password_set_page(&self, browser: &BrowserContext, account: &Account) -> Response {
        let lang = browser.lang(Some(&account.lang));
        let model = PasswordSetPage {
            lang,
            assets: &self.assets,
            language_switch: None,
            sign_in: &self.path_with_lang("login", lang),
        };
        response::page(StatusCode::OK, pages::password_set(&model))
    }
}
