//! `/login`: the page, and what comes of a name and a password.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::{Secret, password};
use store::{AuditEntry, AuditKind, Client, Session, User};
use ui::Lang;

use super::answer::{self, Answer};
use super::authorize::with_cookie;
use super::failed::Failed;
use super::form::OwnForm;
use super::visit::Visit;
use crate::Identity;
use crate::flow::ticket::{Errand, Opened, Ticket};
use crate::pages::{self, ErrorKind, SignIn, SignInProblem};
use crate::params::{Params, query};
use crate::request::{Authorization, Unanswerable};
use crate::sign_in::{self, METHODS, TooMany, Tried};

pub(super) async fn get(State(identity): State<Arc<Identity>>, visit: Visit, params: Params) -> Answer {
    identity.shown(&visit, identity.show_sign_in(&visit, params.get("ticket")).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    OwnForm(form): OwnForm,
) -> Answer {
    identity.shown(&visit, Box::pin(identity.sign_in(&visit, &form)).await)
}

/// Somebody at the sign-in page.
struct AtDoor<'a> {
    visit: &'a Visit,
    errand: &'a Errand,
    /// The application that waits, where there is one.
    client: Option<Client>,
}

impl AtDoor<'_> {
    fn asked(&self) -> Option<&Authorization> {
        match self.errand {
            Errand::Authorize(asked) => Some(asked),
            Errand::Permissions | Errand::SignOut(_) => None,
        }
    }

    fn lang(&self) -> Lang {
        self.visit.lang(self.asked().and_then(|asked| asked.ui_locales.as_deref()))
    }
}

impl Identity {
    async fn show_sign_in(&self, visit: &Visit, ticket: Option<&str>) -> Result<Answer, Failed> {
        let now = self.clock.now();
        let errand = match ticket.map(|text| (text, self.tickets.open(text, visit.browser.as_ref(), now))) {
            None => Errand::Permissions,
            Some((text, Opened::Valid(ticket))) => {
                let door = self.at_door(visit, &ticket.errand).await?;
                return Ok(self.sign_in_page(&door, text, None, "", StatusCode::OK));
            }
            // A page that was left open, or a link from another browser: begin anew.
            Some((_, Opened::Stale(errand))) => errand,
            Some((_, Opened::Unreadable)) => return Err(unreadable()),
        };
        let door = self.at_door(visit, &errand).await?;
        self.fresh_sign_in_page(&door, None, "", StatusCode::OK)
    }

    async fn at_door<'a>(&self, visit: &'a Visit, errand: &'a Errand) -> Result<AtDoor<'a>, Failed> {
        let client = match errand {
            Errand::Authorize(asked) => Some(self.waiting_client(asked).await?),
            Errand::Permissions | Errand::SignOut(_) => None,
        };
        Ok(AtDoor { visit, errand, client })
    }

    /// The client of a request that is under way: it may have been disabled, or its address removed.
    pub(crate) async fn waiting_client(&self, asked: &Authorization) -> Result<Client, Failed> {
        let client = self.active_client(&asked.reply.client).await?.ok_or(Unanswerable::Client)?;
        if !client.redirect_uris.contains(&asked.reply.redirect_uri) {
            return Err(Unanswerable::RedirectUnregistered.into());
        }
        Ok(client)
    }

    /// The page again, with a ticket that begins now.
    fn fresh_sign_in_page(
        &self,
        door: &AtDoor<'_>,
        problem: Option<SignInProblem>,
        username: &str,
        status: StatusCode,
    ) -> Result<Answer, Failed> {
        let (ticket, browser) = self.ticket(door.visit, door.errand.clone(), self.clock.now())?;
        let page = self.sign_in_page(door, &ticket, problem, username, status);
        Ok(self.with_browser(page, browser.as_ref()))
    }

    fn sign_in_page(
        &self,
        door: &AtDoor<'_>,
        ticket: &str,
        problem: Option<SignInProblem>,
        username: &str,
        status: StatusCode,
    ) -> Answer {
        let lang = door.lang();
        let hint = door.asked().and_then(|asked| asked.login_hint.as_deref()).unwrap_or_default();
        let language_switch = self
            .path(&format!("login?{}", query([("ticket", ticket), ("lang", other_language(lang).tag())])));
        let model = SignIn {
            lang,
            assets: &self.assets,
            language_switch: Some(&language_switch),
            action: &self.path(&format!("login?{}", query([("lang", lang.tag())]))),
            ticket,
            application: door.client.as_ref().map(|client| client.name.as_str()),
            username: if username.is_empty() { hint } else { username },
            problem,
        };
        let destination = door.asked().map(|asked| asked.reply.redirect_uri.as_str());
        answer::page(status, pages::sign_in(&model), destination)
    }

    async fn sign_in(&self, visit: &Visit, form: &Params) -> Result<Answer, Failed> {
        let text = form.get("ticket").unwrap_or_default();
        let username = sign_in::clipped(form.get("username").unwrap_or_default());
        let now = self.clock.now();
        let ticket = match self.tickets.open(text, visit.browser.as_ref(), now) {
            Opened::Valid(ticket) => ticket,
            Opened::Stale(errand) => {
                let door = self.at_door(visit, &errand).await?;
                // Signed in meanwhile, in another window: nothing needs to be typed again.
                if let (Errand::Authorize(asked), Some(client)) = (&errand, &door.client)
                    && self.signed_in(visit).await?.is_some()
                {
                    return self.proceed(visit, asked, client, now, None).await;
                }
                // The page had set a cookie: where none comes back, the browser keeps none.
                let problem = Some(match &visit.browser {
                    Some(_) => SignInProblem::Expired,
                    None => SignInProblem::NoCookies,
                });
                return self.fresh_sign_in_page(&door, problem, username, StatusCode::BAD_REQUEST);
            }
            Opened::Unreadable => return Err(unreadable()),
        };
        let door = self.at_door(visit, &ticket.errand).await?;
        let again = |problem, status| self.sign_in_page(&door, text, Some(problem), username, status);
        let (account, typed) = (sign_in::account(username), form.get("password").unwrap_or_default());
        if account.is_empty() || typed.is_empty() {
            return Ok(again(SignInProblem::Empty, StatusCode::BAD_REQUEST));
        }
        if let Err(TooMany { seconds }) = self.guard.admit(visit.address, now) {
            let page = again(SignInProblem::TooMany { seconds }, StatusCode::TOO_MANY_REQUESTS);
            return Ok(answer::with_retry_after(page, seconds));
        }
        // Waits as long as the account's failures say.
        let delay = self.guard.delay(&account, now);
        let is_slow = !delay.is_zero();
        if is_slow {
            tokio::time::sleep(delay).await;
        }
        match self.try_password(visit, &account, typed, door.client.as_ref()).await? {
            Tried::Known(user) => self.enter(&door, &ticket, &user).await,
            Tried::Wrong(_) => Ok(again(SignInProblem::Wrong { is_slow }, StatusCode::BAD_REQUEST)),
            Tried::Busy => {
                let page = again(SignInProblem::Busy { seconds: 5 }, StatusCode::SERVICE_UNAVAILABLE);
                Ok(answer::with_retry_after(page, 5))
            }
        }
    }

    /// Compares once, and writes a failure down.
    async fn try_password(
        &self,
        visit: &Visit,
        account: &str,
        typed: &str,
        client: Option<&Client>,
    ) -> Result<Tried, Failed> {
        let tried = if typed.len() > password::PASSWORD_BYTES_MAX {
            Tried::Wrong(None)
        } else {
            sign_in::attempt(&*self.store, &self.hashing, account, Secret::new(typed)).await?
        };
        match &tried {
            Tried::Known(_) => {
                self.guard.succeeded(account);
                self.guard.spare(visit.address);
            }
            Tried::Busy => self.guard.spare(visit.address),
            Tried::Wrong(user) => {
                let now = self.clock.now();
                let mut entry = AuditEntry::new(AuditKind::SignInFailed, now, &visit.context);
                entry.client = client.map(|client| client.id.clone());
                // A name that nobody has may be a password typed into the wrong field: it is not kept.
                entry = match user {
                    Some(user) => entry.user(&user.id),
                    None => entry.note("unknown account"),
                };
                self.store.record(&entry).await?;
            }
        }
        Ok(tried)
    }

    /// A new session under a new id, and on to the next step.
    async fn enter(&self, door: &AtDoor<'_>, ticket: &Ticket, user: &User) -> Result<Answer, Failed> {
        let now = self.clock.now();
        let id = Secret::new(self.random.token());
        let session = Session {
            user: user.id.clone(),
            authenticated_at: now,
            methods: METHODS.into(),
            expires_at: now + self.settings.session_ttl,
        };
        let mut entry = AuditEntry::new(AuditKind::SignedIn, now, &door.visit.context).user(&user.id);
        entry.client = door.client.as_ref().map(|client| client.id.clone());
        self.store.begin_session(&id, &session, door.visit.session.as_ref(), &entry).await?;
        // Who knew the browser's mark before the sign-in knows nothing after it.
        let browser = Secret::new(self.random.token());
        let visit = door.visit.in_session(&id, &browser);
        let next = match (&ticket.errand, &door.client) {
            (Errand::Authorize(asked), Some(client)) => {
                self.proceed(&visit, asked, client, ticket.started_at(), None).await?
            }
            _ => answer::redirect(&self.path_in(&visit, "permissions")),
        };
        let next = self.with_browser(next, Some(&browser));
        Ok(with_cookie(next, self.cookies.set(self.cookies.session, &id)))
    }
}

pub(crate) fn unreadable() -> Failed {
    Failed::bad(ErrorKind::Expired, "the ticket is missing or cannot be read")
}

pub(crate) fn other_language(lang: Lang) -> Lang {
    match lang {
        Lang::Es => Lang::En,
        Lang::En => Lang::Es,
    }
}
