//! The operator's bearer token of the configuration: held as a hash and compared in constant time.

use aws_lc_rs::{constant_time, digest};
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

    /// Whether this is the token.
    pub(crate) fn is(&self, token: &str) -> bool {
        constant_time::verify_slices_are_equal(&hash(token), &self.0).is_ok()
    }
}

fn hash(text: &str) -> Vec<u8> {
    digest::digest(&digest::SHA256, text.as_bytes()).as_ref().to_vec()
}
