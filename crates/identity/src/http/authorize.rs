//! `/connect/authorize`: parses the authorization request, decides the next step of the flow, and sends the
//! authorization response to the client.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use domain::second_factor::has_second_factor;
use domain::{Scope, Secret, TenantId};
use store::{
    AuditContext, AuthorizationCode, CallbackIdToken, Client, GrantSession, Pkce, Session, TenantMembership,
};

use super::authorization_response::AuthorizationResponse;
use super::browser::BrowserContext;
use super::extract::{QUERY_BYTES_MAX, too_long};
use super::own_factors;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::ActiveSession;
use crate::Identity;
use crate::authorization_request::{self, AuthorizationRequest, ResponseTarget, TargetError};
use crate::claims::{IdClaims, IdTokenHint};
use crate::flow::step::{self, FlowState, SecondFactorState, Step};
use crate::flow::ticket::{PendingRequest, TicketExtra, TicketState};
use crate::grant::{CodeBinding, GrantDetails};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::openapi::{Authentication, OperationDoc, ResponseDoc, optional, required};
use crate::pages::{self, CodePage, ErrorKind};
use crate::params::{Params, query};
use crate::site::Site;
use domain::Ticks;

pub(super) const DOC: OperationDoc = OperationDoc {
    id: "authorize",
    summary: "Send a user to sign in",
    description: "For browsers. Shows the sign-in and tenant pages if they are needed and then redirects to \
                  `redirect_uri` with `code`, `state` and `iss`, plus `id_token` if the client is set up for it (by \
                  default: if the request has the scope `openid`, a `nonce` and no `code_challenge`); or with `error`. A POST with the same fields is redirected to this GET.",
    authentication: Authentication::None,
    parameters: &[
        required("client_id", "The client."),
        required("response_type", "`code`."),
        required("redirect_uri", "A redirect URI that is registered for the client, compared exactly."),
        required("scope", "Scopes, separated by spaces or plus signs."),
        optional("state", "Returned unchanged. Compare it with the value you sent."),
        optional("nonce", "Returned in the id_token."),
        optional("code_challenge", "PKCE: the SHA-256 hash of the code verifier, as base64url."),
        optional("code_challenge_method", "`S256`."),
        optional("response_mode", "`query` or `form_post`."),
        optional("prompt", "`none`, `login`, `consent` or `select_account`."),
        optional(
            "acr_values",
            "`tenant:<id>` preselects a tenant. `2fa` asks for a session with a second factor. Both can be combined, separated by a space.",
        ),
    ],
    responses: &[
        ResponseDoc::Page("200", "An HTML page for the user."),
        ResponseDoc::Redirect("A redirect to a page for the user, or to the client."),
        ResponseDoc::Page("400", "An HTML page that explains why the error cannot be sent to the client."),
    ],
};

pub(super) async fn get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    RawQuery(query): RawQuery,
    params: Params,
) -> Response {
    let result = match query.map_or(0, |query| query.len()) {
        0..=QUERY_BYTES_MAX => identity.start_authorization(&browser, &params).await,
        _ => Err(too_long()),
    };
    identity.render(&browser, result)
}

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    identity.redirect_post_to_get(&browser, "connect/authorize", &headers, body).await
}

impl Site {
    /// The path of one of the realm's own pages, without a host.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", self.base_path)
    }

    /// The same, with the language that the user selected.
    pub(crate) fn path_in(&self, browser: &BrowserContext, page: &str) -> String {
        match browser.selected_lang() {
            Some(lang) => self.path(&format!("{page}?{}", query([("lang", lang)]))),
            None => self.path(page),
        }
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
        let page_error = |error: TargetError| {
            // Client ids and redirect URIs are not secret, and whoever fixes the client needs them in the log.
            let (client, uri) = (params.get("client_id"), params.get("redirect_uri"));
            tracing::info!(?client, ?uri, "authorization request without a valid client and redirect_uri");
            PageError::from(error).with_locales(params.get("ui_locales"))
        };
        let client = client.ok_or(TargetError::UnknownClient).map_err(page_error)?;
        if !client.kind.signs_users_in() {
            return Err(page_error(TargetError::NotForSignIn));
        }
        let portal = self.sandbox_redirect_uri();
        let target = authorization_request::response_target(params, &client, portal.as_deref())
            .map_err(|error| page_error(error).with_addresses(self, params.get("redirect_uri"), &client))?;
        let request = self.id_token_hint(params, &client).and_then(|id_token_hint| {
            authorization_request::parse(params, target.clone(), &client, id_token_hint.map(|hint| hint.sub))
        });
        match request {
            Ok(request) => self.advance(browser, &request, &client, self.clock.now(), None).await,
            Err(error) => self.error_callback(browser, &target, &error, &client, params.get("ui_locales")),
        }
    }

    /// Verifies `id_token_hint`, which must be an id_token of this provider for this client.
    fn id_token_hint(&self, params: &Params, client: &Client) -> Result<Option<IdTokenHint>, OAuthError> {
        let Some(token) = params.get("id_token_hint") else { return Ok(None) };
        let hint = self.verify_hint(token).filter(|hint| hint.aud == client.id.as_str());
        hint.map(Some).ok_or_else(|| {
            OAuthError::invalid_request(
                "id_token_hint is not an id_token that this provider issued to this client.",
            )
        })
    }

    /// Takes the next step of the flow: redirects to a page, or sends the authorization response.
    pub(crate) async fn advance(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
        client: &Client,
        started_at: Ticks,
        chosen_tenant: Option<&TenantId>,
    ) -> Result<Response, PageError> {
        let active_session = self.any_session(browser).await?;
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
            (Step::GiveSecondFactor, _) => {
                self.redirect_to_page(browser, "second-factor", request, started_at)
            }
            (Step::Enrol, _) => self.redirect_to_page(browser, own_factors::PAGE, request, started_at),
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
        let mut second_factor = SecondFactorState { policy: self.second_factor_policy(), is_enrolled: false };
        if let Some(ActiveSession { account: user, session }) = active_session {
            memberships = self.enterable_memberships(&user.id, client, request).await?;
            if client.consent == store::Consent::Required || request.tenant.is_some() {
                grants = self.store.live_grants(&user.id, now).await?;
            }
            if !has_second_factor(&session.methods) {
                second_factor.is_enrolled = self.store.second_factors(&user.id).await?.is_enrolled();
            }
        }
        Ok(step::next_step(&FlowState {
            request,
            client,
            started_at,
            session: active_session.map(|active_session| &active_session.session),
            second_factor,
            memberships: &memberships,
            grants: &grants,
            chosen_tenant,
            now,
        }))
    }

    /// Redirects the browser to a page of the provider, with a ticket.
    fn redirect_to_page(
        &self,
        browser: &BrowserContext,
        page: &str,
        request: &AuthorizationRequest,
        started_at: Ticks,
    ) -> Result<Response, PageError> {
        let pending = PendingRequest::Authorization(Box::new(request.clone()));
        self.redirect_with(browser, page, pending, started_at, None)
    }

    /// Redirects the browser to a page of this realm, with a ticket.
    pub(crate) fn redirect_with(
        &self,
        browser: &BrowserContext,
        page: &str,
        pending: PendingRequest,
        started_at: Ticks,
        extra: Option<TicketExtra>,
    ) -> Result<Response, PageError> {
        let (ticket, cookie) = self.issue_ticket_with(browser, pending, started_at, extra)?;
        let lang = browser.selected_lang();
        let params = [("ticket", Some(ticket.as_str())), ("lang", lang)];
        let params = params.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let to = self.path(&format!("{page}?{}", query(params)));
        Ok(self.with_browser_cookie(response::redirect(&to), cookie.as_ref()))
    }

    /// A ticket for this browser, and the browser id if the response must set its cookie.
    pub(crate) fn issue_ticket(
        &self,
        browser: &BrowserContext,
        pending: PendingRequest,
        started_at: Ticks,
    ) -> Result<(String, Option<Secret>), PageError> {
        self.issue_ticket_with(browser, pending, started_at, None)
    }

    pub(crate) fn issue_ticket_with(
        &self,
        browser: &BrowserContext,
        pending: PendingRequest,
        started_at: Ticks,
        extra: Option<TicketExtra>,
    ) -> Result<(String, Option<Secret>), PageError> {
        let new_id = browser.browser_id.is_none().then(|| Secret::new(self.random.token()));
        let Some(browser_id) = browser.browser_id.as_ref().or(new_id.as_ref()) else {
            return Err(too_long());
        };
        let ticket =
            self.tickets.issue(self.realm, pending, browser_id, started_at, extra)?.ok_or_else(too_long)?;
        Ok((ticket, new_id))
    }

    pub(crate) fn open_ticket(&self, browser: &BrowserContext, text: &str) -> TicketState {
        self.tickets.open(self.realm, text, browser.browser_id.as_ref(), self.clock.now())
    }

    pub(crate) fn with_browser_cookie(&self, response: Response, browser_id: Option<&Secret>) -> Response {
        match browser_id {
            Some(id) => with_cookie(response, self.cookies.set(self.cookies.browser_id, id)),
            None => response,
        }
    }

    /// Sends an error to the client; the out-of-band redirect URI cannot receive one, so the user sees a page.
    pub(crate) fn error_callback(
        &self,
        browser: &BrowserContext,
        target: &ResponseTarget,
        error: &OAuthError,
        client: &Client,
        ui_locales: Option<&str>,
    ) -> Result<Response, PageError> {
        tracing::debug!(error = error.code, client = %client.id, "authorization request refused");
        let mut params = vec![("error", error.code), ("error_description", error.description.as_str())];
        params.extend(target.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        let sent = response::callback(target, &params, browser, browser.lang(ui_locales), &self.assets);
        sent.map(|sent| AuthorizationResponse::with_error(target).attach(sent)).ok_or_else(|| {
            let detail = format!("{}: {}", error.code, error.description);
            PageError::bad_request(ErrorKind::BadRequest, detail).with_locales(ui_locales)
        })
    }

    /// Issues a code for this membership and sends it to the client.
    async fn issue_code(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
        client: &Client,
        membership: &TenantMembership,
        session: &Session,
    ) -> Result<Response, PageError> {
        let audit = browser.audit_by(Some(membership.user.id.clone()));
        let sid = self.sid(session.id, &client.id);
        let in_session = (session, Some(sid.as_str()));
        let code = self.store_new_code(request, client, membership, in_session, &audit).await?;
        let id_token = self.callback_id_token(request, client, (session, sid.as_str()), code.reveal())?;
        if id_token.is_some() {
            let joined = GrantSession { id: session.id, expires_at: session.expires_at };
            self.store.join_session(joined, &session.account, &client.id, &audit).await?;
        }
        let mut params = vec![("code", code.reveal())];
        params.extend(id_token.as_deref().map(|token| ("id_token", token)));
        params.extend(request.target.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        let lang = browser.lang(request.ui_locales.as_deref());
        let sent = response::callback(&request.target, &params, browser, lang, &self.assets);
        let sent = sent.map(|sent| AuthorizationResponse::with_code(request, &code).attach(sent));
        Ok(sent.unwrap_or_else(|| {
            let model = CodePage {
                lang,
                assets: &self.assets,
                language_switch: None,
                application: &client.name,
                code: code.reveal(),
                state: request.target.state.as_deref(),
                minutes: self.settings.code_ttl.as_secs() / 60,
            };
            response::page(StatusCode::OK, pages::code_page(&model))
        }))
    }

    /// The id_token of the callback, if the client's record and the request ask for one.
    fn callback_id_token(
        &self,
        request: &AuthorizationRequest,
        client: &Client,
        (session, sid): (&Session, &str),
        code: &str,
    ) -> Result<Option<String>, PageError> {
        let is_wanted = match client.callback_id_token {
            CallbackIdToken::Auto => request.nonce.is_some() && !request.has_challenge,
            CallbackIdToken::Always => true,
            CallbackIdToken::Never => false,
        };
        if !is_wanted || !request.scopes().has(Scope::OpenId) {
            return Ok(None);
        }
        let mut claims = IdClaims::new(&self.settings, &client.id, &session.account, self.clock.now());
        claims.set_authentication(session.authenticated_at, &session.methods);
        claims.nonce = request.nonce.as_deref();
        claims.sid = Some(sid);
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

impl Identity {
    /// Stores a new code for this membership. `sid`: none where the session is not one of a browser, which can end.
    pub(crate) async fn store_new_code(
        &self,
        request: &AuthorizationRequest,
        client: &Client,
        membership: &TenantMembership,
        (session, sid): (&Session, Option<&str>),
        audit: &AuditContext,
    ) -> store::Result<Secret> {
        let now = self.clock.now();
        let code = Secret::new(self.random.token());
        let binding = CodeBinding {
            redirect_uri: request.target.redirect_uri.clone(),
            challenge: request.challenge.clone(),
            ignores_pkce: client.pkce_rule() == Pkce::Ignore,
            nonce: request.nonce.clone(),
            reports_scope: request.has_unknown_scope,
            session: sid.map(|_| session.into()),
            details: GrantDetails::new(request.scopes(), session.authenticated_at, &session.methods, sid),
        };
        let expires_at = now + self.settings.code_ttl;
        let stored = AuthorizationCode {
            client: client.id.clone(),
            user: membership.user.id.clone(),
            tenant: membership.tenant.id.clone(),
            expires_at,
            details: binding.to_json(),
        };
        self.store.store_code(&code, &stored, &membership.membership.id, now, audit).await?;
        Ok(code)
    }
}
