//! Sessions of browsers: beginning one under new cookies, and finding the one of a request.

use domain::second_factor::has_second_factor;
use domain::{Guid, SecondFactorPolicy, Secret, Ticks};
use store::{Account, Actor, AuditEntry, AuditKind, Session, SignInProof, Status};

use super::authorize::with_cookie;
use super::browser::BrowserContext;
use super::own_factors;
use super::response::{self, Response};
use crate::site::Site;

/// The session of this browser and its account.
pub(crate) struct ActiveSession {
    pub(crate) session: Session,
    pub(crate) account: Account,
}

/// How somebody has signed in.
#[derive(Clone, Debug)]
pub(crate) struct SignIn {
    /// The authentication methods, as in `amr`.
    pub(crate) methods: String,
    /// When; none: now. A session that follows another one without a new sign-in keeps its time.
    pub(crate) authenticated_at: Option<Ticks>,
    pub(crate) proof: SignInProof,
}

impl SignIn {
    /// With the password that the account had when it was read, and perhaps a second factor.
    pub(crate) fn with_password(account: &Account, methods: &str) -> Self {
        let proof = SignInProof::Password(account.password_hash.clone());
        Self { methods: methods.to_owned(), authenticated_at: None, proof }
    }
}

/// A session that has just begun; its cookies must be sent (`Site::with_session`).
pub(crate) struct NewSession {
    cookie: Secret,
    /// A new browser id too: one that was planted before the sign-in becomes useless (session fixation).
    browser_id: Secret,
    known_browser: Secret,
}

impl NewSession {
    /// The same browser in the new session.
    pub(crate) fn browser(&self, before: &BrowserContext) -> BrowserContext {
        before.in_session(&self.cookie, &self.browser_id)
    }
}

impl Site {
    /// The browser's session, unless it can only add a second factor.
    pub(crate) async fn active_session(
        &self,
        browser: &BrowserContext,
    ) -> store::Result<Option<ActiveSession>> {
        let active = self.any_session(browser).await?;
        Ok(active.filter(|active| !self.must_enrol(&active.session)))
    }

    /// Whether a session opens nothing but the enrolment: a second factor is required, and it has none.
    pub(crate) fn must_enrol(&self, session: &Session) -> bool {
        self.second_factor_policy() == SecondFactorPolicy::Required && !has_second_factor(&session.methods)
    }

    pub(crate) fn second_factor_policy(&self) -> SecondFactorPolicy {
        self.settings.second_factor.of(self.realm)
    }

    /// The way to a session that opens the page: to the sign-in, or to the enrolment.
    pub(crate) async fn to_sign_in(&self, browser: &BrowserContext) -> store::Result<Response> {
        let page = if self.any_session(browser).await?.is_some() { own_factors::PAGE } else { "login" };
        Ok(response::redirect(&self.path_in(browser, page)))
    }

    /// The browser's session, if it has not expired and its account is active, also one that can only add a second factor.
    pub(crate) async fn any_session(&self, browser: &BrowserContext) -> store::Result<Option<ActiveSession>> {
        let Some(cookie) = &browser.session else { return Ok(None) };
        let Some(session) = self.store.find_session(self.realm, cookie, self.clock.now()).await? else {
            return Ok(None);
        };
        let account = self.store.find_account(&session.account).await?;
        let account = account.filter(|one| one.status == Status::Active && one.realm == self.realm);
        Ok(account.map(|account| ActiveSession { session, account }))
    }

    /// The audit entry of a sign-in.
    pub(crate) fn sign_in_entry(&self, browser: &BrowserContext, account: &Account) -> AuditEntry {
        let audit = browser.audit.by(Actor::account(self.realm, account.id.clone()));
        let entry = AuditEntry::new(AuditKind::signed_in(self.realm), self.clock.now(), &audit);
        entry.account(self.realm, &account.id)
    }

    /// Begins a session under a new cookie and ends the browser's previous one.
    pub(crate) async fn begin_session(
        &self,
        browser: &BrowserContext,
        account: &Account,
        sign_in: &SignIn,
        entry: &AuditEntry,
    ) -> store::Result<NewSession> {
        let SignIn { methods, authenticated_at, proof } = sign_in;
        let now = self.clock.now();
        let session = Session {
            id: self.session_id(browser, account).await?,
            realm: self.realm,
            account: account.id.clone(),
            authenticated_at: authenticated_at.unwrap_or(now),
            methods: methods.clone(),
            expires_at: now + self.settings.session_ttl,
            address: browser.address.to_string(),
            user_agent: browser.user_agent.clone(),
        };
        let cookie = Secret::new(self.random.token());
        let replaced = browser.session.as_ref();
        self.store.begin_session(&cookie, &session, replaced, Some(proof), entry).await?;
        let known = browser.known_browser.as_ref();
        Ok(NewSession {
            cookie,
            browser_id: Secret::new(self.random.token()),
            known_browser: self.password_sign_in.known_browser_cookie(known, account, &*self.random),
        })
    }

    /// The id of a new session. Whoever signs in again with the same browser keeps the id, because it is what the clients of
    /// the session know it by; the cookie, which opens it, is new in any case.
    async fn session_id(&self, browser: &BrowserContext, account: &Account) -> store::Result<Guid> {
        let previous = match &browser.session {
            Some(cookie) => self.store.find_session(self.realm, cookie, self.clock.now()).await?,
            None => None,
        };
        let own = previous.filter(|previous| previous.account == account.id);
        Ok(own.map_or_else(|| self.random.guid(), |previous| previous.id))
    }

    /// Adds the cookies of a new session to the response.
    pub(crate) fn with_session(&self, response: Response, new: &NewSession) -> Response {
        let response = self.with_browser_cookie(response, Some(&new.browser_id));
        let known = self.cookies.set_lasting(self.cookies.known_browser, &new.known_browser);
        with_cookie(with_cookie(response, known), self.cookies.set(self.cookies.session, &new.cookie))
    }
}
