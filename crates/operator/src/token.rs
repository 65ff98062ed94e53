//! The operator's bearer token: held as a hash and compared in constant time.

use aws_lc_rs::{constant_time, digest};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use domain::Secret;

#[derive(Clone)]
pub struct OperatorToken(Vec<u8>);

impl std::fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperatorToken(***)")
    }
}

impl OperatorToken {
    pub fn new(token: &Secret) -> Self {
        Self(hash(token.reveal()))
    }

    /// Whether the request carries this token.
    pub(crate) fn matches(&self, headers: &HeaderMap) -> bool {
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = header.and_then(|value| value.split_once(' '));
        bearer.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case("bearer")
                && constant_time::verify_slices_are_equal(&hash(token.trim()), &self.0).is_ok()
        })
    }
}

fn hash(text: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, text.as_bytes()).as_ref().to_vec()
}
