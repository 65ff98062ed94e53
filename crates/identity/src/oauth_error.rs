//! An OAuth error: an error code of the specifications and a description for developers.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OAuthError {
    pub(crate) code: &'static str,
    pub(crate) description: String,
}

impl OAuthError {
    pub(crate) fn new(code: &'static str, description: impl Into<String>) -> Self {
        Self { code, description: description.into() }
    }

    pub(crate) fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }
}
