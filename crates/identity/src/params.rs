//! Parameters of a request, from a query or a form: decoded once, each at most once.

use crate::oauth_error::OAuthError;

/// More parameters than this are not read.
const COUNT_MAX: usize = 100;

#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

/// A parameter that came more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedParameter;

impl Params {
    pub(crate) fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text).take(COUNT_MAX + 1);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value of a parameter; an empty one counts as absent, as the RFC has it.
    pub(crate) fn single(&self, name: &str) -> Result<Option<&str>, RepeatedParameter> {
        let mut values =
            self.0.iter().filter(|(other_name, _)| other_name == name).map(|(_, value)| value.as_str());
        let first = values.next();
        if values.next().is_some() {
            return Err(RepeatedParameter);
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    /// The same, once `check` has found that none is repeated.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.single(name).ok().flatten()
    }

    /// No parameter twice, none too long, not too many.
    pub(crate) fn check(&self, value_bytes_max: usize) -> Result<(), OAuthError> {
        if self.0.len() > COUNT_MAX {
            return Err(OAuthError::invalid_request("there are too many parameters"));
        }
        for (name, value) in &self.0 {
            let name = printable(name);
            if value.len() > value_bytes_max {
                let description = format!("{name} is longer than {value_bytes_max} bytes");
                return Err(OAuthError::invalid_request(description));
            }
            if value.contains('\0') {
                return Err(OAuthError::invalid_request(format!("{name} contains a NUL character")));
            }
        }
        for (index, (name, _)) in self.0.iter().enumerate() {
            if self.0.iter().skip(index + 1).any(|(other, _)| other == name) {
                let description = format!("{} came more than once", printable(name));
                return Err(OAuthError::invalid_request(description));
            }
        }
        Ok(())
    }

    /// As a query again.
    pub(crate) fn to_query(&self) -> String {
        query(self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

/// Writes a query.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// A name from outside, as an error description may repeat it: RFC 6749 allows few characters there.
fn printable(name: &str) -> String {
    name.chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '?' })
        .collect()
}
