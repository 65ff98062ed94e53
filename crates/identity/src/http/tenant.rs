//! `/tenant`: the page on which the user chooses a tenant and, if the client requires it, consents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::TenantId;
use domain::redirect_uri::{OUT_OF_BAND, is_embedded};
use store::{AuditEntry, AuditKind, Client, TenantMembership};

use super::browser::BrowserContext;
use super::extract::SameSiteForm;
use super::login::invalid_ticket;
use super::page_error::PageError;
use super::response::{self, Response};
use super::session::ActiveSession;
use crate::authorization_request::AuthorizationRequest;
use crate::flow::step::Step;
use crate::flow::ticket::{PendingRequest, Ticket, TicketState};
use crate::oauth_error::OAuthError;
use crate::pages::{
    self, ConsentRequest, ReturnsTo, Search, TenantChoiceError, TenantChoicePage, TenantOption,
};
use crate::params::{Params, query};
use crate::site::Site;

/// With this many tenants or more the page has a search field.
const SEARCH_FROM: usize = 9;
/// At most this many tenants are shown; the search finds the others.
const SHOWN_MAX: usize = 200;
const SEARCH_CHARS_MAX: usize = 100;

pub(super) async fn get(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    params: Params,
) -> Response {
    identity.render(&browser, identity.show_tenants(&browser, &params).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Site>>,
    browser: BrowserContext,
    SameSiteForm(form): SameSiteForm,
) -> Response {
    identity.render(&browser, identity.choose_tenant(&browser, &form).await)
}

/// What the tenant page needs to know about the request.
struct TenantChoiceContext<'a> {
    browser: &'a BrowserContext,
    request: &'a AuthorizationRequest,
    client: &'a Client,
    active: &'a ActiveSession,
    ticket: &'a str,
    needs_consent: bool,
}

impl Site {
    async fn show_tenants(&self, browser: &BrowserContext, params: &Params) -> Result<Response, PageError> {
        let text = params.get("ticket").unwrap_or_default();
        let ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            TicketState::Stale(PendingRequest::Authorization(request)) => {
                return self.restart(browser, &request).await;
            }
            TicketState::Stale(_) | TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let PendingRequest::Authorization(request) = &ticket.pending else { return Err(invalid_ticket()) };
        let client = self.requesting_client(request).await?;
        let active = self.active_session(browser).await?;
        let step = self.next_step(request, &client, active.as_ref(), ticket.started_at(), None).await?;
        let (Step::ChooseTenant { needs_consent }, Some(active)) = (step, &active) else {
            return self.advance(browser, request, &client, ticket.started_at(), None).await;
        };
        let context =
            TenantChoiceContext { browser, request, client: &client, active, ticket: text, needs_consent };
        self.tenant_page(&context, params.get("q"), None, StatusCode::OK).await
    }

    /// Starts the flow again: the page was open for too long or belongs to another browser.
    async fn restart(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
    ) -> Result<Response, PageError> {
        let client = self.requesting_client(request).await?;
        self.advance(browser, request, &client, self.clock.now(), None).await
    }

    async fn tenant_page(
        &self,
        context: &TenantChoiceContext<'_>,
        search: Option<&str>,
        error: Option<TenantChoiceError>,
        status: StatusCode,
    ) -> Result<Response, PageError> {
        let user = &context.active.account.id;
        let memberships = self.enterable_memberships(user, context.client, context.request).await?;
        let search_text: String = search.unwrap_or_default().chars().take(SEARCH_CHARS_MAX).collect();
        let (options, tenant_count) = options(&memberships, &search_text, context.request.tenant.as_ref());
        let lang = context.browser.lang(context.request.ui_locales.as_deref());
        let page_url = |page: &str, lang: &str| {
            self.path(&format!("{page}?{}", query([("ticket", context.ticket), ("lang", lang)])))
        };
        let search_action = self.path("tenant");
        let scopes = context.request.scopes().names();
        let model = TenantChoicePage {
            lang,
            assets: &self.assets,
            language_switch: Some(&page_url("tenant", lang.other().tag())),
            action: &self.path(&format!("tenant?{}", query([("lang", lang.tag())]))),
            ticket: context.ticket,
            application: &context.client.name,
            email: &context.active.account.email,
            search: (memberships.len() >= SEARCH_FROM).then_some(Search {
                action: &search_action,
                query: &search_text,
                shown_count: options.len(),
                total_count: tenant_count.max(options.len()),
            }),
            options: &options,
            consent: context.needs_consent.then_some(ConsentRequest {
                scopes: &scopes,
                returns_to: returns_to(&context.request.target.redirect_uri),
            }),
            other_account: &page_url("login", lang.tag()),
            error,
        };
        let page = pages::tenant_choice(&model);
        let destination = Some(context.request.target.redirect_uri.as_str());
        let form_action = response::form_action(context.browser.sends_fetch_metadata, destination);
        Ok(response::page_with_forms(status, page, &form_action))
    }

    async fn choose_tenant(&self, browser: &BrowserContext, form: &Params) -> Result<Response, PageError> {
        let text = form.get("ticket").unwrap_or_default();
        let ticket: Ticket = match self.open_ticket(browser, text) {
            TicketState::Valid(ticket) => ticket,
            TicketState::Stale(PendingRequest::Authorization(request)) => {
                return self.restart(browser, &request).await;
            }
            TicketState::Stale(_) | TicketState::Unreadable => return Err(invalid_ticket()),
        };
        let PendingRequest::Authorization(request) = &ticket.pending else { return Err(invalid_ticket()) };
        let client = self.requesting_client(request).await?;
        let started_at = ticket.started_at();
        let decision = form.single("decision").unwrap_or(Some("repeated"));
        if decision == Some("deny") {
            return self.deny(browser, request, &client).await;
        }
        let chosen_tenant = form.get("tenant").map(TenantId::new);
        let active = self.active_session(browser).await?;
        let next = async |chosen_tenant| {
            self.next_step(request, &client, active.as_ref(), started_at, chosen_tenant).await
        };
        let mut step = next(chosen_tenant.as_ref()).await?;
        // Only `decision=allow` gives consent.
        if decision != Some("allow")
            && let question @ Step::ChooseTenant { needs_consent: true } = next(None).await?
        {
            step = question;
        }
        if let (Step::ChooseTenant { needs_consent }, Some(active)) = (step, &active) {
            let context = TenantChoiceContext {
                browser,
                request,
                client: &client,
                active,
                ticket: text,
                needs_consent,
            };
            let error = if chosen_tenant.is_some() {
                TenantChoiceError::NotYours
            } else {
                TenantChoiceError::NothingChosen
            };
            return self.tenant_page(&context, None, Some(error), StatusCode::BAD_REQUEST).await;
        }
        self.advance(browser, request, &client, started_at, chosen_tenant.as_ref()).await
    }

    async fn deny(
        &self,
        browser: &BrowserContext,
        request: &AuthorizationRequest,
        client: &Client,
    ) -> Result<Response, PageError> {
        let user = self.active_session(browser).await?.map(|active| active.account.id);
        let entry = AuditEntry::new(AuditKind::ConsentDenied, self.clock.now(), &browser.audit_by(user));
        self.store.record(&entry.client(&client.id)).await?;
        let error = OAuthError::new("access_denied", "The user denied the request.");
        self.error_callback(browser, &request.target, &error, client, request.ui_locales.as_deref())
    }
}

/// The tenants that match the search, and the number of all tenants. One is checked: the one that the client has named, else
/// the last used, else the only one.
fn options<'a>(
    memberships: &'a [TenantMembership],
    search_text: &str,
    preselected: Option<&TenantId>,
) -> (Vec<TenantOption<'a>>, usize) {
    let words: Vec<String> = search_text.split_whitespace().map(normalized).collect();
    let matches = |membership: &TenantMembership| {
        let text = normalized(&format!(
            "{} {} {}",
            membership.tenant.name, membership.tenant.short_code, membership.tenant.id
        ));
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let used = memberships.iter().filter(|membership| membership.membership.last_used_at.is_some());
    let last_used = used
        .max_by_key(|membership| membership.membership.last_used_at)
        .map(|membership| &membership.tenant.id);
    let found: Vec<&TenantMembership> = memberships.iter().filter(|membership| matches(membership)).collect();
    let is_found = |id: &&TenantId| found.iter().any(|membership| membership.tenant.id == **id);
    let only = found.first().filter(|_| found.len() == 1).map(|membership| &membership.tenant.id);
    let checked = preselected.filter(is_found).or_else(|| last_used.filter(is_found)).or(only);
    let option = |membership: &&'a TenantMembership| TenantOption {
        id: membership.tenant.id.as_str(),
        name: &membership.tenant.name,
        short_code: &membership.tenant.short_code,
        is_last_used: last_used == Some(&membership.tenant.id),
        is_checked: checked == Some(&membership.tenant.id),
    };
    (found.iter().take(SHOWN_MAX).map(option).collect(), memberships.len())
}

/// Where the answer goes, as the user is told.
fn returns_to(redirect_uri: &str) -> ReturnsTo<'_> {
    if redirect_uri == OUT_OF_BAND {
        return ReturnsTo::Code;
    }
    let web = redirect_uri.strip_prefix("https://").or_else(|| redirect_uri.strip_prefix("http://"));
    let host = web.and_then(|rest| rest.split(['/', '?', '#']).next());
    match host.filter(|host| !host.is_empty() && !is_embedded(redirect_uri)) {
        Some(host) => ReturnsTo::Host(host),
        None => ReturnsTo::Device,
    }
}

/// Lower case without accents, so that "nunez" finds "Núñez".
fn normalized(text: &str) -> String {
    let plain = |c: char| match c {
        'á' | 'à' | 'ä' | 'â' => 'a',
        'é' | 'è' | 'ë' | 'ê' => 'e',
        'í' | 'ì' | 'ï' | 'î' => 'i',
        'ó' | 'ò' | 'ö' | 'ô' => 'o',
        'ú' | 'ù' | 'ü' | 'û' => 'u',
        'ñ' => 'n',
        'ç' => 'c',
        other => other,
    };
    text.to_lowercase().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::{ReturnsTo, normalized, returns_to};

    #[test]
    fn user_is_told_where_the_answer_goes() {
        for (uri, expected) in [
            ("https://app.example/callback?x=1", ReturnsTo::Host("app.example")),
            ("https://app.example:8443", ReturnsTo::Host("app.example:8443")),
            ("http://localhost:8765/callback", ReturnsTo::Host("localhost:8765")),
            ("urn:ietf:wg:oauth:2.0:oob", ReturnsTo::Code),
            ("http://oob/done", ReturnsTo::Device),
            ("es.example.app:/callback", ReturnsTo::Device),
        ] {
            assert_eq!(returns_to(uri), expected, "{uri}");
        }
    }

    #[test]
    fn search_ignores_accents_and_case() {
        assert_eq!(normalized("Gestoría IBÁÑEZ & Núñez"), "gestoria ibanez & nunez");
    }
}
