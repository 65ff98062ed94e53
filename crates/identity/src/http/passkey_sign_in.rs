//! `/login/passkey`: sign-in with a passkey alone. The passkey says who signs in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{SecondFactorPolicy, Secret};
use store::{Account, AuditEntry, AuditKind, SignInProof, UsedChallenge};
use ui::PASSKEY_FIELD;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::login::invalid_ticket;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::SignIn;
use crate::flow::ticket::{TICKET_TTL, Ticket, TicketState};
use crate::pages::SignInError;
use crate::params::Params;
use crate::second_factor::{PASSKEY_METHODS, PasskeyAttempt, PasskeyCheck};
use crate::site::Site;
use crate::webauthn::AssertionResponse;

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.sign_in_with_passkey(&browser, &form)).await)
}

impl Site {
    async fn sign_in_with_passkey(
        &self,
        browser: &BrowserContext,
        form: &Params,
    ) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            TicketState::Stale(pending) => return self.expired_sign_in_page(browser, &pending, "").await,
            TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let json = form.get(PASSKEY_FIELD).unwrap_or_default();
        if self.second_factor_policy() == SecondFactorPolicy::Off {
            return self.start_again(browser, &ticket);
        }
        let error = if json.is_empty() {
            SignInError::NoScript
        } else {
            match self.check_passkey(browser, (text, &ticket), json, None).await? {
                PasskeyCheck::Accepted { account, factor } => {
                    let sign_in = SignIn {
                        methods: PASSKEY_METHODS.to_owned(),
                        authenticated_at: None,
                        proof: SignInProof::Passkey(factor),
                    };
                    return self.start_session(browser, &ticket, &account, &sign_in).await;
                }
                PasskeyCheck::Rejected { .. } => SignInError::PasskeyRefused,
                PasskeyCheck::Throttled { retry_after } => {
                    SignInError::Throttled { seconds: web::retry_after_seconds(retry_after) }
                }
            }
        };
        let context = self.sign_in_context(browser, &ticket.pending).await?;
        let SignInError::Throttled { seconds } = error else {
            return self.fresh_sign_in_page(&context, Some(error), "", StatusCode::BAD_REQUEST);
        };
        let page = self.fresh_sign_in_page(&context, Some(error), "", StatusCode::TOO_MANY_REQUESTS)?;
        Ok(response::with_retry_after(page, seconds))
    }

    /// Verifies the browser's response to the challenge of a ticket, and audits a failure.
    pub(super) async fn check_passkey(
        &self,
        browser: &BrowserContext,
        (text, ticket): (&str, &Ticket),
        json: &str,
        known: Option<&Account>,
    ) -> Result<PasskeyCheck, PageError> {
        let refused = |reason: &str| PasskeyCheck::Rejected { account: None, reason: reason.to_owned() };
        let (Some(relying_party), Some(challenge)) =
            (self.relying_party(browser).cloned(), self.assertion_challenge(text))
        else {
            return Ok(refused("passkeys do not work here"));
        };
        let check = match AssertionResponse::parse(json) {
            Err(error) => refused(&error.to_string()),
            Ok(response) => {
                let attempt = PasskeyAttempt {
                    realm: self.realm,
                    relying_party,
                    used: UsedChallenge {
                        challenge: Secret::new(challenge.to_text()),
                        expires_at: ticket.started_at() + TICKET_TTL,
                    },
                    challenge,
                    response,
                    known: known.map(|account| account.id.clone()),
                    address: browser.address,
                };
                let throttle = self.password_sign_in.login_throttle.clone();
                attempt.run(self.store.clone(), self.clock.clone(), self.vault.clone(), throttle).await?
            }
        };
        if let PasskeyCheck::Rejected { account, reason } = &check {
            tracing::info!(reason, address = %browser.address, "a passkey was refused");
            self.audit_factor_failure(browser, account.as_deref().or(known), reason).await?;
        }
        Ok(check)
    }

    /// Counts a failure like a failed sign-in.
    pub(super) async fn audit_factor_failure(
        &self,
        browser: &BrowserContext,
        account: Option<&Account>,
        reason: &str,
    ) -> Result<(), PageError> {
        let entry = AuditEntry::new(AuditKind::sign_in_failed(self.realm), self.clock.now(), &browser.audit);
        let entry = match account {
            Some(account) => entry.account(self.realm, &account.id),
            None => entry,
        };
        Ok(self.store.count(&entry.note(reason)).await?)
    }
}
