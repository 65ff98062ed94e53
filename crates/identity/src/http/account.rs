//! `/account`: the page on which people change their name, language and password, and end sessions.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::password_rules::{self, PasswordOwner};
use domain::{Guid, NAME_CHARS_MAX, Realm, Secret, checked_name};
use store::{AccountUpdate, EndedSessions};
use ui::Lang;

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::own_factors;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::{ActiveSession, SignIn};
use crate::flow::ticket::{PendingRequest, TicketState};
use crate::pages::{self, AccountNews, AccountPage, SessionRow, device_name};
use crate::params::{Params, query};
use crate::sign_in::{BUSY_SECONDS, PasswordAttempt, PasswordCheck};
use crate::site::Site;

/// The value of the form's field `session` that ends all but this one.
const OTHERS: &str = "others";
const PROFILE: &str = "profile";

pub(super) async fn get(State(site): State<Arc<Site>>, browser: BrowserContext, params: Params) -> Response {
    let news = match params.get("done") {
        Some(PROFILE) => Some(AccountNews::ProfileSaved),
        Some("password") => Some(AccountNews::PasswordChanged),
        Some("sessions") => Some(AccountNews::SessionsEnded),
        _ => None,
    };
    let result = match site.active_session(&browser).await {
        Ok(Some(active)) => site.account_page(&browser, &active, news, StatusCode::OK).await,
        Ok(None) => site.to_sign_in(&browser).await.map_err(Into::into),
        Err(error) => Err(error.into()),
    };
    site.render(&browser, result)
}

pub(super) async fn post(
    State(site): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    site.render(&browser, Box::pin(site.change_own_account(&browser, &form)).await)
}

/// What a form led to.
enum Outcome {
    /// The page is shown again, by a redirect: reloading it repeats nothing.
    Done(&'static str, Option<super::session::NewSession>),
    Refused(AccountNews, StatusCode),
}

impl Outcome {
    fn refused(news: AccountNews) -> Self {
        Self::Refused(news, StatusCode::BAD_REQUEST)
    }
}

impl Site {
    async fn account_page(
        &self,
        browser: &BrowserContext,
        active: &ActiveSession,
        news: Option<AccountNews>,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let ActiveSession { session: current, account } = active;
        let sessions = self.store.list_sessions(&account.id, self.clock.now()).await?;
        let texts: Vec<(String, String)> =
            sessions.iter().map(|one| (one.id.to_string(), device_name(&one.user_agent))).collect();
        let rows: Vec<SessionRow<'_>> = sessions
            .iter()
            .zip(&texts)
            .map(|(one, (id, device))| SessionRow {
                id,
                device,
                address: &one.address,
                since: one.authenticated_at,
                is_current: one.id == current.id,
            })
            .collect();
        let (ticket, browser_id) = self.issue_ticket(browser, PendingRequest::Home, self.clock.now())?;
        let lang = browser.lang(Some(&account.lang));
        let in_lang =
            |page: &str, lang: Lang| self.path(&format!("{page}?{}", query([("lang", lang.tag())])));
        let permissions = (self.realm == Realm::Users).then(|| in_lang("permissions", lang));
        let portal = (self.realm == Realm::Developers).then(|| in_lang("", lang));
        let model = AccountPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&in_lang("account", lang.other())),
            realm: self.realm,
            action: &in_lang("account", lang),
            ticket: &ticket,
            email: &account.email,
            given_name: &account.given_name,
            family_name: &account.family_name,
            account_lang: Lang::choose(Some(&account.lang), None),
            sessions: &rows,
            news,
            permissions: permissions.as_deref(),
            portal: portal.as_deref(),
            second_factors: &in_lang(own_factors::PAGE, lang),
            sign_out: &in_lang("logout", lang),
        };
        let page = response::page_with_script(status, pages::account(&model), "'self'");
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn change_own_account(
        &self,
        browser: &BrowserContext,
        form: &Params,
    ) -> Result<Response, PageError> {
        let Some(active) = self.active_session(browser).await? else {
            return Ok(self.to_sign_in(browser).await?);
        };
        let ticket = self.open_ticket(browser, form.get("ticket").unwrap_or_default());
        let is_valid =
            matches!(ticket, TicketState::Valid(ticket) if matches!(ticket.pending, PendingRequest::Home));
        let outcome = match form.get("do") {
            _ if !is_valid => Outcome::refused(AccountNews::Expired),
            Some(PROFILE) => self.change_profile(browser, &active, form).await?,
            Some("password") => self.change_password(browser, &active, form).await?,
            Some("end") => self.end_own_sessions(browser, &active, form).await?,
            _ => return Ok(response::redirect(&self.path_in(browser, "account"))),
        };
        match outcome {
            Outcome::Refused(news, status) => {
                let page = self.account_page(browser, &active, Some(news), status).await?;
                Ok(match news {
                    AccountNews::Throttled { seconds } | AccountNews::Busy { seconds } => {
                        response::with_retry_after(page, seconds)
                    }
                    _ => page,
                })
            }
            Outcome::Done(what, new_session) => {
                let mut params = vec![("done", what)];
                // Whoever has just chosen a language reads the answer in it.
                let chosen = form.get("lang").filter(|_| what == PROFILE);
                params.extend(chosen.or(browser.selected_lang()).map(|lang| ("lang", lang)));
                let next = response::redirect(&self.path(&format!("account?{}", query(params))));
                Ok(match new_session {
                    Some(new) => self.with_session(next, &new),
                    None => next,
                })
            }
        }
    }

    async fn change_profile(
        &self,
        browser: &BrowserContext,
        active: &ActiveSession,
        form: &Params,
    ) -> Result<Outcome, PageError> {
        let Some(name) = form.get("given_name").and_then(|name| checked_name(name, NAME_CHARS_MAX)) else {
            return Ok(Outcome::refused(AccountNews::NameRefused));
        };
        let family_name = form.get("family_name").unwrap_or_default().trim();
        if !family_name.is_empty() && checked_name(family_name, NAME_CHARS_MAX).is_none() {
            return Ok(Outcome::refused(AccountNews::NameRefused));
        }
        let lang = Lang::choose(form.get("lang").or(Some(&active.account.lang)), None);
        let has_family_name = self.realm == Realm::Users;
        let update = AccountUpdate {
            family_name: Some(family_name.to_owned())
                .filter(|name| has_family_name && *name != active.account.family_name),
            given_name: Some(name.to_owned()).filter(|name| *name != active.account.given_name),
            lang: Some(lang.tag().to_owned()).filter(|lang| *lang != active.account.lang),
            ..AccountUpdate::default()
        };
        if !update.is_empty() {
            let audit = browser.audit_by(Some(active.account.id.clone()));
            // An account that is gone has nothing to change.
            let _ = self.store.update_account(&active.account.id, &update, None, &audit).await?;
        }
        Ok(Outcome::Done(PROFILE, None))
    }

    /// Needs the present password. Ends every session of the account, and begins a new one for this browser.
    async fn change_password(
        &self,
        browser: &BrowserContext,
        active: &ActiveSession,
        form: &Params,
    ) -> Result<Outcome, PageError> {
        let account = &active.account;
        let new = Secret::new(form.get("new_password").unwrap_or_default());
        let owner = PasswordOwner { name: &account.given_name, email: &account.email };
        if let Err(refusal) = password_rules::check(&new, &owner) {
            return Ok(Outcome::refused(AccountNews::NewPasswordRefused(refusal)));
        }
        if form.get("repeated_password") != Some(new.reveal()) {
            return Ok(Outcome::refused(AccountNews::RepetitionDiffers));
        }
        let attempt = PasswordAttempt {
            realm: self.realm,
            account: account.email.clone(),
            password: Secret::new(form.get("password").unwrap_or_default()),
            address: browser.address,
            known_browser: browser.known_browser.clone(),
        };
        let busy =
            Outcome::Refused(AccountNews::Busy { seconds: BUSY_SECONDS }, StatusCode::SERVICE_UNAVAILABLE);
        let verified = match self.password_sign_in.attempt(attempt).await? {
            PasswordCheck::Accepted(verified) if verified.id == account.id => verified,
            PasswordCheck::Accepted(_) | PasswordCheck::Rejected(_) => {
                self.audit_failure(browser, Some(account), None).await?;
                return Ok(Outcome::refused(AccountNews::CurrentPasswordWrong));
            }
            PasswordCheck::Throttled { retry_after } => {
                let seconds = web::retry_after_seconds(retry_after);
                let news = AccountNews::Throttled { seconds };
                return Ok(Outcome::Refused(news, StatusCode::TOO_MANY_REQUESTS));
            }
            PasswordCheck::Busy => return Ok(busy),
        };
        let Some(hash) = self.password_sign_in.password_hasher.hash(new, self.random.clone()).await else {
            return Ok(busy);
        };
        let update = AccountUpdate { password_hash: Some(hash), ..AccountUpdate::default() };
        let audit = browser.audit_by(Some(account.id.clone()));
        // Only if nothing changed since the password was verified.
        let outcome =
            self.store.update_account(&account.id, &update, Some(verified.revision), &audit).await?;
        let store::UpdateOutcome::Updated(changed) = outcome else {
            return Ok(Outcome::refused(AccountNews::Expired));
        };
        let entry = self.sign_in_entry(browser, &changed).note("new session after a change of the password");
        // The password alone proves nothing about the second factor: the session is as old as before.
        let sign_in = SignIn {
            authenticated_at: Some(active.session.authenticated_at),
            ..SignIn::with_password(&changed, &active.session.methods)
        };
        let new_session = self.begin_session(browser, &changed, &sign_in, &entry).await?;
        if let Some(mail) = self.account_mails.password_changed(&changed, self.clock.now()) {
            self.store.queue_mail(&mail).await?;
        }
        Ok(Outcome::Done("password", Some(new_session)))
    }

    async fn end_own_sessions(
        &self,
        browser: &BrowserContext,
        active: &ActiveSession,
        form: &Params,
    ) -> Result<Outcome, PageError> {
        let which = match form.get("session") {
            Some(OTHERS) => Some(EndedSessions::AllExcept(active.session.id)),
            Some(id) => Guid::parse(id).map(EndedSessions::One),
            None => None,
        };
        if let Some(which) = which {
            let audit = browser.audit_by(Some(active.account.id.clone()));
            self.store.end_sessions(&active.account.id, which, &audit).await?;
        }
        Ok(Outcome::Done("sessions", None))
    }
}
