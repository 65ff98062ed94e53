//! The query of a read, decoded once: names in any case, each at most once, unknown ones passed over.

use axum::http::Uri;
use web::Refusal;

use crate::refusal::bad;

#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Self {
        // As many as fit into an address, which the listener bounds.
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value of a parameter, whatever the case of its name.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let mut values = self.0.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = values.next();
        if values.next().is_some() {
            return Err(bad(name, format!("{name} came more than once.")));
        }
        Ok(first.map(|(_, value)| value.as_str()))
    }

    /// A whole number between two bounds.
    pub(crate) fn number(&self, name: &'static str, from: u64, to: u64) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| is_plain && (from..=to).contains(number));
        number
            .map(Some)
            .ok_or_else(|| bad(name, format!("{name} must be a whole number from {from} to {to}.")))
    }

    /// What links to another page of the same must repeat: these parameters, and no others.
    pub(crate) fn only(&self, names: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let kept =
            self.0.iter().filter(|(given, _)| names.iter().any(|name| given.eq_ignore_ascii_case(name)));
        kept.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
