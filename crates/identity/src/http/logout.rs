//! Sign-out: `/logout` for users, `/connect/endsession` for clients (OpenID Connect RP-Initiated Logout).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::{ClientId, Realm};
use store::{AuditEntry, AuditKind, Client};

use super::authorize::with_cookie;
use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::login::invalid_ticket;
use super::page_error::PageError;
use super::response::{self, Response};
use crate::claims::IdTokenHint;
use crate::flow::ticket::{LogoutRequest, PendingRequest, TicketState};
use crate::openapi::{Authentication, OperationDoc, ResponseDoc, optional};
use crate::pages::{self, ReturnLink, SignOutPage, SignedOutPage};
use crate::params::{Params, query};
use crate::site::Site;

const VALUE_BYTES_MAX: usize = 16 * 1024;

pub(super) const END_SESSION_DOC: OperationDoc = OperationDoc {
    id: "endSession",
    summary: "Sign the user out",
    description: "For browsers. Asks the user for confirmation unless `id_token_hint` belongs to the signed-in user. \
                  Returns to the client only if `id_token_hint` or `client_id` identifies it and it has registered the \
                  URI; otherwise the user ends on a page of the provider.",
    authentication: Authentication::None,
    parameters: &[
        optional("id_token_hint", "An id_token of the user."),
        optional("client_id", "The client, if there is no `id_token_hint`."),
        optional("post_logout_redirect_uri", "A URI that is registered for this purpose, compared exactly."),
        optional("state", "Returned unchanged."),
    ],
    responses: &[
        ResponseDoc::Page("200", "An HTML page for the user."),
        ResponseDoc::Redirect("A redirect to a page for the user, or to the client."),
    ],
};

pub(super) async fn get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    identity.render(&browser, identity.sign_out_page(&browser, params.get("ticket")).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    identity.render(&browser, identity.confirm_sign_out(&browser, &form).await)
}

pub(super) async fn end_session_get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    identity.render(&browser, identity.end_session(&browser, &params).await)
}

pub(super) async fn end_session_post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    headers: HeaderMap,
    body: Body,
) -> Response {
    identity.redirect_post_to_get(&browser, "connect/endsession", &headers, body).await
}

impl Site {
    /// Logout on request of a client. An id_token of the signed-in user, with a registered address or none, is sufficient;
    /// otherwise the user has to confirm, so that no other site can sign users out. A wrong request is no error, which would leave the user
    /// signed in: it ends on a page of the provider.
    async fn end_session(&self, browser: &BrowserContext, params: &Params) -> Result<Response, PageError> {
        let empty = Params::default();
        let params = if params.check(VALUE_BYTES_MAX).is_ok() { params } else { &empty };
        let (hint, client) = self.logout_parties(params).await?;
        let uri = params.get("post_logout_redirect_uri").filter(|uri| {
            let is_registered = client.as_ref().is_some_and(|client| is_registered(client, uri));
            if !is_registered {
                let client = client.as_ref().map(|client| client.id.as_str());
                tracing::info!(?client, uri, "post_logout_redirect_uri is not registered for the client");
            }
            is_registered
        });
        let logout = LogoutRequest {
            uri: uri.map(Into::into),
            client: client.map(|client| client.id),
            state: params.get("state").map(Into::into),
            ui_locales: params.get("ui_locales").map(Into::into),
        };
        let Some(active) = self.any_session(browser).await? else {
            return self.signed_out(browser, &logout).await;
        };
        // Who sends the user to an address that is not the application's is asked about, too.
        let is_address_right = logout.uri.is_some() || params.get("post_logout_redirect_uri").is_none();
        if is_address_right && hint.is_some_and(|hint| hint.sub == active.account.id.as_str()) {
            return self.sign_out(browser, &logout).await;
        }
        let (ticket, browser_id) =
            self.issue_ticket(browser, PendingRequest::Logout(logout), self.clock.now())?;
        let lang = browser.lang(params.get("ui_locales"));
        let to = self.path(&format!("logout?{}", query([("ticket", &*ticket), ("lang", lang.tag())])));
        Ok(self.with_browser_cookie(response::redirect(&to), browser_id.as_ref()))
    }

    /// The valid `id_token_hint`, and the client that it or `client_id` names. If they disagree, neither counts.
    async fn logout_parties(
        &self,
        params: &Params,
    ) -> Result<(Option<IdTokenHint>, Option<Client>), PageError> {
        let hint = params.get("id_token_hint").and_then(|token| self.verify_hint(token));
        let named = params.get("client_id");
        let id = match (&hint, named) {
            (Some(hint), Some(named)) if hint.aud != named => return Ok((None, None)),
            (Some(hint), _) => ClientId::new(hint.aud.as_str()),
            (None, Some(named)) => ClientId::new(named),
            (None, None) => return Ok((None, None)),
        };
        let client = self.active_client(&id).await?;
        Ok((hint, client))
    }

    async fn sign_out_page(
        &self,
        browser: &BrowserContext,
        ticket: Option<&str>,
    ) -> Result<Response, PageError> {
        let state = ticket.map(|text| self.open_ticket(browser, text));
        let logout = match state {
            Some(TicketState::Valid(ticket)) => ticket.pending,
            Some(TicketState::Stale(logout)) => logout,
            Some(TicketState::Unreadable) => return Err(invalid_ticket()),
            None => PendingRequest::Logout(LogoutRequest::default()),
        };
        let PendingRequest::Logout(logout) = logout else { return Err(invalid_ticket()) };
        let Some(active) = self.any_session(browser).await? else {
            return self.signed_out(browser, &logout).await;
        };
        let application = self.requesting_client_of(&logout).await?.map(|client| client.name);
        let (destination, ui_locales) = (logout.uri.clone(), logout.ui_locales.clone());
        let (ticket, browser_id) =
            self.issue_ticket(browser, PendingRequest::Logout(logout), self.clock.now())?;
        let lang = browser.lang(ui_locales.as_deref());
        let page_query = |lang: &str| query([("ticket", ticket.as_str()), ("lang", lang)]);
        let model = SignOutPage {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("logout?{}", page_query(lang.other().tag())))),
            action: &self.path(&format!("logout?{}", query([("lang", lang.tag())]))),
            ticket: &ticket,
            email: &active.account.email,
            application: application.as_deref(),
            cancel: &self.path_in(browser, self.home()),
        };
        let form_action = response::form_action(browser.sends_fetch_metadata, destination.as_deref());
        let page = response::page_with_forms(StatusCode::OK, pages::sign_out(&model), &form_action);
        Ok(self.with_browser_cookie(page, browser_id.as_ref()))
    }

    async fn confirm_sign_out(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => match ticket.pending {
                PendingRequest::Logout(logout) => self.sign_out(browser, &logout).await,
                PendingRequest::Authorization(_)
                | PendingRequest::Home
                | PendingRequest::SecondFactors
                | PendingRequest::Page(_)
                | PendingRequest::Link(_) => Err(invalid_ticket()),
            },
            // Show the page again with a new ticket.
            TicketState::Stale(PendingRequest::Logout(_)) => self.sign_out_page(browser, Some(text)).await,
            TicketState::Stale(_) | TicketState::Unreadable => Err(invalid_ticket()),
        }
    }

    /// Ends the session in this browser.
    async fn sign_out(
        &self,
        browser: &BrowserContext,
        logout: &LogoutRequest,
    ) -> Result<Response, PageError> {
        if let Some(id) = &browser.session {
            let user = self.any_session(browser).await?.map(|active| active.account.id);
            let mut entry =
                AuditEntry::new(AuditKind::signed_out(self.realm), self.clock.now(), &browser.audit_by(user));
            entry.client.clone_from(&logout.client);
            self.store.end_session(self.realm, id, &entry).await?;
        }
        let response = self.signed_out(browser, logout).await?;
        Ok(with_cookie(response, self.cookies.clear(self.cookies.session)))
    }

    /// A redirect to the client, or a page that confirms the sign-out.
    async fn signed_out(
        &self,
        browser: &BrowserContext,
        logout: &LogoutRequest,
    ) -> Result<Response, PageError> {
        // Checked again: the registration may have changed since the ticket was issued.
        let client = self.requesting_client_of(logout).await?;
        if let (Some(uri), Some(client)) = (&logout.uri, &client)
            && is_registered(client, uri)
        {
            let to = with_state(uri, logout.state.as_deref());
            let lang = browser.lang(logout.ui_locales.as_deref());
            return Ok(response::send_to_client(&to, browser, lang, &self.assets));
        }
        let permissions = (self.realm == Realm::Users).then(|| self.path_in(browser, "permissions"));
        let model: SignedOutPage<'_> = SignedOutPage {
            lang: browser.lang(logout.ui_locales.as_deref()),
            assets: &self.assets,
            language_switch: None,
            back: None::<ReturnLink<'_>>,
            permissions: permissions.as_deref(),
            sign_in: &self.path_in(browser, "login"),
        };
        Ok(response::page(StatusCode::OK, pages::signed_out(&model)))
    }

    async fn requesting_client_of(&self, logout: &LogoutRequest) -> Result<Option<Client>, PageError> {
        let Some(id) = &logout.client else { return Ok(None) };
        Ok(self.active_client(id).await?)
    }
}

/// Whether the client has registered this post-logout redirect URI.
fn is_registered(client: &Client, uri: &str) -> bool {
    client.post_logout_uris.iter().any(|registered| domain::redirect_uri::matches(registered, uri))
}

fn with_state(uri: &str, state: Option<&str>) -> String {
    let Some(state) = state else { return uri.to_owned() };
    let separator = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{separator}{}", query([("state", state)]))
}
