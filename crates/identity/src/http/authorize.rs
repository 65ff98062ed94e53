//! `/connect/authorize`: reads the request, asks the dispatcher, and brings the answer to the client.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use domain::{Scope, Secret, TenantId};
use store::{AuthorizationCode, Client, Pkce, Session, Status, TenantMembership, User};

use super::answer::{self, Answer};
use super::failed::Failed;
use super::form::{QUERY_BYTES_MAX, too_long};
use super::visit::Visit;
use crate::Identity;
use crate::flow::step::{self, Situation, Step};
use crate::flow::ticket::Errand;
use crate::grant::{Binding, Details};
use crate::jwt;
use crate::oauth_error::OAuthError;
use crate::pages::{self, CodePage, ErrorKind};
use crate::params::{Params, query};
use crate::request::{self, Authorization, Reply, Unanswerable};
use crate::tokens::{Hint, IdClaims};
use domain::Ticks;

pub(super) async fn get(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    RawQuery(query): RawQuery,
    params: Params,
) -> Answer {
    let begun = match query.map_or(0, |query| query.len()) {
        0..=QUERY_BYTES_MAX => identity.begin(&visit, &params).await,
        _ => Err(too_long()),
    };
    identity.shown(&visit, begun)
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    identity.as_get(&visit, "connect/authorize", &headers, body).await
}

/// Who is signed in in this browser.
pub(crate) struct SignedIn {
    pub(crate) session: Session,
    pub(crate) user: User,
}

impl Identity {
    /// An address of ours, on whatever host the browser has come to.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", self.settings.base_path())
    }

    /// The same, in the language that was picked.
    pub(crate) fn path_in(&self, visit: &Visit, page: &str) -> String {
        match visit.picked() {
            Some(lang) => self.path(&format!("{page}?{}", query([("lang", lang)]))),
            None => self.path(page),
        }
    }

    /// A live session of a user who may sign in.
    pub(crate) async fn signed_in(&self, visit: &Visit) -> store::Result<Option<SignedIn>> {
        let Some(id) = &visit.session else { return Ok(None) };
        let Some(session) = self.store.find_session(id, self.clock.now()).await? else { return Ok(None) };
        let user = self.store.find_user(&session.user).await?;
        let user = user.filter(|user| user.status == Status::Active);
        Ok(user.map(|user| SignedIn { session, user }))
    }

    /// The client, where it is there and not disabled.
    pub(crate) async fn active_client(&self, id: &domain::ClientId) -> store::Result<Option<Client>> {
        let client = self.store.find_client(id).await?;
        Ok(client.filter(|client| client.status == Status::Active))
    }

    async fn begin(&self, visit: &Visit, params: &Params) -> Result<Answer, Failed> {
        let client = match request::client_id(params) {
            Some(id) => self.active_client(&id).await?,
            None => None,
        };
        let speak = |why: Unanswerable| {
            // Clients' ids and addresses are no secrets, and who has to repair them needs them in the log.
            let (client, uri) = (params.get("client_id"), params.get("redirect_uri"));
            tracing::info!(?client, ?uri, "a request cannot be answered to anybody");
            Failed::from(why).speaking(params.get("ui_locales"))
        };
        let client = client.ok_or(Unanswerable::Client).map_err(speak)?;
        let reply = request::reply(params, &client).map_err(speak)?;
        let asked = self.hinted(params, &client).and_then(|hinted| {
            request::authorization(params, reply.clone(), &client, hinted.map(|hint| hint.sub))
        });
        match asked {
            Ok(asked) => self.proceed(visit, &asked, &client, self.clock.now(), None).await,
            Err(error) => self.refuse(visit, &reply, &error, &client, params.get("ui_locales")),
        }
    }

    /// Whom an id_token_hint names; it must be ours, and this client's.
    fn hinted(&self, params: &Params, client: &Client) -> Result<Option<Hint>, OAuthError> {
        let Some(token) = params.get("id_token_hint") else { return Ok(None) };
        let hint = self.hint(token).filter(|hint| hint.aud == client.id.as_str());
        hint.map(Some)
            .ok_or_else(|| OAuthError::invalid_request("id_token_hint is not an id_token of this client"))
    }

    pub(crate) fn hint(&self, token: &str) -> Option<Hint> {
        jwt::verify::<Hint>(&self.keys, token).filter(|hint| hint.is_ours(&self.settings))
    }

    /// Goes one step: to a page, or to the end.
    pub(crate) async fn proceed(
        &self,
        visit: &Visit,
        asked: &Authorization,
        client: &Client,
        started_at: Ticks,
        chosen: Option<&TenantId>,
    ) -> Result<Answer, Failed> {
        let signed_in = self.signed_in(visit).await?;
        let step = self.next_step(asked, client, signed_in.as_ref(), started_at, chosen).await?;
        match (step, signed_in) {
            (Step::Issue(seat), Some(signed_in)) => {
                self.issue(visit, asked, client, &seat, &signed_in.session).await
            }
            (Step::Refuse(error), _) => {
                self.refuse(visit, &asked.reply, &error, client, asked.ui_locales.as_deref())
            }
            (Step::Choose { .. }, _) => self.to_page(visit, "tenant", asked, started_at),
            (Step::SignIn | Step::Issue(_), _) => self.to_page(visit, "login", asked, started_at),
        }
    }

    pub(crate) async fn next_step(
        &self,
        asked: &Authorization,
        client: &Client,
        signed_in: Option<&SignedIn>,
        started_at: Ticks,
        chosen: Option<&TenantId>,
    ) -> Result<Step, Failed> {
        let now = self.clock.now();
        let (mut seats, mut grants) = (Vec::new(), Vec::new());
        if let Some(SignedIn { user, .. }) = signed_in {
            seats = self.store.active_memberships(&user.id).await?;
            if client.consent == store::Consent::Required || asked.tenant.is_some() {
                grants = self.store.live_grants(&user.id, now).await?;
            }
        }
        Ok(step::next(&Situation {
            asked,
            client,
            started_at,
            session: signed_in.map(|signed_in| &signed_in.session),
            seats: &seats,
            grants: &grants,
            chosen,
            now,
        }))
    }

    /// Sends the browser to a page of ours, with a ticket.
    fn to_page(
        &self,
        visit: &Visit,
        page: &str,
        asked: &Authorization,
        started_at: Ticks,
    ) -> Result<Answer, Failed> {
        let errand = Errand::Authorize(Box::new(asked.clone()));
        let (ticket, cookie) = self.ticket(visit, errand, started_at)?;
        let lang = visit.picked();
        let params = [("ticket", Some(ticket.as_str())), ("lang", lang)];
        let params = params.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let to = self.path(&format!("{page}?{}", query(params)));
        Ok(self.with_browser(answer::redirect(&to), cookie.as_ref()))
    }

    /// A ticket for this browser, and the browser's mark where it has to be set.
    pub(crate) fn ticket(
        &self,
        visit: &Visit,
        errand: Errand,
        started_at: Ticks,
    ) -> Result<(String, Option<Secret>), Failed> {
        let made = visit.browser.is_none().then(|| Secret::new(self.random.token()));
        let Some(browser) = visit.browser.as_ref().or(made.as_ref()) else { return Err(too_long()) };
        let ticket = self.tickets.issue(errand, browser, started_at)?.ok_or_else(too_long)?;
        Ok((ticket, made))
    }

    pub(crate) fn with_browser(&self, answer: Answer, browser: Option<&Secret>) -> Answer {
        match browser {
            Some(mark) => with_cookie(answer, self.cookies.set(self.cookies.browser, mark)),
            None => answer,
        }
    }

    /// Brings an error to the client, or, where its address has no place for one, to the person.
    pub(crate) fn refuse(
        &self,
        visit: &Visit,
        reply: &Reply,
        error: &OAuthError,
        client: &Client,
        ui_locales: Option<&str>,
    ) -> Result<Answer, Failed> {
        tracing::debug!(error = error.code, client = %client.id, "an authorization request was refused");
        let mut params = vec![("error", error.code), ("error_description", error.description.as_str())];
        params.extend(reply.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        answer::callback(reply, &params, visit.lang(ui_locales), &self.assets).ok_or_else(|| {
            let detail = format!("{}: {}", error.code, error.description);
            Failed::bad(ErrorKind::BadRequest, detail).speaking(ui_locales)
        })
    }

    /// Gives the client a code for this seat.
    async fn issue(
        &self,
        visit: &Visit,
        asked: &Authorization,
        client: &Client,
        seat: &TenantMembership,
        session: &Session,
    ) -> Result<Answer, Failed> {
        let now = self.clock.now();
        let code = Secret::new(self.random.token());
        let binding = Binding {
            redirect_uri: asked.reply.redirect_uri.clone(),
            challenge: asked.challenge.clone(),
            ignores_pkce: client.pkce == Pkce::Ignore,
            nonce: asked.nonce.clone(),
            tells_scope: asked.has_unknown_scope,
            details: Details::new(asked.scopes(), session.authenticated_at, &session.methods),
        };
        let expires_at = now + self.settings.code_ttl;
        let kept = AuthorizationCode {
            client: client.id.clone(),
            user: seat.user.id.clone(),
            tenant: seat.tenant.id.clone(),
            expires_at,
            details: binding.write(),
        };
        self.store.store_code(&code, &kept, &seat.membership.id, now).await?;
        let id_token = self.callback_id_token(asked, client, session, code.reveal(), now)?;
        let mut params = vec![("code", code.reveal())];
        params.extend(id_token.as_deref().map(|token| ("id_token", token)));
        params.extend(asked.reply.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.settings.issuer));
        let lang = visit.lang(asked.ui_locales.as_deref());
        Ok(answer::callback(&asked.reply, &params, lang, &self.assets).unwrap_or_else(|| {
            let model = CodePage {
                lang,
                assets: &self.assets,
                language_switch: None,
                application: &client.name,
                code: code.reveal(),
                minutes: self.settings.code_ttl.as_secs() / 60,
            };
            answer::page(StatusCode::OK, pages::code_page(&model), None)
        }))
    }

    /// The callback's id_token: for who asks for `openid` with a nonce, unless the client wants none.
    fn callback_id_token(
        &self,
        asked: &Authorization,
        client: &Client,
        session: &Session,
        code: &str,
        now: Ticks,
    ) -> Result<Option<String>, Failed> {
        let is_wanted = client.callback_id_token && asked.scopes().has(Scope::OpenId);
        let Some(nonce) = asked.nonce.as_deref().filter(|_| is_wanted) else { return Ok(None) };
        let mut claims = IdClaims::new(&self.settings, &client.id, &session.user, now);
        claims.authenticated(session.authenticated_at, &session.methods);
        claims.nonce = Some(nonce);
        claims.c_hash = Some(jwt::half_hash(code));
        Ok(Some(jwt::sign(&self.keys, &claims)?))
    }
}

pub(crate) fn with_cookie(mut answer: Answer, line: Option<axum::http::HeaderValue>) -> Answer {
    if let Some(line) = line {
        answer.headers_mut().append(axum::http::header::SET_COOKIE, line);
    }
    answer
}
