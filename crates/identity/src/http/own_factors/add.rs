//! Adds an authenticator app or a passkey to the visitor's account.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::recovery_codes::RecoveryCode;
use domain::second_factor::with_second_factor;
use domain::totp::{TotpCode, TotpSecret};
use domain::{SecondFactorPolicy, Secret, checked_name};
use store::{FactorAddition, FactorMethod, SecondFactor, UsedChallenge};
use ui::{PASSKEY_FIELD, qr_code};

use super::super::browser::BrowserContext;
use super::super::extract::SameSiteForm;
use super::super::page_error::PageError;
use super::super::response::{self, Response};
use super::super::session::{ActiveSession, NewSession, SignIn};
use super::{FACTOR_NAME_CHARS_MAX, PASSKEY_PAGE, TOTP_PAGE, Visitor};
use crate::flow::ticket::{TICKET_TTL, TicketExtra};
use crate::pages::{
    self, AddPasskeyPage, AddTotpPage, ErrorKind, FactorNews, default_passkey_name, default_totp_name,
    totp_qr_label,
};
use crate::params::Params;
use crate::second_factor::{credential_of, passkey_of, user_handle};
use crate::site::Site;
use crate::webauthn::{self, Credential, RegistrationChallenge, RegistrationResponse, creation_options};

/// Purpose of the hash that makes the challenge of a page from its ticket.
const REGISTRATION: &str = "passkey registration";

pub(in crate::http) async fn get_totp(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    let result = match site.adding_visitor(&browser, params.get("ticket")).await {
        Ok(Ok(visitor)) => site.add_totp_page(&browser, &visitor, None, ("", None), StatusCode::OK),
        Ok(Err(elsewhere)) => Ok(elsewhere),
        Err(error) => Err(error),
    };
    site.render(&browser, result)
}

pub(in crate::http) async fn post_totp(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.add_totp(&browser, &form)).await)
}

pub(in crate::http) async fn get_passkey(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    let result = match site.adding_visitor(&browser, params.get("ticket")).await {
        Ok(Ok(visitor)) => site.add_passkey_page(&browser, &visitor, None, "", StatusCode::OK).await,
        Ok(Err(elsewhere)) => Ok(elsewhere),
        Err(error) => Err(error),
    };
    site.render(&browser, result)
}

pub(in crate::http) async fn post_passkey(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.add_passkey(&browser, &form)).await)
}

impl Site {
    /// A visitor who may add a factor now, or the way to where they can.
    async fn adding_visitor(
        &self,
        browser: &BrowserContext,
        ticket: Option<&str>,
    ) -> Result<Result<Visitor, Response>, PageError> {
        let visitor = match self.visitor(browser, ticket).await? {
            Ok(visitor) => visitor,
            Err(elsewhere) => return Ok(Err(elsewhere)),
        };
        if self.second_factor_policy() == SecondFactorPolicy::Off {
            return self.back_to_factors(browser, &visitor, "").map(Err);
        }
        Ok(match self.reauthentication(browser, &visitor).await? {
            Some(elsewhere) => Err(elsewhere),
            None => Ok(visitor),
        })
    }

    /// The page with a new secret, or with the one that the visitor's app already has.
    fn add_totp_page(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        news: Option<FactorNews>,
        (name, secret): (&str, Option<TotpSecret>),
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let secret = secret.unwrap_or_else(|| TotpSecret::random(&*self.random));
        let extra = Some(TicketExtra::Totp { secret: secret.base32().reveal().to_owned() });
        let (ticket, browser_id) =
            self.issue_ticket_with(browser, visitor.pending.clone(), visitor.started_at, extra)?;
        let links = self.frame_links(browser, visitor, TOTP_PAGE, &ticket);
        let uri = secret.uri(&self.settings.mail.identity.service, &visitor.active.account.email);
        let qr = qr_code(uri.reveal().as_bytes(), totp_qr_label(links.lang)).map_err(|_| internal())?;
        let name = if name.is_empty() { default_totp_name(links.lang) } else { name };
        let mut frame = self.factor_frame(&links, news);
        // A switch of the language would make a new secret.
        frame.language_switch = None;
        let grouped = secret.grouped_base32();
        let model = AddTotpPage { frame, qr_code: &qr, secret: grouped.reveal(), name };
        let page = response::page(status, pages::add_totp(&model));
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn add_totp(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let visitor = match self.adding_visitor(browser, form.get("ticket")).await? {
            Ok(visitor) => visitor,
            Err(elsewhere) => return Ok(elsewhere),
        };
        let typed = form.get("name").unwrap_or_default();
        let refused = |news, secret| {
            self.add_totp_page(browser, &visitor, Some(news), (typed, secret), StatusCode::BAD_REQUEST)
        };
        let extra = visitor.ticket.as_ref().and_then(|ticket| ticket.extra.as_ref());
        let secret = match extra {
            Some(TicketExtra::Totp { secret }) => TotpSecret::parse(secret),
            _ => None,
        };
        let Some(secret) = secret else { return refused(FactorNews::Expired, None) };
        let Some(name) = checked_name(typed, FACTOR_NAME_CHARS_MAX) else {
            return self.add_totp_page(
                browser,
                &visitor,
                Some(FactorNews::NameRefused),
                ("", Some(secret)),
                StatusCode::BAD_REQUEST,
            );
        };
        let now = self.clock.now();
        let code = form.get("code").and_then(TotpCode::parse);
        let Some(step) = code.and_then(|code| secret.verify(&code, now, None).ok()) else {
            return refused(FactorNews::WrongCode, Some(secret));
        };
        let method = FactorMethod::Totp { secret: secret.base32(), last_used: step };
        match self.add_factor(browser, &visitor, name, method, None).await? {
            Ok(next) => Ok(next),
            Err(news) => refused(news, None),
        }
    }

    async fn add_passkey_page(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        news: Option<FactorNews>,
        name: &str,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let Some(relying_party) = self.relying_party(browser) else {
            return self.back_to_factors(browser, visitor, "");
        };
        let account = &visitor.active.account;
        let (ticket, browser_id) =
            self.issue_ticket_with(browser, visitor.pending.clone(), visitor.started_at, None)?;
        let (Some(challenge), Some(handle)) =
            (self.registration_challenge(&ticket), user_handle(&self.vault, self.realm, &account.id))
        else {
            return Err(internal());
        };
        let factors = self.store.second_factors(&account.id).await?.factors;
        let registered: Vec<Credential> = factors
            .iter()
            .filter_map(|factor| match &factor.method {
                FactorMethod::Passkey(passkey) => credential_of(passkey),
                FactorMethod::Totp { .. } => None,
            })
            .collect();
        let owner = webauthn::Account {
            handle: &handle,
            name: &account.email,
            display_name: if account.given_name.is_empty() { &account.email } else { &account.given_name },
        };
        let options = creation_options(relying_party, &challenge, owner, &registered);
        let links = self.frame_links(browser, visitor, PASSKEY_PAGE, &ticket);
        let name = if name.is_empty() { default_passkey_name(links.lang) } else { name };
        let model = AddPasskeyPage { frame: self.factor_frame(&links, news), options: &options, name };
        let page = response::page_with_script(status, pages::add_passkey(&model), "'self'");
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    /// The challenge of a page follows from its ticket, which is random, bound to the browser, and expires.
    fn registration_challenge(&self, ticket: &str) -> Option<RegistrationChallenge> {
        RegistrationChallenge::from_text(&self.ticket_hash(REGISTRATION, ticket))
    }

    async fn add_passkey(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let visitor = match self.adding_visitor(browser, Some(text)).await? {
            Ok(visitor) => visitor,
            Err(elsewhere) => return Ok(elsewhere),
        };
        let typed = form.get("name").unwrap_or_default();
        let refused =
            |news| self.add_passkey_page(browser, &visitor, Some(news), typed, StatusCode::BAD_REQUEST);
        if visitor.ticket.is_none() {
            return refused(FactorNews::Expired).await;
        }
        let Some(name) = checked_name(typed, FACTOR_NAME_CHARS_MAX) else {
            let (news, status) = (Some(FactorNews::NameRefused), StatusCode::BAD_REQUEST);
            return self.add_passkey_page(browser, &visitor, news, "", status).await;
        };
        let json = form.get(PASSKEY_FIELD).unwrap_or_default();
        if json.is_empty() {
            return refused(FactorNews::NoScript).await;
        }
        let (Some(relying_party), Some(challenge)) =
            (self.relying_party(browser), self.registration_challenge(text))
        else {
            return refused(FactorNews::PasskeyRefused).await;
        };
        let verified =
            RegistrationResponse::parse(json).and_then(|response| response.verify(relying_party, &challenge));
        let credential = match verified {
            Ok(credential) => credential,
            Err(reason) => {
                tracing::info!(%reason, address = %browser.address, "a new passkey was refused");
                return refused(FactorNews::PasskeyRefused).await;
            }
        };
        let used = UsedChallenge {
            challenge: Secret::new(challenge.to_text()),
            expires_at: visitor.started_at + TICKET_TTL,
        };
        let method = FactorMethod::Passkey(passkey_of(&credential));
        match self.add_factor(browser, &visitor, name, method, Some(&used)).await? {
            Ok(next) => Ok(next),
            Err(news) => refused(news).await,
        }
    }

    /// Stores the factor. The recovery codes of a first one are shown; otherwise the list follows.
    async fn add_factor(
        &self,
        browser: &BrowserContext,
        visitor: &Visitor,
        name: &str,
        method: FactorMethod,
        challenge: Option<&UsedChallenge>,
    ) -> Result<Result<Response, FactorNews>, PageError> {
        let account = &visitor.active.account;
        let factor = SecondFactor {
            id: self.random.guid(),
            realm: self.realm,
            account: account.id.clone(),
            name: name.to_owned(),
            method,
            created_at: self.clock.now(),
            last_used_at: None,
        };
        let codes = RecoveryCode::generate(&*self.random);
        let effects = self.factor_effects(&visitor.active);
        let audit = browser.audit_by(Some(account.id.clone()));
        let added = self.store.add_second_factor(&factor, &codes, challenge, &effects, &audit).await?;
        Ok(match added {
            FactorAddition::Added { with_recovery_codes } => {
                let new = self.renewed_session(browser, &visitor.active).await?;
                let in_session = new.browser(browser);
                let next = if with_recovery_codes {
                    self.recovery_codes_page(&in_session, visitor, &codes)?
                } else {
                    self.back_to_factors(&in_session, visitor, "added")?
                };
                Ok(self.with_session(next, &new))
            }
            FactorAddition::TooMany => Err(FactorNews::TooMany),
            FactorAddition::Exists => Err(FactorNews::Exists),
            FactorAddition::ChallengeUsed | FactorAddition::NoAccount | FactorAddition::SessionVoid => {
                Err(FactorNews::Expired)
            }
        })
    }

    /// The session under a new cookie, now that it has a second factor: one that was stolen before gains nothing.
    async fn renewed_session(
        &self,
        browser: &BrowserContext,
        active: &ActiveSession,
    ) -> Result<NewSession, PageError> {
        let methods = with_second_factor(&active.session.methods);
        let sign_in = SignIn {
            authenticated_at: Some(active.session.authenticated_at),
            ..SignIn::with_password(&active.account, &methods)
        };
        let entry = self.sign_in_entry(browser, &active.account);
        let entry = entry.note("new session after the addition of a second factor");
        Ok(self.begin_session(browser, &active.account, &sign_in, &entry).await?)
    }
}

fn internal() -> PageError {
    PageError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorKind::Internal, "")
}
