//! Request parameters from a query or a form. Each may occur at most once.

use crate::oauth_error::OAuthError;

/// Requests with more parameters are refused.
const COUNT_MAX: usize = 100;

#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

/// The parameter occurs more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedParameter;

impl Params {
    pub(crate) fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).take(COUNT_MAX + 1);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value of a parameter; an empty value counts as absent (RFC 6749, 3.1).
    pub(crate) fn single(&self, name: &str) -> Result<Option<&str>, RepeatedParameter> {
        let mut values =
            self.0.iter().filter(|(other_name, _)| other_name == name).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.next().is_some() {
            return Err(RepeatedParameter);
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The same; a repeated parameter counts as absent. Use it after `check`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.single(name).ok().flatten()
    }

    /// Refuses repeated, overlong and too many parameters.
    pub(crate) fn check(&self, value_bytes_max: usize) -> Result<(), OAuthError> {
        if self.0.len() > COUNT_MAX {
            return Err(OAuthError::invalid_request(format!(
                "The request has more than {COUNT_MAX} parameters."
            )));
        }
        for (name, value) in &self.0 {
            let name = printable(name);
            if value.len() > value_bytes_max {
                let description = format!("{name} is longer than {value_bytes_max} bytes.");
                return Err(OAuthError::invalid_request(description));
            }
            if value.contains('\0') {
                return Err(OAuthError::invalid_request(format!("{name} contains a NUL character.")));
            }
        }
        for (index, (name, _)) in self.0.iter().enumerate() {
            if self.0.iter().skip(index + 1).any(|(other, _)| other == name) {
                let description = format!("{} occurs more than once.", printable(name));
                return Err(OAuthError::invalid_request(description));
            }
        }
        Ok(())
    }

    pub(crate) fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// Encodes the parameters as a query.
    pub(crate) fn to_query(&self) -> String {
        query(self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

/// Encodes pairs as a query.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A parameter name with the characters that RFC 6749 allows in an `error_description`.
fn printable(name: &str) -> String {
    name.chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '?' })
        .collect()
}
