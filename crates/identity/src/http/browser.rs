//! The context of a browser's request: cookies, language, client address, and whether it is cross-site.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, HeaderMap, USER_AGENT};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use domain::{AccountId, Realm, Secret};
use store::{Actor, AuditContext};
use ui::Lang;

use crate::params::Params;
use crate::sign_in::KNOWN_BROWSER_BYTES_MAX;
use crate::site::Site;

const FETCH_SITE: &str = "sec-fetch-site";
const FETCH_MODE: &str = "sec-fetch-mode";
const COOKIE_BYTES_MAX: usize = 128;
const USER_AGENT_BYTES_MAX: usize = 300;
/// Of a query that an error page repeats in its links.
const QUERY_BYTES_MAX: usize = 8 * 1024;

#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a request")]
pub(crate) struct BrowserContext {
    realm: Realm,
    /// The cookie that binds tickets to this browser.
    pub(crate) browser_id: Option<Secret>,
    /// The session cookie.
    pub(crate) session: Option<Secret>,
    /// The cookie of a browser that has signed in before.
    pub(crate) known_browser: Option<Secret>,
    pub(crate) address: IpAddr,
    pub(crate) audit: AuditContext,
    /// Whether a page of another site caused the request (`Sec-Fetch-Site`).
    pub(crate) is_cross_site: bool,
    /// Whether the browser sends fetch metadata (`Sec-Fetch-Mode`): current browsers do, to https and loopback.
    pub(crate) sends_fetch_metadata: bool,
    /// Whether a browser has submitted a form: a POST that navigates.
    pub(crate) is_form_submission: bool,
    /// Whether the page was reached by an IP address instead of a host name.
    pub(crate) is_at_ip_address: bool,
    /// `User-Agent`, shortened.
    pub(crate) user_agent: String,
    accept_language: Option<String>,
    /// The page of a path that takes forms alone, relative to it; else empty.
    page: &'static str,
    /// The query of this page without the language, if a link can repeat the request.
    query: Option<String>,
    /// The language that the person selected on this page (`lang`).
    selected_lang: Option<String>,
    /// The one that was selected on another page before; none in the users' realm.
    kept_lang: Option<String>,
}

impl FromRequestParts<Arc<Site>> for BrowserContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Infallible> {
        let names = site.cookies;
        let context = parts.extensions.get::<web::RequestContext>();
        let address = context.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |context| context.address.0);
        let request_id = context.map(|context| context.id.as_str().to_owned());
        let fetch_mode = header(&parts.headers, FETCH_MODE);
        let params = Params::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            realm: site.realm,
            browser_id: cookie(&parts.headers, names.browser_id, COOKIE_BYTES_MAX).map(Secret::new),
            session: cookie(&parts.headers, names.session, COOKIE_BYTES_MAX).map(Secret::new),
            known_browser: cookie(&parts.headers, names.known_browser, KNOWN_BROWSER_BYTES_MAX)
                .map(Secret::new),
            address,
            audit: AuditContext {
                actor: Actor::Anonymous,
                address: address.to_string(),
                request_id: request_id.unwrap_or_default(),
            },
            is_cross_site: header(&parts.headers, FETCH_SITE).is_some_and(|site| site == "cross-site"),
            sends_fetch_metadata: fetch_mode.is_some(),
            is_form_submission: parts.method == Method::POST && fetch_mode.as_deref() == Some("navigate"),
            is_at_ip_address: is_at_ip_address(parts),
            user_agent: user_agent(&parts.headers),
            accept_language: header(&parts.headers, ACCEPT_LANGUAGE.as_str()),
            page: if parts.uri.path().ends_with("/login/passkey") { "../login" } else { "" },
            query: repeatable_query(&parts.method, parts.uri.query()),
            selected_lang: params.get("lang").map(Into::into),
            kept_lang: kept_lang(&parts.headers, site).map(Into::into),
        })
    }
}

impl BrowserContext {
    /// The language of the page: the selected one, else `ui_locales`, else `Accept-Language`.
    pub(crate) fn lang(&self, ui_locales: Option<&str>) -> Lang {
        let selected = self.selected_lang.as_deref().or(self.kept_lang.as_deref());
        Lang::choose(selected.or(ui_locales), self.accept_language.as_deref())
    }

    /// The same browser with a new session and a new browser id.
    pub(crate) fn in_session(&self, id: &Secret, browser_id: &Secret) -> Self {
        Self { session: Some(id.clone()), browser_id: Some(browser_id.clone()), ..self.clone() }
    }

    /// The audit context, by the person who is signed in.
    pub(crate) fn audit_by(&self, account: Option<AccountId>) -> AuditContext {
        account.map_or_else(|| self.audit.clone(), |id| self.audit.by(Actor::account(self.realm, id)))
    }

    /// A link to this page in a language, relative to it: behind a proxy the path may have a prefix. After a form it leads to the
    /// page without what was sent.
    pub(crate) fn here_in(&self, lang: Lang) -> String {
        match self.query.as_deref().filter(|query| !query.is_empty()) {
            Some(query) => format!("{}?{query}&lang={}", self.page, lang.tag()),
            None => format!("{}?lang={}", self.page, lang.tag()),
        }
    }

    /// A link that asks for this page again, if the request was not a form.
    pub(crate) fn here(&self, lang: Lang) -> Option<String> {
        self.query.is_some().then(|| self.here_in(lang))
    }

    pub(crate) fn selected_lang(&self) -> Option<&str> {
        self.selected_lang.as_deref()
    }
}

/// What [`super::language`] has kept. Users' pages follow the application's `ui_locales` instead.
fn kept_lang<'a>(headers: &'a HeaderMap, site: &Site) -> Option<&'a str> {
    let name = (site.realm != Realm::Users).then_some(site.cookies.lang)?;
    cookie(headers, name, COOKIE_BYTES_MAX)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(Into::into)
}

/// The query without the language; none after a form, or if it is too long for a link.
fn repeatable_query(method: &Method, query: Option<&str>) -> Option<String> {
    let query = query.unwrap_or_default();
    if !matches!(*method, Method::GET | Method::HEAD) || query.len() > QUERY_BYTES_MAX {
        return None;
    }
    let is_kept = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some("lang");
    Some(query.split('&').filter(is_kept).collect::<Vec<_>>().join("&"))
}

fn is_at_ip_address(parts: &Parts) -> bool {
    let host = header(&parts.headers, HOST.as_str());
    let authority = parts.uri.authority().map(ToString::to_string).or(host);
    let authority: Option<Authority> = authority.and_then(|text| text.parse().ok());
    authority.is_some_and(|one| one.host().trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
}

fn user_agent(headers: &HeaderMap) -> String {
    let mut text = header(headers, USER_AGENT.as_str()).unwrap_or_default();
    text.truncate(text.floor_char_boundary(USER_AGENT_BYTES_MAX));
    text
}

/// A cookie of the request, unless it is too long.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str, bytes_max: usize) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(cookie, _)| *cookie == name)?;
    // Two different values: another site may have planted one (cookie tossing), so neither is trusted.
    let is_unambiguous = pairs.all(|(cookie, other)| cookie != name || other == value);
    (is_unambiguous && !value.is_empty() && value.len() <= bytes_max).then_some(value)
}
