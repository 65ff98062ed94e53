//! The query of a read, decoded once: parameter names in any case, each at most once, unknown ones ignored.

use std::borrow::Cow;

use axum::http::Uri;
use domain::parse_digits;
use web::ErrorResponse;

use crate::errors::invalid_parameter;

#[derive(Clone, Debug, Default)]
pub(crate) struct Query<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Query<'a> {
    pub(crate) fn parse(uri: &'a Uri) -> Self {
        // The listener's limit on headers bounds their number.
        Self(form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).collect())
    }

    /// The value of a parameter, whatever the case of its name.
    pub(crate) fn single(&self, name: &'static str) -> Result<Option<&str>, ErrorResponse> {
        let mut values = self.0.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        let first = values.next();
        if values.next().is_some() {
            return Err(invalid_parameter(name, format!("{name} must be sent only once.")));
        }
        Ok(first.map(|(_, value)| &**value))
    }

    /// The same; an empty value counts as absent.
    pub(crate) fn non_empty(&self, name: &'static str) -> Result<Option<&str>, ErrorResponse> {
        Ok(self.single(name)?.filter(|value| !value.is_empty()))
    }

    /// A whole number within these bounds.
    pub(crate) fn number(
        &self,
        name: &'static str,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, ErrorResponse> {
        let Some(text) = self.single(name)? else { return Ok(None) };
        let number = parse_digits(text).filter(|number| (from..=to).contains(number));
        number.map(Some).ok_or_else(|| {
            invalid_parameter(name, format!("{name} must be a whole number from {from} to {to}."))
        })
    }

    /// The same; an empty value counts as absent.
    pub(crate) fn number_if_given(
        &self,
        name: &'static str,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, ErrorResponse> {
        if self.non_empty(name)?.is_none() { Ok(None) } else { self.number(name, from, to) }
    }

    /// Only the parameters with these names.
    pub(crate) fn select(&self, names: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        let is_selected = |given: &str| names.iter().any(|name| given.eq_ignore_ascii_case(name));
        let selected = self.0.iter().filter(move |(given, _)| is_selected(given));
        selected.map(|(name, value)| (&**name, &**value))
    }
}
