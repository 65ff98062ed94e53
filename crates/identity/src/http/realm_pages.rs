//! What the pages of other crates (portal, console) need from their realm: who is signed in, the way to the sign-in page and
//! back, and a token that protects their forms.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use domain::secret::base64url;
use domain::{Realm, Secret, Ticks};
use store::{Account, AuditContext, StoreError};
use ui::Lang;

use super::browser::BrowserContext;
use super::language;
use super::response::Response;
use crate::Identity;
use crate::flow::ticket::PendingRequest;
use crate::second_factor::FRESH;
use crate::site::Site;

const FORM_TOKEN: &str = "form token";

/// The pages of one realm, as another crate sees them.
#[derive(Clone)]
pub struct RealmPages {
    pub(super) site: Arc<Site>,
}

impl std::fmt::Debug for RealmPages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RealmPages({})", self.site.base_path)
    }
}

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub account: Account,
    pub lang: Lang,
    /// The actor is the visitor.
    pub audit: AuditContext,
    pub authenticated_at: Ticks,
    /// Whether the visitor has proved who they are a short time ago, as dangerous actions need.
    pub is_fresh: bool,
    /// Every form of a page carries it; it is bound to the session, so another site cannot know it.
    pub form_token: String,
}

impl Visitor {
    /// Whether a form's token is this session's.
    pub fn owns_form(&self, token: &str) -> bool {
        // Both sides are keyed hashes of a secret cookie: what a comparison's time tells is worthless.
        token == self.form_token
    }
}

impl RealmPages {
    pub fn new(identity: Arc<Identity>, realm: Realm) -> Self {
        Self { site: Arc::new(Site::new(identity, realm)) }
    }

    /// The path that the realm's pages are below: `/portal`.
    pub fn base_path(&self) -> &str {
        &self.site.base_path
    }

    /// The URL that the realm's pages are below, with the host that its cookies are of.
    pub fn url(&self) -> &str {
        self.site.settings.realms.url(self.site.realm)
    }

    /// Base path of the static files.
    pub fn assets(&self) -> &str {
        &self.site.assets
    }

    /// The routes of the realm's other pages, which keep the language that is selected on one of them.
    pub fn keep_language(&self, router: Router) -> Router {
        language::keep(self.site.clone(), router)
    }

    /// Whether people may register themselves.
    pub fn is_registration_open(&self) -> bool {
        self.site.settings.is_registration_open
    }

    /// The language of a page for somebody who is not signed in.
    pub async fn lang(&self, parts: &mut Parts) -> Lang {
        self.browser(parts).await.lang(None)
    }

    /// Whether a page of another site caused the request.
    pub async fn is_cross_site(&self, parts: &mut Parts) -> bool {
        self.browser(parts).await.is_cross_site
    }

    pub(super) async fn browser(&self, parts: &mut Parts) -> BrowserContext {
        let Ok(browser) = BrowserContext::from_request_parts(parts, &self.site).await;
        browser
    }

    /// Who is signed in, if anybody is and has the second factor that the realm requires.
    pub async fn visitor(&self, parts: &mut Parts) -> Result<Option<Visitor>, StoreError> {
        let browser = self.browser(parts).await;
        let (Some(active), Some(cookie)) = (self.site.active_session(&browser).await?, &browser.session)
        else {
            return Ok(None);
        };
        let authenticated_at = active.session.authenticated_at;
        Ok(Some(Visitor {
            lang: browser.lang(Some(&active.account.lang)),
            audit: browser.audit_by(Some(active.account.id.clone())),
            authenticated_at,
            is_fresh: self.site.clock.now().since(authenticated_at) <= FRESH,
            form_token: self.form_token(cookie),
            account: active.account,
        }))
    }

    fn form_token(&self, session: &Secret) -> String {
        let own = Secret::new(format!("{:?}\0{}", self.site.realm, session.reveal()));
        base64url(&self.site.vault.fingerprint(FORM_TOKEN, &own))
    }

    /// The way to the sign-in page (or, for who lacks it, to the enrolment of a second factor), and from there to `next`, a
    /// path with its query below [`RealmPages::base_path`].
    pub async fn sign_in(&self, parts: &mut Parts, next: &str) -> Response {
        let browser = self.browser(parts).await;
        let result = match self.site.any_session(&browser).await {
            // Only enrolled people are visitors of this realm.
            Ok(Some(active)) if self.site.must_enrol(&active.session) => {
                self.site.to_sign_in(&browser).await.map_err(Into::into)
            }
            Ok(_) => self.to_page(&browser, "login", next),
            Err(error) => Err(error.into()),
        };
        self.site.render(&browser, result)
    }

    /// The way to the page on which a visitor proves again who they are (the second factor where they have one, else the
    /// password), and from there to `next`.
    pub async fn reauthenticate(&self, parts: &mut Parts, visitor: &Visitor, next: &str) -> Response {
        let browser = self.browser(parts).await;
        let result = match self.site.store.second_factors(&visitor.account.id).await {
            Ok(factors) if factors.is_enrolled() => self.to_page(&browser, "second-factor", next),
            Ok(_) => self.to_page(&browser, "login", next),
            Err(error) => Err(error.into()),
        };
        self.site.render(&browser, result)
    }

    fn to_page(
        &self,
        browser: &BrowserContext,
        page: &str,
        next: &str,
    ) -> Result<Response, super::page_error::PageError> {
        let is_own = next.strip_prefix(&self.site.base_path).is_some_and(|rest| rest.starts_with('/'));
        let pending = if is_own { PendingRequest::Page(next.to_owned()) } else { PendingRequest::Home };
        self.site.redirect_with(browser, page, pending, self.site.clock.now(), None)
    }
}
