//! A request for a page: who asks, in which language and format.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::Method;
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use domain::{Clock, Ticks};
use identity::{RealmPages, Visitor};
use maud::Markup;
use tokio::sync::watch;
use ui::Lang;

use crate::error::PageError;
use crate::form::TOKEN_FIELD;
use crate::live::Tails;
use crate::params::Params;
use crate::response::Response;

/// How the response is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Html,
    Json,
    Csv,
    /// Server-sent events: one whenever the page has changed.
    Events,
}

impl Format {
    pub fn of(parts: &Parts) -> Self {
        let query = Params::of_query(parts);
        let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match query.get("format") {
            Some("csv") => Self::Csv,
            Some("json") => Self::Json,
            Some("events") => Self::Events,
            _ if accept.starts_with("application/json") => Self::Json,
            _ => Self::Html,
        }
    }
}

/// The pages of one realm: the portal, the console.
pub struct PageSite {
    pub realm: RealmPages,
    pub clock: Arc<dyn Clock>,
    pub(crate) tails: Tails,
}

impl std::fmt::Debug for PageSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PageSite({})", self.realm.base_path())
    }
}

impl PageSite {
    /// Live pages end when `stopped` becomes true.
    pub fn new(realm: RealmPages, clock: Arc<dyn Clock>, stopped: watch::Receiver<bool>) -> Self {
        Self { realm, clock, tails: Tails::new(stopped) }
    }

    /// The way to the sign-in page, and from there back to the page that was asked for.
    pub async fn to_sign_in(&self, parts: &mut Parts) -> Response {
        let query = Params::of_query(parts).with(&["done"], []);
        let separator = if query.is_empty() { "" } else { "?" };
        let next = format!("{}{separator}{query}", parts.uri.path());
        self.realm.sign_in(parts, &next).await
    }
}

/// A form that was refused: its page is shown again with the reason and what was typed.
#[derive(Clone, Debug)]
pub(crate) struct RefusedForm {
    pub(crate) why: String,
    pub(crate) form: Params,
}

/// A request of somebody who is signed in.
#[derive(Clone, Debug)]
pub struct PageRequest {
    pub site: Arc<PageSite>,
    pub visitor: Visitor,
    pub query: Params,
    pub format: Format,
    pub request_id: String,
    pub now: Ticks,
    pub parts: Parts,
    pub(crate) refused: Option<RefusedForm>,
    path_params: Vec<(String, String)>,
}

impl PageRequest {
    /// `SignIn` for who is not signed in.
    pub async fn read(parts: &mut Parts, site: &Arc<PageSite>) -> Result<Self, PageError> {
        let raw = RawPathParams::from_request_parts(parts, &()).await;
        let path_params: Vec<(String, String)> = raw
            .map(|params| params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
            .unwrap_or_default();
        let visitor = site.realm.visitor(parts).await?.ok_or(PageError::SignIn)?;
        // No id has the character NUL, and PostgreSQL takes no text with it.
        if path_params.iter().any(|(_, value)| value.contains('\0')) {
            return Err(PageError::NotFound);
        }
        Ok(Self {
            site: site.clone(),
            visitor,
            query: Params::of_query(parts),
            format: Format::of(parts),
            request_id: request_id(parts),
            now: site.clock.now(),
            parts: parts.clone(),
            refused: None,
            path_params,
        })
    }

    pub fn lang(&self) -> Lang {
        self.visitor.lang
    }

    /// A segment of the path, by its name in the route.
    pub fn segment(&self, name: &str) -> &str {
        self.path_params.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// URL of this page in the other language. None for the answer to a form: what it shows (a new secret, what was typed) is
    /// on no other page.
    pub fn language_switch(&self) -> Option<String> {
        let url = || self.here(&["lang"], [("lang", self.lang().other().tag())]);
        (self.parts.method == Method::GET).then(url)
    }

    /// This page's path.
    pub fn path(&self) -> &str {
        self.parts.uri.path()
    }

    /// This page with other parameters.
    pub fn here<'a>(&self, without: &[&str], plus: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let query = self.query.with(&[without, &["done"]].concat(), plus);
        if query.is_empty() { self.path().to_owned() } else { format!("{}?{query}", self.path()) }
    }

    /// For actions that reveal or destroy.
    pub fn require_fresh(&self) -> Result<(), PageError> {
        if self.visitor.is_fresh { Ok(()) } else { Err(PageError::Reauthenticate) }
    }

    /// What was typed into a field of the form that was refused just now.
    pub fn typed(&self, field: &str) -> Option<&str> {
        self.refused.as_ref().and_then(|refused| refused.form.get(field))
    }

    /// Whether this action was refused just now: its form is open then.
    pub fn is_refused(&self, action: &str) -> bool {
        self.typed("do") == Some(action)
    }

    /// The values of an action's form.
    pub fn values(&self, action: &str) -> FormValues<'_> {
        let refused = self.refused.as_ref().filter(|_| self.is_refused(action));
        FormValues(refused.map(|refused| &refused.form))
    }

    /// The hidden field that protects a form.
    pub fn form_token(&self) -> Markup {
        ui::hidden_field(TOKEN_FIELD, &self.visitor.form_token)
    }
}

/// The values of a form: what was sent if it was refused just now, also where it was emptied, else what is stored. A version
/// that the form was made from stays as it was, so that sending it again overwrites nobody's change.
#[derive(Clone, Copy, Debug)]
pub struct FormValues<'a>(Option<&'a Params>);

impl<'a> FormValues<'a> {
    pub fn is_refused(self) -> bool {
        self.0.is_some()
    }

    pub fn text(self, name: &str, stored: &'a str) -> &'a str {
        self.0.map_or(stored, |form| form.get(name).unwrap_or_default())
    }

    pub fn is_checked(self, name: &str, stored: bool) -> bool {
        self.0.map_or(stored, |form| form.is_set(name))
    }

    /// Of boxes with the same name.
    pub fn is_chosen(self, name: &str, value: &str, stored: bool) -> bool {
        self.0.map_or(stored, |form| form.all(name).any(|one| one == value))
    }
}

/// As the response and the log name it.
pub fn request_id(parts: &Parts) -> String {
    let request = parts.extensions.get::<web::RequestContext>();
    request.map(|request| request.id.as_str().to_owned()).unwrap_or_default()
}
