//! `/tenant`: the page on which the user chooses a tenant and, where the client asks for it, consents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use domain::TenantId;
use store::{AuditEntry, AuditKind, Client, TenantMembership};

use super::answer::{self, Answer};
use super::authorize::SignedIn;
use super::failed::Failed;
use super::form::OwnForm;
use super::login::{other_language, unreadable};
use super::visit::Visit;
use crate::Identity;
use crate::flow::step::Step;
use crate::flow::ticket::{Errand, Opened, Ticket};
use crate::oauth_error::OAuthError;
use crate::pages::{self, ChoiceProblem, Search, TenantChoice, TenantOption};
use crate::params::{Params, query};
use crate::request::Authorization;

/// From this many on there is a field to search.
const SEARCH_FROM: usize = 9;
/// No more than this many are shown at a time; the rest is found by searching.
const SHOWN_MAX: usize = 200;
/// This many of those used before are marked.
const RECENT_MAX: usize = 3;
const SEARCH_CHARS_MAX: usize = 100;

pub(super) async fn get(State(identity): State<Arc<Identity>>, visit: Visit, params: Params) -> Answer {
    identity.shown(&visit, identity.show_tenants(&visit, &params).await)
}

pub(super) async fn post(
    State(identity): State<Arc<Identity>>,
    visit: Visit,
    OwnForm(form): OwnForm,
) -> Answer {
    identity.shown(&visit, identity.choose_tenant(&visit, &form).await)
}

/// Somebody in front of the tenants.
struct Choosing<'a> {
    visit: &'a Visit,
    asked: &'a Authorization,
    client: &'a Client,
    signed_in: &'a SignedIn,
    ticket: &'a str,
    asks_consent: bool,
}

impl Identity {
    async fn show_tenants(&self, visit: &Visit, params: &Params) -> Result<Answer, Failed> {
        let text = params.get("ticket").unwrap_or_default();
        let ticket = match self.tickets.open(text, visit.browser.as_ref(), self.clock.now()) {
            Opened::Valid(ticket) => ticket,
            Opened::Stale(Errand::Authorize(asked)) => return self.begin_again(visit, &asked).await,
            Opened::Stale(_) | Opened::Unreadable => return Err(unreadable()),
        };
        let Errand::Authorize(asked) = &ticket.errand else { return Err(unreadable()) };
        let client = self.waiting_client(asked).await?;
        let signed_in = self.signed_in(visit).await?;
        let step = self.next_step(asked, &client, signed_in.as_ref(), ticket.started_at(), None).await?;
        let (Step::Choose { asks_consent }, Some(signed_in)) = (step, &signed_in) else {
            return self.proceed(visit, asked, &client, ticket.started_at(), None).await;
        };
        let at = Choosing { visit, asked, client: &client, signed_in, ticket: text, asks_consent };
        self.tenant_page(&at, params.get("q"), None, StatusCode::OK).await
    }

    /// A page that waited too long, or came from another browser: the request is asked anew.
    async fn begin_again(&self, visit: &Visit, asked: &Authorization) -> Result<Answer, Failed> {
        let client = self.waiting_client(asked).await?;
        self.proceed(visit, asked, &client, self.clock.now(), None).await
    }

    async fn tenant_page(
        &self,
        at: &Choosing<'_>,
        search: Option<&str>,
        problem: Option<ChoiceProblem>,
        status: StatusCode,
    ) -> Result<Answer, Failed> {
        let seats = self.store.active_memberships(&at.signed_in.user.id).await?;
        let words: String = search.unwrap_or_default().chars().take(SEARCH_CHARS_MAX).collect();
        let (options, found) = options(&seats, &words, at.asked.tenant.as_ref());
        let lang = at.visit.lang(at.asked.ui_locales.as_deref());
        let here = |page: &str, lang: &str| {
            self.path(&format!("{page}?{}", query([("ticket", at.ticket), ("lang", lang)])))
        };
        let search_action = self.path("tenant");
        let scopes = at.asked.scopes().names();
        let model = TenantChoice {
            lang,
            assets: &self.assets,
            language_switch: Some(&here("tenant", other_language(lang).tag())),
            action: &self.path(&format!("tenant?{}", query([("lang", lang.tag())]))),
            ticket: at.ticket,
            application: &at.client.name,
            email: &at.signed_in.user.email,
            search: (seats.len() >= SEARCH_FROM).then_some(Search {
                action: &search_action,
                query: &words,
                shown: options.len(),
                total: found.max(options.len()),
            }),
            options: &options,
            consent: at.asks_consent.then_some(scopes.as_slice()),
            other_account: &here("login", lang.tag()),
            problem,
        };
        let page = pages::tenant_choice(&model);
        Ok(answer::page(status, page, Some(&at.asked.reply.redirect_uri)))
    }

    async fn choose_tenant(&self, visit: &Visit, form: &Params) -> Result<Answer, Failed> {
        let text = form.get("ticket").unwrap_or_default();
        let ticket: Ticket = match self.tickets.open(text, visit.browser.as_ref(), self.clock.now()) {
            Opened::Valid(ticket) => ticket,
            Opened::Stale(Errand::Authorize(asked)) => return self.begin_again(visit, &asked).await,
            Opened::Stale(_) | Opened::Unreadable => return Err(unreadable()),
        };
        let Errand::Authorize(asked) = &ticket.errand else { return Err(unreadable()) };
        let client = self.waiting_client(asked).await?;
        let started_at = ticket.started_at();
        let decision = form.one("decision").unwrap_or(Some("doubtful"));
        if decision == Some("deny") {
            return self.deny(visit, asked, &client).await;
        }
        let chosen = form.get("tenant").map(TenantId::new);
        let signed_in = self.signed_in(visit).await?;
        let next =
            async |chosen| self.next_step(asked, &client, signed_in.as_ref(), started_at, chosen).await;
        let mut step = next(chosen.as_ref()).await?;
        // Consent is given by this very word and by nothing else.
        if decision != Some("allow")
            && let question @ Step::Choose { asks_consent: true } = next(None).await?
        {
            step = question;
        }
        if let (Step::Choose { asks_consent }, Some(signed_in)) = (step, &signed_in) {
            let at = Choosing { visit, asked, client: &client, signed_in, ticket: text, asks_consent };
            let problem =
                if chosen.is_some() { ChoiceProblem::NotYours } else { ChoiceProblem::NothingChosen };
            return self.tenant_page(&at, None, Some(problem), StatusCode::BAD_REQUEST).await;
        }
        self.proceed(visit, asked, &client, started_at, chosen.as_ref()).await
    }

    async fn deny(&self, visit: &Visit, asked: &Authorization, client: &Client) -> Result<Answer, Failed> {
        let mut entry = AuditEntry::new(AuditKind::ConsentDenied, self.clock.now(), &visit.context);
        entry.user = self.signed_in(visit).await?.map(|signed_in| signed_in.user.id);
        self.store.record(&entry.client(&client.id)).await?;
        let error = OAuthError::new("access_denied", "the user did not allow it");
        self.refuse(visit, &asked.reply, &error, client, asked.ui_locales.as_deref())
    }
}

/// The tenants that match, and how many there are in all.
fn options<'a>(
    seats: &'a [TenantMembership],
    words: &str,
    preselected: Option<&TenantId>,
) -> (Vec<TenantOption<'a>>, usize) {
    let words: Vec<String> = words.split_whitespace().map(folded).collect();
    let matches = |seat: &TenantMembership| {
        let text = folded(&format!("{} {} {}", seat.tenant.name, seat.tenant.short_code, seat.tenant.id));
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let recent: Vec<&TenantId> = seats
        .iter()
        .filter(|seat| seat.membership.last_used_at.is_some())
        .map(|seat| &seat.tenant.id)
        .take(RECENT_MAX)
        .collect();
    let found: Vec<&TenantMembership> = seats.iter().filter(|seat| matches(seat)).collect();
    let option = |seat: &&'a TenantMembership| TenantOption {
        id: seat.tenant.id.as_str(),
        name: &seat.tenant.name,
        short_code: &seat.tenant.short_code,
        is_recent: recent.contains(&&seat.tenant.id),
        is_checked: preselected == Some(&seat.tenant.id) || found.len() == 1,
    };
    (found.iter().take(SHOWN_MAX).map(option).collect(), seats.len())
}

/// Lower case and without accents, so that "nunez" finds "Núñez".
fn folded(text: &str) -> String {
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
    use super::folded;

    #[test]
    fn accents_and_case_do_not_matter_to_a_search() {
        assert_eq!(folded("Gestoría IBÁÑEZ & Núñez"), "gestoria ibanez & nunez");
    }
}
