//! `/connect/authorize`: reads the request, asks the dispatcher, and brings the answer to the client.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use domain::{Scope, Secret, TenantId};
use store::{Client, Code, Pkce, Session, Status, TenantMembership, User};

use super::browser::BrowserContext;
use super::extract::{QUERY_BYTES_MAX, too_long};
use super::page_error::PageError;
use super::response::{self, Response};
use crate::Identity;
use crate::authorization_request::{self, AuthorizationRequest, ResponseTarget, TargetError};
use crate::claims::{IdClaims, IdTokenHint};
use crate::flow::step::{self, FlowState, Step};
use crate::flow::ticket::PendingRequest;
use crate::grant::{CodeBinding, GrantDetails};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::pages::{self, CodePage, ErrorKind};
use crate::params::{Params, query};
use domain::Ticks;

pub(super) async fn get(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    RawQuery(query): RawQuery,
    params: Params,
) -> Response {
    let begun = match query.map_or(0, |query| query.len()) {
        0..=QUERY_BYTES_MAX => identity.start_authorization(&browser, &params).await,
        _ => Err(too_long()),
    };
    identity.render(&browser, begun)
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    identity.redirect_post_to_get(&browser, "connect/authorize", &headers, body).await
}

/// Who is signed in in this browser.
pub(crate) struct ActiveSession {
    pub(crate) session: Session,
    pub(crate) user: User,
}

impl Identity {
    /// An address of ours, on whatever host the browser has come to.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", self.settings.base_path())
    }

    /// The same, in the language that was picked.
    pub(crate) fn path_in(&self, browser: &BrowserContext, page: &str) -> String {
        match browser.selected_lang() {
            Some(lang) => self.path(&format!("{page}?{}", query([("lang", lang)]))),
            None => self.path(page),
        }
    }

    /// A live session of a user who may sign in.
    pub(crate) async fn active_session(
        &self,
        browser: &BrowserContext,
    ) -> store::Result<Option<ActiveSession>> {
        let Some(id) = &browser.session else { return Ok(None) };
        let Some(session) = self.store.find_session(id, self.clock.now()).await? else { return Ok(None) };
        let user = self.store.find_user(&session.user).await?;
        let user = user.filter(|user| user.status == Status::Active);
        Ok(user.map(|user| ActiveSession { session, user }))
    }

    /// The client, where it is there and not disabled.
    pub(crate) async fn active_client(&self, id: &domain::ClientId) -> store::Result<Option<Client>> {
        let client = self.store.find_client(id).await?;
        Ok(client.filter(|client| client.status == Status::Active))
    }

    async fn start_authorization(
        &self,
        browser: &BrowserContext,
        params: &Params,
    ) -> Result<Response, PageError> {
        let client = match authorization_request::client_id(params) {
            Some(id) => self.active_client(&id).await?,
            None => None,
        };
        let speak = |why: TargetError| {
            // Clients' ids and addresses are no secrets, and who has to repair them needs them in the log.
            let (client, uri) = (params.get("client_id"), params.get("redirect_uri"));
            tracing::info!(?client, ?uri, "a request cannot be answered to anybody");
            PageError::from(why).with_locales(params.get("ui_locales"))
        };
        let client = client.ok_or(TargetError::UnknownClient).map_err(speak)?;
        let target = authorization_request::response_target(params, &client).map_err(speak)?;
        let request = self.id_token_hint(params, &client).and_then(|id_token_hint| {
            authorization_request::parse(params, target.clone(), &client, id_token_hint.map(|hint| hint.sub))
        });
        match request {
            Ok(request) => self.advance(browser, &request, &client, self.clock.now(), None).await,
            Err(error) => self.error_callback(browser, &target, &error, &client, params.get("ui_locales")),
        }
    }

    /// Whom an id_token_hint names; it must be ours, and this client's.
    fn id_token_hint(&self, params: &Params, client: &Client) -> Result<Option<IdTokenHint>, OAuthError> {
        let Some(token) = params.get("id_token_hint") else { return Ok(None) };
        let hint = self.verify_hint(token).filter(|hint| hint.aud == client.id.as_str());
        hint.map(Some)
            .ok_or_else(|| OAuthError::invalid_request("id_token_hint is not an id_token of this client"))
    }

    pub(crate) fn verify_hint(&self, token: &str) -> Option<IdTokenHint> {
        jwt::verify::<IdTokenHint>(&self.keys, token).filter(|hint| hint.is_ours(&self.settings))
    }

    /// Goes one step: to a page, or to the end.
    pub(crate) async fn advance(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
        client: &Client,
        started_at: Ticks,
        chosen_tenant: Option<&TenantId>,
    ) -> Result<Response, PageError> {
        let active_session = self.active_session(browser).await?;
        let step =
            self.next_step(request, client, active_session.as_ref(), started_at, chosen_tenant).await?;
        match (step, active_session) {
            (Step::Issue(membership), Some(active_session)) => {
                self.issue_code(browser, request, client, &membership, &active_session.session).await
            }
            (Step::Refuse(error), _) => {
                self.error_callback(browser, &request.target, &error, client, request.ui_locales.as_deref())
            }
            (Step::ChooseTenant { .. }, _) => self.redirect_to_page(browser, "tenant", request, started_at),
            (Step::SignIn | Step::Issue(_), _) => {
                self.redirect_to_page(browser, "login", request, started_at)
            }
        }
    }

    pub(crate) async fn next_step(
        &self,
        request: &AuthorizationRequest,
        client: &Client,
        active_session: Option<&ActiveSession>,
        started_at: Ticks,
        chosen_tenant: Option<&TenantId>,
    ) -> Result<Step, PageError> {
        let now = self.clock.now();
        let (mut memberships, mut grants) = (Vec::new(), Vec::new());
        if let Some(ActiveSession { user, .. }) = active_session {
            memberships = self.store.active_memberships(&user.id).await?;
            if client.consent == store::Consent::Required || request.tenant.is_some() {
                grants = self.store.live_grants(&user.id, now).await?;
            }
        }
        Ok(step::next_step(&FlowState {
            request,
            client,
            started_at,
            session: active_session.map(|active_session| &active_session.session),
            memberships: &memberships,
            grants: &grants,
            chosen_tenant,
            now,
        }))
    }

    /// Sends the browser to a page of ours, with a ticket.
    fn redirect_to_page(
        &self,
        browser: &BrowserContext,
        page: &str,
        request: &AuthorizationRequest,
        started_at: Ticks,
    ) -> Result<Response, PageError> {
        let pending = PendingRequest::Authorization(Box::new(request.clone()));
        let (ticket, cookie) = self.issue_ticket(browser, pending, started_at)?;
        let lang = browser.selected_lang();
        let params = [("ticket", Some(ticket.as_str())), ("lang", lang)];
        let params = params.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let to = self.path(&format!("{page}?{}", query(params)));
        Ok(self.with_browser_cookie(response::redirect(&to), cookie.as_ref()))
    }

    /// A ticket for this browser, and the browser's mark where it has to be set.
    pub(crate) fn issue_ticket(
        &self,
        browser: &BrowserContext,
        pending: PendingRequest,
        started_at: Ticks,
    ) -> Result<(String, Option<Secret>), PageError> {
        let made = browser.browser_id.is_none().then(|| Secret::new(self.random.token()));
        let Some(browser_id) = browser.browser_id.as_ref().or(made.as_ref()) else { return Err(too_long()) };
        let ticket = self.tickets.issue(pending, browser_id, started_at)?.ok_or_else(too_long)?;
        Ok((ticket, made))
    }

    pub(crate) fn with_browser_cookie(&self, response: Response, browser_id: Option<&Secret>) -> Response {
        match browser_id {
            Some(mark) => with_cookie(response, self.cookies.set(self.cookies.browser_id, mark)),
            None => response,
        }
    }

    /// Brings an error to the client, or, where its address has no place for one, to the person.
    pub(crate) fn error_callback(
        &self,
        browser: &BrowserContext,
        target: &ResponseTarget,
        error: &OAuthError,
        client: &Client,
        ui_locales: Option<&str>,
    ) -> Result<Response, PageError> {
        tracing::debug!(error = error.code, client = %client.id, "an authorization request was refused");
        let mut params = vec![("error", error.code), ("error_description", error.description.as_str())];
        params.extend(target.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        response::callback(target, &params, browser.lang(ui_locales), &self.assets).ok_or_else(|| {
            let detail = format!("{}: {}", error.code, error.description);
            PageError::bad_request(ErrorKind::BadRequest, detail).with_locales(ui_locales)
        })
    }

    /// Gives the client a code for this seat.
    async fn issue_code(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
        client: &Client,
        membership: &TenantMembership,
        session: &Session,
    ) -> Result<Response, PageError> {
        let now = self.clock.now();
        let code = Secret::new(self.random.token());
        let binding = CodeBinding {
            redirect_uri: request.target.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            ignores_pkce: client.pkce == Pkce::Ignore,
            nonce: request.nonce.clone(),
            reports_scope: request.has_unknown_scope,
            details: GrantDetails::new(request.scopes(), session.authenticated_at, &session.methods),
        };
        let expires_at = now + self.settings.code_ttl;
        let kept = Code {
            client: client.id.clone(),
            user: membership.user.id.clone(),
            tenant: membership.tenant.id.clone(),
            expires_at,
            details: binding.to_json(),
        };
        self.store.store_code(&code, &kept, &membership.membership.id, now).await?;
        let id_token = self.callback_id_token(request, client, session, code.reveal(), now)?;
        let mut params = vec![("code", code.reveal())];
        params.extend(id_token.as_deref().map(|token| ("id_token", token)));
        params.extend(request.target.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        let lang = browser.lang(request.ui_locales.as_deref());
        Ok(response::callback(&request.target, &params, lang, &self.assets).unwrap_or_else(|| {
            let model = CodePage {
                lang,
                assets: &self.assets,
                language_switch: None,
                application: &client.name,
                code: code.reveal(),
                minutes: self.settings.code_ttl.as_secs() / 60,
            };
            response::page(StatusCode::OK, pages::code_page(&model), None)
        }))
    }

    /// The callback's id_token: for who asks for `openid` with a nonce, unless the client wants none.
    fn callback_id_token(
        &self,
        request: &AuthorizationRequest,
        client: &Client,
        session: &Session,
        code: &str,
        now: Ticks,
    ) -> Result<Option<String>, PageError> {
        let is_wanted = client.callback_id_token && request.scopes().has(Scope::OpenId);
        let Some(nonce) = request.nonce.as_deref().filter(|_| is_wanted) else { return Ok(None) };
        let mut claims = IdClaims::new(&self.settings, &client.id, &session.user, now);
        claims.authenticated(session.authenticated_at, &session.methods);
        claims.nonce = Some(nonce);
        claims.c_hash = Some(jwt::left_half_hash(code));
        Ok(Some(jwt::sign(&self.keys, &claims)?))
    }
}

pub(crate) fn with_cookie(mut response: Response, line: Option<axum::http::HeaderValue>) -> Response {
    if let Some(line) = line {
        response.headers_mut().append(axum::http::header::SET_COOKIE, line);
    }
    response
}
