//! What is known of a browser's request before it is read: its cookies, its languages, where it came from.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT_LANGUAGE, COOKIE, HeaderMap};
use axum::http::request::Parts;
use domain::Secret;
use store::AuditContext;
use ui::Lang;

use crate::Identity;
use crate::params::Params;

const FETCH_SITE: &str = "sec-fetch-site";
const COOKIE_BYTES_MAX: usize = 128;

#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub(crate) browser: Option<Secret>,
    pub(crate) session: Option<Secret>,
    pub(crate) address: IpAddr,
    pub(crate) context: AuditContext,
    /// Whether another site's page made the browser send this.
    pub(crate) is_foreign: bool,
    accept_language: Option<String>,
    /// The language that was picked on a page.
    picked: Option<String>,
}

impl FromRequestParts<Arc<Identity>> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, identity: &Arc<Identity>) -> Result<Self, Infallible> {
        let names = identity.cookies;
        let visit = parts.extensions.get::<web::RequestContext>();
        let address = visit.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |visit| visit.address.0);
        let request_id = visit.map(|visit| visit.id.as_str().to_owned());
        let params = Params::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            browser: cookie(&parts.headers, names.browser).map(Secret::new),
            session: cookie(&parts.headers, names.session).map(Secret::new),
            address,
            context: AuditContext {
                address: address.to_string(),
                request_id: request_id.unwrap_or_default(),
            },
            is_foreign: header(&parts.headers, FETCH_SITE).is_some_and(|site| site == "cross-site"),
            accept_language: header(&parts.headers, ACCEPT_LANGUAGE.as_str()),
            picked: params.get("lang").map(Into::into),
        })
    }
}

impl Visit {
    /// The language to speak: the one picked, else what the application asked for, else the browser's.
    pub(crate) fn lang(&self, ui_locales: Option<&str>) -> Lang {
        Lang::choose(self.picked.as_deref().or(ui_locales), self.accept_language.as_deref())
    }

    /// The same browser, in a session that has just begun.
    pub(crate) fn in_session(&self, id: &Secret, browser: &Secret) -> Self {
        Self { session: Some(id.clone()), browser: Some(browser.clone()), ..self.clone() }
    }

    pub(crate) fn picked(&self) -> Option<&str> {
        self.picked.as_deref()
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(Into::into)
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(given, _)| *given == name)?;
    // Two that differ: somebody has put one beside ours, and neither is believed.
    let is_alone = pairs.all(|(given, other)| given != name || other == value);
    (is_alone && !value.is_empty() && value.len() <= COOKIE_BYTES_MAX).then_some(value)
}
