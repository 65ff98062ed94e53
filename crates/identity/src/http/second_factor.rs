//! `/second-factor`: the step between a right password and the session of an account with a second factor. It also serves
//! people who are signed in and must give the second factor again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::recovery_codes::RecoveryCode;
use domain::second_factor::{has_second_factor, with_second_factor};
use domain::totp::TotpCode;
use domain::{Secret, Ticks};
use store::{Account, AccountFactors, FactorMethod, Status};
use ui::PASSKEY_FIELD;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::login::invalid_ticket;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::{ActiveSession, SignIn};
use crate::flow::step::Step;
use crate::flow::ticket::{PendingRequest, Ticket, TicketExtra, TicketState};
use crate::pages::{self, SecondFactorError, SecondFactorPage};
use crate::params::{Params, query};
use crate::second_factor::{CodeAttempt, CodeCheck, FRESH, PasskeyCheck, PresentedCode, credential_of};
use crate::sign_in::AUTHENTICATION_METHODS;
use crate::site::Site;
use crate::webauthn::{AssertionChallenge, Credential, request_options};

/// Purpose of the hash that makes the challenge of a page from its ticket.
const ASSERTION: &str = "passkey assertion";

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    let ticket = params.get("ticket").unwrap_or_default();
    site.render(&browser, Box::pin(site.second_factor_start(&browser, ticket)).await)
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.give_second_factor(&browser, &form)).await)
}

/// Who gives the second factor: somebody whose password was right, or who is signed in.
struct Claimant {
    account: Account,
    /// The authentication methods so far.
    methods: String,
    /// When they signed in; none if only the password was given.
    signed_in_at: Option<Ticks>,
}

/// What a given factor led to.
enum Given {
    Accepted,
    Refused(SecondFactorError, StatusCode),
}

impl Given {
    fn refused(error: SecondFactorError) -> Self {
        Self::Refused(error, StatusCode::BAD_REQUEST)
    }

    fn throttled(retry_after: std::time::Duration) -> Self {
        let seconds = web::retry_after_seconds(retry_after);
        Self::Refused(SecondFactorError::Throttled { seconds }, StatusCode::TOO_MANY_REQUESTS)
    }
}

impl Site {
    /// Leads somebody whose password was right to the second step.
    pub(super) fn ask_for_second_factor(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
        account: &Account,
    ) -> Result<Response, PageError> {
        let extra = TicketExtra::Password {
            account: account.id.as_str().to_owned(),
            password: self.password_mark(account),
            verified_at: self.clock.now().0,
        };
        self.redirect_with(browser, "second-factor", ticket.pending.clone(), ticket.started_at(), Some(extra))
    }

    /// A mark of the present password: a ticket with an older one is void.
    fn password_mark(&self, account: &Account) -> String {
        let own = Secret::new(format!("{}\0{}", account.id, account.password_hash));
        domain::secret::base64url(&self.vault.fingerprint("password of a second step", &own))
    }

    async fn claimant(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
    ) -> Result<Option<Claimant>, PageError> {
        let now = self.clock.now();
        if let Some(TicketExtra::Password { account, password, verified_at }) = &ticket.extra {
            if now.since(Ticks(*verified_at)) > FRESH {
                return Ok(None);
            }
            let account = self.store.find_account(&domain::AccountId::new(account.as_str())).await?;
            let is_unchanged = |one: &Account| {
                one.realm == self.realm
                    && one.status != Status::Disabled
                    && self.password_mark(one) == *password
            };
            let methods = AUTHENTICATION_METHODS.to_owned();
            let account = account.filter(is_unchanged);
            return Ok(account.map(|account| Claimant { account, methods, signed_in_at: None }));
        }
        let Some(active) = self.any_session(browser).await? else { return Ok(None) };
        if !self.may_step_up(&active, ticket).await? {
            return Ok(None);
        }
        Ok(Some(Claimant {
            signed_in_at: Some(active.session.authenticated_at),
            methods: active.session.methods,
            account: active.account,
        }))
    }

    /// Whether the second factor alone is what a session lacks for the request. Where the request needs a new sign-in, it
    /// needs the password too.
    async fn may_step_up(&self, active: &ActiveSession, ticket: &Ticket) -> Result<bool, PageError> {
        match &ticket.pending {
            PendingRequest::SecondFactors | PendingRequest::Page(_) => Ok(true),
            PendingRequest::Authorization(request) => {
                let client = self.requesting_client(request).await?;
                let step = self.next_step(request, &client, Some(active), ticket.started_at(), None).await?;
                Ok(step != Step::SignIn)
            }
            PendingRequest::Home | PendingRequest::Logout(_) | PendingRequest::Link(_) => Ok(false),
        }
    }

    async fn second_factor_start(&self, browser: &BrowserContext, text: &str) -> Result<Response, PageError> {
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            // The page was open for too long, or the link comes from another browser: start again.
            TicketState::Stale(pending) => {
                return self.go_on(browser, &pending, self.clock.now()).await;
            }
            TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let Some(claimant) = self.claimant(browser, &ticket).await? else {
            return self.start_again(browser, &ticket);
        };
        let has_given = has_second_factor(&claimant.methods)
            && match ticket.pending {
                PendingRequest::SecondFactors | PendingRequest::Page(_) => {
                    let now = self.clock.now();
                    claimant.signed_in_at.is_some_and(|at| now.since(at) <= FRESH)
                }
                _ => true,
            };
        if has_given {
            return self.go_on(browser, &ticket.pending, ticket.started_at()).await;
        }
        let factors = self.store.second_factors(&claimant.account.id).await?;
        if !factors.is_enrolled() {
            return self.start_again(browser, &ticket);
        }
        self.second_factor_page(browser, &ticket, &claimant, &factors, None, StatusCode::OK)
    }

    /// To the sign-in page, with the same request.
    pub(super) fn start_again(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
    ) -> Result<Response, PageError> {
        self.redirect_with(browser, "login", ticket.pending.clone(), ticket.started_at(), None)
    }

    /// The page with a new ticket, and so with a new challenge.
    fn second_factor_page(
        &self,
        browser: &BrowserContext,
        ticket: &Ticket,
        claimant: &Claimant,
        factors: &AccountFactors,
        error: Option<SecondFactorError>,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let lang = browser.lang(Some(&claimant.account.lang));
        let (text, browser_id) = self.issue_ticket_with(
            browser,
            ticket.pending.clone(),
            ticket.started_at(),
            ticket.extra.clone(),
        )?;
        let options = self.passkey_options(browser, &text, factors);
        let with = |page: &str, params: &[(&str, &str)]| {
            self.path(&format!("{page}?{}", query(params.iter().copied())))
        };
        let tag = lang.tag();
        let model = SecondFactorPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&with("second-factor", &[("ticket", &text), ("lang", lang.other().tag())])),
            action: &with("second-factor", &[("lang", tag)]),
            ticket: &text,
            email: &claimant.account.email,
            passkey_options: options.as_deref(),
            has_totp: factors.has_totp(),
            error,
            other_account: &with("login", &[("ticket", &text), ("lang", tag)]),
        };
        let markup = pages::second_factor(&model);
        let form_action = response::form_action(browser.sends_fetch_metadata, ticket.pending.destination());
        let page = if options.is_some() {
            response::page_with_script(status, markup, &form_action)
        } else {
            response::page_with_forms(status, markup, &form_action)
        };
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    /// The options for the account's passkeys, if it has any and they work here.
    fn passkey_options(
        &self,
        browser: &BrowserContext,
        ticket: &str,
        factors: &AccountFactors,
    ) -> Option<String> {
        let relying_party = self.relying_party(browser)?;
        let credentials: Vec<Credential> = factors
            .factors
            .iter()
            .filter_map(|factor| match &factor.method {
                FactorMethod::Passkey(passkey) => credential_of(passkey),
                FactorMethod::Totp { .. } => None,
            })
            .collect();
        let challenge = self.assertion_challenge(ticket)?;
        (!credentials.is_empty()).then(|| request_options(relying_party, &challenge, &credentials))
    }

    /// The challenge of a page follows from its ticket, which is random, bound to the browser, and expires.
    pub(super) fn assertion_challenge(&self, ticket: &str) -> Option<AssertionChallenge> {
        AssertionChallenge::from_text(&self.ticket_hash(ASSERTION, ticket))
    }

    pub(super) fn ticket_hash(&self, purpose: &str, ticket: &str) -> String {
        domain::secret::base64url(&self.vault.fingerprint(purpose, &Secret::new(ticket)))
    }

    async fn give_second_factor(
        &self,
        browser: &BrowserContext,
        form: &Params,
    ) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            TicketState::Stale(pending) => {
                return self.redirect_with(browser, "login", pending, self.clock.now(), None);
            }
            TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let Some(claimant) = self.claimant(browser, &ticket).await? else {
            return self.start_again(browser, &ticket);
        };
        let given = match form.get("method") {
            Some("passkey") => self.give_passkey(browser, (text, &ticket), &claimant, form).await?,
            Some("recovery") => {
                let notice = self.account_mails.recovery_code_used(&claimant.account, self.clock.now());
                let code = form.get("recovery_code").and_then(RecoveryCode::parse);
                let code = code.map(|code| PresentedCode::Recovery { code, notice });
                self.give_code(browser, &claimant, code, SecondFactorError::WrongRecoveryCode).await?
            }
            _ => {
                let code = form.get("code").and_then(TotpCode::parse).map(PresentedCode::Totp);
                self.give_code(browser, &claimant, code, SecondFactorError::WrongCode).await?
            }
        };
        match given {
            Given::Accepted => {
                let methods = with_second_factor(&claimant.methods);
                let is_request = matches!(ticket.pending, PendingRequest::Authorization(_));
                let sign_in = SignIn {
                    // For a client, the time of the sign-in is that of the password.
                    authenticated_at: claimant.signed_in_at.filter(|_| is_request),
                    ..SignIn::with_password(&claimant.account, &methods)
                };
                self.start_session(browser, &ticket, &claimant.account, &sign_in).await
            }
            Given::Refused(error, status) => {
                let factors = self.store.second_factors(&claimant.account.id).await?;
                let page =
                    self.second_factor_page(browser, &ticket, &claimant, &factors, Some(error), status)?;
                Ok(match error {
                    SecondFactorError::Throttled { seconds } => response::with_retry_after(page, seconds),
                    _ => page,
                })
            }
        }
    }

    /// What was typed but cannot be a code costs nothing: it guesses nothing.
    async fn give_code(
        &self,
        browser: &BrowserContext,
        claimant: &Claimant,
        code: Option<PresentedCode>,
        error: SecondFactorError,
    ) -> Result<Given, PageError> {
        let Some(code) = code else { return Ok(Given::refused(error)) };
        let attempt = CodeAttempt {
            realm: self.realm,
            account: claimant.account.id.clone(),
            code,
            address: browser.address,
            browser: self
                .password_sign_in
                .recognised_browser(browser.known_browser.as_ref(), &claimant.account),
            context: browser.audit_by(Some(claimant.account.id.clone())),
        };
        let throttle = self.password_sign_in.login_throttle.clone();
        Ok(match attempt.run(self.store.clone(), self.clock.clone(), throttle).await? {
            CodeCheck::Accepted => Given::Accepted,
            CodeCheck::Rejected => {
                self.audit_factor_failure(browser, Some(&claimant.account), "wrong second factor").await?;
                Given::refused(error)
            }
            CodeCheck::Throttled { retry_after } => Given::throttled(retry_after),
        })
    }

    async fn give_passkey(
        &self,
        browser: &BrowserContext,
        ticket: (&str, &Ticket),
        claimant: &Claimant,
        form: &Params,
    ) -> Result<Given, PageError> {
        let json = form.get(PASSKEY_FIELD).unwrap_or_default();
        if json.is_empty() {
            return Ok(Given::refused(SecondFactorError::NoScript));
        }
        Ok(match self.check_passkey(browser, ticket, json, Some(&claimant.account)).await? {
            PasskeyCheck::Accepted { .. } => Given::Accepted,
            PasskeyCheck::Rejected { .. } => Given::refused(SecondFactorError::PasskeyRefused),
            PasskeyCheck::Throttled { retry_after } => Given::throttled(retry_after),
        })
    }
}
