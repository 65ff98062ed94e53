//! `/login`: the sign-in page and the verification of username and password.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{SecondFactorPolicy, Secret};
use store::{Account, AuditEntry, AuditKind, Client, StoreError};
use ui::Lang;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::own_factors;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::SignIn;
use crate::authorization_request::{AuthorizationRequest, TargetError, may_redirect};
use crate::flow::ticket::{PendingRequest, Ticket, TicketState};
use crate::pages::{self, ErrorKind, ForgottenHelp, MailPurpose, PasskeyOffer, SignInError, SignInPage};
use crate::params::{Params, query};
use crate::sign_in::{self, AUTHENTICATION_METHODS, BUSY_SECONDS, PasswordAttempt, PasswordCheck};
use crate::site::Site;
use crate::webauthn::request_options;

pub(super) async fn get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    identity.render(&browser, identity.sign_in_start(&browser, params.get("ticket")).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    identity.render(&browser, Box::pin(identity.sign_in(&browser, &form)).await)
}

/// What the sign-in page needs to know about the request.
pub(super) struct SignInContext<'a> {
    browser: &'a BrowserContext,
    pending: &'a PendingRequest,
    /// The client of the authorization request, if there is one.
    client: Option<Client>,
}

impl SignInContext<'_> {
    fn authorization(&self) -> Option<&AuthorizationRequest> {
        match self.pending {
            PendingRequest::Authorization(request) => Some(request),
            PendingRequest::Home
            | PendingRequest::Logout(_)
            | PendingRequest::SecondFactors
            | PendingRequest::Page(_)
            | PendingRequest::Link(_) => None,
        }
    }

    fn lang(&self) -> Lang {
        self.browser.lang(self.authorization().and_then(|request| request.ui_locales.as_deref()))
    }
}

impl Site {
    async fn sign_in_start(
        &self,
        browser: &BrowserContext,
        ticket: Option<&str>,
    ) -> Result<Response, PageError> {
        let pending = match ticket.map(|text| (text, self.open_ticket(browser, text))) {
            None => PendingRequest::Home,
            Some((text, TicketState::Valid(ticket))) => {
                let context = self.sign_in_context(browser, &ticket.pending).await?;
                return Ok(self.sign_in_page(&context, text, None, "", StatusCode::OK));
            }
            // The page was open for too long, or the link comes from another browser: start again.
            Some((_, TicketState::Stale(pending))) => pending,
            Some((_, TicketState::Unreadable)) => return Err(invalid_ticket()),
        };
        let context = self.sign_in_context(browser, &pending).await?;
        self.fresh_sign_in_page(&context, None, "", StatusCode::OK)
    }

    pub(super) async fn sign_in_context<'a>(
        &self,
        browser: &'a BrowserContext,
        pending: &'a PendingRequest,
    ) -> Result<SignInContext<'a>, PageError> {
        let client = match pending {
            PendingRequest::Authorization(request) => Some(self.requesting_client(request).await?),
            PendingRequest::Home
            | PendingRequest::Logout(_)
            | PendingRequest::SecondFactors
            | PendingRequest::Page(_)
            | PendingRequest::Link(_) => None,
        };
        Ok(SignInContext { browser, pending, client })
    }

    /// The client of a pending request, which may have been disabled or lost its redirect URI meanwhile.
    pub(crate) async fn requesting_client(
        &self,
        request: &AuthorizationRequest,
    ) -> Result<Client, PageError> {
        let client = self.active_client(&request.target.client).await?.ok_or(TargetError::UnknownClient)?;
        let portal = self.sandbox_redirect_uri();
        if !may_redirect(&client, &request.target.redirect_uri, portal.as_deref()) {
            return Err(TargetError::RedirectUnregistered.into());
        }
        Ok(client)
    }

    /// The sign-in page with a new ticket.
    pub(super) fn fresh_sign_in_page(
        &self,
        context: &SignInContext<'_>,
        error: Option<SignInError>,
        username: &str,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let (ticket, browser_id) =
            self.issue_ticket(context.browser, context.pending.clone(), self.clock.now())?;
        let page = self.sign_in_page(context, &ticket, error, username, status);
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    fn sign_in_page(
        &self,
        context: &SignInContext<'_>,
        ticket: &str,
        error: Option<SignInError>,
        username: &str,
        status: StatusCode,
    ) -> Response {
        let lang = context.lang();
        let hint =
            context.authorization().and_then(|request| request.login_hint.as_deref()).unwrap_or_default();
        let language_switch =
            self.path(&format!("login?{}", query([("ticket", ticket), ("lang", lang.other().tag())])));
        // Who has enrolled before they were switched off uses a passkey after the password.
        let is_offered = self.second_factor_policy() != SecondFactorPolicy::Off;
        let relying_party = self.relying_party(context.browser).filter(|_| is_offered);
        let options = relying_party.zip(self.assertion_challenge(ticket));
        let options = options.map(|(party, challenge)| request_options(party, &challenge, &[]));
        let passkey_action = self.path(&format!("login/passkey?{}", query([("lang", lang.tag())])));
        let forgot = self.is_offered(MailPurpose::Reset).then(|| self.path_with_lang("forgot", lang));
        let register =
            self.is_offered(MailPurpose::Registration).then(|| self.path_with_lang("register", lang));
        let help = match &forgot {
            Some(href) => ForgottenHelp::Link(href),
            None => ForgottenHelp::Ask(self.account_mails.contact()),
        };
        let model = SignInPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&language_switch),
            action: &self.path(&format!("login?{}", query([("lang", lang.tag())]))),
            ticket,
            realm: self.realm,
            application: context.client.as_ref().map(|client| client.name.as_str()),
            username: if username.is_empty() { hint } else { username },
            help,
            register: register.as_deref(),
            error,
            passkey: options.as_deref().map(|options| PasskeyOffer { action: &passkey_action, options }),
        };
        let sends_fetch_metadata = context.browser.sends_fetch_metadata;
        let form_action = response::form_action(sends_fetch_metadata, context.pending.destination());
        response::page_with_script(status, pages::sign_in(&model), &form_action)
    }

    async fn sign_in(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let username = sign_in::trimmed_username(form.get("username").unwrap_or_default());
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            TicketState::Stale(pending) => {
                return self.expired_sign_in_page(browser, &pending, username).await;
            }
            TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let context = self.sign_in_context(browser, &ticket.pending).await?;
        let retry_page = |error, status| self.sign_in_page(&context, text, Some(error), username, status);
        let (account, typed) =
            (sign_in::normalized_username(username), form.get("password").unwrap_or_default());
        if account.is_empty() || typed.is_empty() {
            return Ok(retry_page(SignInError::Empty, StatusCode::BAD_REQUEST));
        }
        let attempt = PasswordAttempt {
            realm: self.realm,
            account,
            password: Secret::new(typed),
            address: browser.address,
            known_browser: browser.known_browser.clone(),
        };
        match self.password_sign_in.attempt(attempt).await? {
            PasswordCheck::Accepted(user) => self.password_accepted(browser, &ticket, &user).await,
            PasswordCheck::Rejected(user) => {
                self.audit_failure(browser, user.as_ref(), context.client.as_ref()).await?;
                Ok(retry_page(SignInError::Wrong, StatusCode::BAD_REQUEST))
            }
            PasswordCheck::Throttled { retry_after } => {
                let seconds = web::retry_after_seconds(retry_after);
                let page = retry_page(SignInError::Throttled { seconds }, StatusCode::TOO_MANY_REQUESTS);
                Ok(response::with_retry_after(page, seconds))
            }
            PasswordCheck::Busy => {
                let busy = SignInError::Busy { seconds: BUSY_SECONDS };
                let page = retry_page(busy, StatusCode::SERVICE_UNAVAILABLE);
                Ok(response::with_retry_after(page, BUSY_SECONDS))
            }
        }
    }

    /// Counts a failed sign-in in the audit.
    pub(super) async fn audit_failure(
        &self,
        browser: &BrowserContext,
        user: Option<&Account>,
        client: Option<&Client>,
    ) -> Result<(), PageError> {
        let mut entry =
            AuditEntry::new(AuditKind::sign_in_failed(self.realm), self.clock.now(), &browser.audit);
        entry.client = client.map(|client| client.id.clone());
        // An unknown username may be a password typed into the wrong field: do not record it.
        entry = match user {
            Some(user) => entry.account(self.realm, &user.id),
            None => entry.note("unknown account"),
        };
        Ok(self.store.count(&entry).await?)
    }

    /// The page again, for a form that was open for too long or comes from another browser.
    pub(super) async fn expired_sign_in_page(
        &self,
        browser: &BrowserContext,
        pending: &PendingRequest,
        username: &str,
    ) -> Result<Response, PageError> {
        let context = self.sign_in_context(browser, pending).await?;
        // The user has signed in in another window meanwhile: continue without asking again.
        if let (PendingRequest::Authorization(request), Some(client)) = (pending, &context.client)
            && self.active_session(browser).await?.is_some()
        {
            return self.advance(browser, request, client, self.clock.now(), None).await;
        }
        // The page had set a cookie; without it, the browser does not accept cookies.
        let error = Some(match &browser.browser_id {
            Some(_) => SignInError::Expired,
            None => SignInError::NoCookies,
        });
        self.fresh_sign_in_page(&context, error, username, StatusCode::BAD_REQUEST)
    }

    /// Starts a session, or asks for the second factor of an account that has one.
    async fn password_accepted(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
        account: &Account,
    ) -> Result<Response, PageError> {
        if self.store.second_factors(&account.id).await?.is_enrolled() {
            return self.ask_for_second_factor(browser, ticket, account);
        }
        let sign_in = SignIn::with_password(account, AUTHENTICATION_METHODS);
        self.start_session(browser, ticket, account, &sign_in).await
    }

    /// Starts a session under a new id and takes the next step of the flow.
    pub(super) async fn start_session(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
        account: &Account,
        sign_in: &SignIn,
    ) -> Result<Response, PageError> {
        let mut entry = self.sign_in_entry(browser, account);
        if let PendingRequest::Authorization(request) = &ticket.pending {
            entry.client = Some(request.target.client.clone());
        }
        if sign_in.methods != AUTHENTICATION_METHODS {
            entry = entry.note(sign_in.methods.as_str());
        }
        let new = match self.begin_session(browser, account, sign_in, &entry).await {
            // It was changed since it was verified.
            Err(StoreError::ProofVoid) => return self.start_again(browser, ticket),
            // It was added since the password was verified.
            Err(StoreError::SecondFactorNeeded) => {
                return self.ask_for_second_factor(browser, ticket, account);
            }
            begun => begun?,
        };
        let in_session = new.browser(browser);
        let next = self.go_on(&in_session, &ticket.pending, ticket.started_at()).await?;
        Ok(self.with_session(next, &new))
    }

    /// Goes on with the request that waited for the sign-in.
    pub(super) async fn go_on(
        &self,
        browser: &BrowserContext,
        pending: &PendingRequest,
        started_at: domain::Ticks,
    ) -> Result<Response, PageError> {
        match pending {
            PendingRequest::Authorization(request) => {
                let client = self.requesting_client(request).await?;
                self.advance(browser, request, &client, started_at, None).await
            }
            PendingRequest::SecondFactors => {
                Ok(response::redirect(&self.path_in(browser, own_factors::PAGE)))
            }
            PendingRequest::Page(path) => Ok(response::redirect(path)),
            PendingRequest::Home | PendingRequest::Logout(_) | PendingRequest::Link(_) => {
                Ok(response::redirect(&self.path_in(browser, self.home())))
            }
        }
    }
}

pub(crate) fn invalid_ticket() -> PageError {
    PageError::bad_request(ErrorKind::Expired, "The ticket is missing or invalid.")
}
