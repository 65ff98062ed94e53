//! The query of a read, decoded once: names in any case, each at most once, unknown ones passed over.

use std::borrow::Cow;

use axum::http::Uri;
use web::ErrorResponse;

use crate::refusal::bad;

#[derive(Clone, Debug, Default)]
pub(crate) struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Query<'a> {
    pub(crate) fn of(uri: &'a Uri) -> Self {
        // As many as fit into an address, which the listener bounds.
        Self(form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).collect())
    }

    /// The value of a parameter, whatever the case of its name.
    pub(crate) fn one(&self, name: &'static str) -> Result<Option<&str>, ErrorResponse> {
        let mut values = self.0.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = values.next();
        if values.next().is_some() {
            return Err(bad(name, format!("{name} came more than once.")));
        }
        Ok(first.map(|(_, value)| &**value))
    }

    /// A whole number between two bounds.
    pub(crate) fn number(
        &self,
        name: &'static str,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, ErrorResponse> {
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
        kept.map(|(name, value)| (&**name, &**value))
    }
}
