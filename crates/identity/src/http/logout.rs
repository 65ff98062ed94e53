//! Signing out: `/logout` for people, `/connect/endsession` for applications (RP-initiated logout).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use domain::ClientId;
use store::{AuditEntry, AuditKind, Client};

use super::answer::{self, Answer};
use super::authorize::with_cookie;
use super::failed::Failed;
use super::form::OwnForm;
use super::login::{other_language, unreadable};
use super::visit::Visit;
use crate::Identity;
use crate::flow::ticket::{Errand, Opened, SignOutErrand};
use crate::pages::{self, Back, ErrorKind, SignOut, SignedOut};
use crate::params::{Params, query};
use crate::request::Unanswerable;
use crate::tokens::Hint;

const VALUE_BYTES_MAX: usize = 16 * 1024;

pub(super) async fn get(State(identity): State<Arc<Identity>>, visit: Visit, params: Params) -> Answer {
    identity.shown(&visit, identity.show_sign_out(&visit, params.get("ticket")).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    OwnForm(form): OwnForm,
) -> Answer {
    identity.shown(&visit, identity.confirm_sign_out(&visit, &form).await)
}

pub(super) async fn end_session_get(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    params: Params,
) -> Answer {
    identity.shown(&visit, identity.end_session(&visit, &params).await)
}

pub(super) async fn end_session_post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    identity.as_get(&visit, "connect/endsession", &headers, body).await
}

impl Identity {
    /// An application asks. Where it shows an id_token of the user who is signed in, that is enough;
    /// else the user is asked, so that no page can sign anybody out.
    async fn end_session(&self, visit: &Visit, params: &Params) -> Result<Answer, Failed> {
        let check = params.check(VALUE_BYTES_MAX);
        check.map_err(|error| Failed::bad(ErrorKind::BadRequest, error.description))?;
        let hint = match params.get("id_token_hint") {
            None => None,
            Some(token) => Some(self.hint(token).ok_or_else(|| {
                Failed::bad(ErrorKind::BadRequest, "id_token_hint is not an id_token of this provider")
            })?),
        };
        let client = self.asking_client(params, hint.as_ref()).await?;
        let uri = params.get("post_logout_redirect_uri");
        if uri.is_some_and(|uri| !client.as_ref().is_some_and(|client| may_return(client, uri))) {
            let detail = "post_logout_redirect_uri is not registered for the application that asks; name the \
                          application by id_token_hint or client_id";
            return Err(Failed::bad(ErrorKind::RedirectUnregistered, detail));
        }
        let errand = SignOutErrand {
            client: client.map(|client| client.id),
            uri: uri.map(Into::into),
            state: params.get("state").map(Into::into),
            ui_locales: params.get("ui_locales").map(Into::into),
        };
        let Some(signed_in) = self.signed_in(visit).await? else {
            return self.signed_out(visit, &errand).await;
        };
        if hint.is_some_and(|hint| hint.sub == signed_in.user.id.as_str()) {
            return self.sign_out(visit, &errand).await;
        }
        let (ticket, browser) = self.ticket(visit, Errand::SignOut(errand), self.clock.now())?;
        let lang = visit.lang(params.get("ui_locales"));
        let to = self.path(&format!("logout?{}", query([("ticket", &*ticket), ("lang", lang.tag())])));
        Ok(self.with_browser(answer::redirect(&to), browser.as_ref()))
    }

    /// The client that the hint or `client_id` names; both must agree.
    async fn asking_client(&self, params: &Params, hint: Option<&Hint>) -> Result<Option<Client>, Failed> {
        let named = params.get("client_id");
        let hinted = hint.map(|hint| hint.aud.as_str());
        if let (Some(named), Some(hinted)) = (named, hinted)
            && named != hinted
        {
            let detail = "client_id is another than the id_token_hint was made for";
            return Err(Failed::bad(ErrorKind::BadRequest, detail));
        }
        let Some(id) = hinted.or(named) else { return Ok(None) };
        let client = self.active_client(&ClientId::new(id)).await?;
        client.map(Some).ok_or_else(|| Unanswerable::Client.into())
    }

    async fn show_sign_out(&self, visit: &Visit, ticket: Option<&str>) -> Result<Answer, Failed> {
        let opened = ticket.map(|text| self.tickets.open(text, visit.browser.as_ref(), self.clock.now()));
        let errand = match opened {
            Some(Opened::Valid(ticket)) => ticket.errand,
            Some(Opened::Stale(errand)) => errand,
            Some(Opened::Unreadable) => return Err(unreadable()),
            None => Errand::SignOut(SignOutErrand::default()),
        };
        let Errand::SignOut(errand) = errand else { return Err(unreadable()) };
        let Some(signed_in) = self.signed_in(visit).await? else {
            return self.signed_out(visit, &errand).await;
        };
        let application = self.asking(&errand).await?.map(|client| client.name);
        let (destination, ui_locales) = (errand.uri.clone(), errand.ui_locales.clone());
        let (ticket, browser) = self.ticket(visit, Errand::SignOut(errand), self.clock.now())?;
        let lang = visit.lang(ui_locales.as_deref());
        let here = |lang: &str| query([("ticket", ticket.as_str()), ("lang", lang)]);
        let model = SignOut {
            lang,
            assets: &self.assets,
            language_switch: Some(&self.path(&format!("logout?{}", here(other_language(lang).tag())))),
            action: &self.path(&format!("logout?{}", query([("lang", lang.tag())]))),
            ticket: &ticket,
            email: &signed_in.user.email,
            application: application.as_deref(),
        };
        let page = answer::page(StatusCode::OK, pages::sign_out(&model), destination.as_deref());
        Ok(self.with_browser(page, browser.as_ref()))
    }

    async fn confirm_sign_out(&self, visit: &Visit, form: &Params) -> Result<Answer, Failed> {
        let text = form.get("ticket").unwrap_or_default();
        match self.tickets.open(text, visit.browser.as_ref(), self.clock.now()) {
            Opened::Valid(ticket) => match ticket.errand {
                Errand::SignOut(errand) => self.sign_out(visit, &errand).await,
                Errand::Authorize(_) | Errand::Permissions => Err(unreadable()),
            },
            // Asked again, with a ticket that is good here.
            Opened::Stale(Errand::SignOut(_)) => self.show_sign_out(visit, Some(text)).await,
            Opened::Stale(_) | Opened::Unreadable => Err(unreadable()),
        }
    }

    /// Ends the session in this browser.
    async fn sign_out(&self, visit: &Visit, errand: &SignOutErrand) -> Result<Answer, Failed> {
        if let Some(id) = &visit.session {
            let mut entry = AuditEntry::new(AuditKind::SignedOut, self.clock.now(), &visit.context);
            entry.user = self.signed_in(visit).await?.map(|signed_in| signed_in.user.id);
            entry.client.clone_from(&errand.client);
            self.store.end_session(id, &entry).await?;
        }
        let done = self.signed_out(visit, errand).await?;
        Ok(with_cookie(done, self.cookies.clear(self.cookies.session)))
    }

    /// Back to the application, or a page that says that it is done.
    async fn signed_out(&self, visit: &Visit, errand: &SignOutErrand) -> Result<Answer, Failed> {
        // Asked again: the ticket may be older than what is registered.
        let client = self.asking(errand).await?;
        if let (Some(uri), Some(client)) = (&errand.uri, &client)
            && may_return(client, uri)
        {
            return Ok(answer::redirect(&with_state(uri, errand.state.as_deref())));
        }
        let model: SignedOut<'_> = SignedOut {
            lang: visit.lang(errand.ui_locales.as_deref()),
            assets: &self.assets,
            language_switch: None,
            back: None::<Back<'_>>,
            permissions: &self.path_in(visit, "permissions"),
        };
        Ok(answer::page(StatusCode::OK, pages::signed_out(&model), None))
    }

    async fn asking(&self, errand: &SignOutErrand) -> Result<Option<Client>, Failed> {
        let Some(id) = &errand.client else { return Ok(None) };
        Ok(self.active_client(id).await?)
    }
}

/// Whether a client may be returned to at this address after sign-out.
fn may_return(client: &Client, uri: &str) -> bool {
    client.post_logout_uris.iter().any(|registered| registered == uri)
}

fn with_state(uri: &str, state: Option<&str>) -> String {
    let Some(state) = state else { return uri.to_owned() };
    let joint = if uri.contains('?') { '&' } else { '?' };
    format!("{uri}{joint}{}", query([("state", state)]))
}
