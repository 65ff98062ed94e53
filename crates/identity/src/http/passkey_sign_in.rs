//! `/login/passkey`: sign-in with a passkey alone. The passkey says who signs in.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::SecondFactorPolicy;
use store::SignInProof;
use ui::PASSKEY_FIELD;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::login::invalid_ticket;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::SignIn;
use crate::flow::ticket::TicketState;
use crate::pages::SignInError;
use crate::params::Params;
use crate::second_factor::{PASSKEY_METHODS, PasskeyCheck};
use crate::site::Site;

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
                    let seconds =
                        retry_after.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX);
                    SignInError::Throttled { seconds }
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
}
