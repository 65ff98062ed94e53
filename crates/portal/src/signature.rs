//! What the signature debugger asks, and what it learns. The program wires the code of `aldaba verify`.

use serde::Serialize;

/// A received signature, with everything that it should match.
#[derive(Clone, Copy)]
pub struct SignatureClaim<'a> {
    pub signature: &'a str,
    pub body: &'a [u8],
    pub secret: &'a str,
    /// `webhook-id` and `webhook-timestamp`, for a signature of Standard Webhooks.
    pub standard: Option<(&'a str, &'a str)>,
    pub now_seconds: i64,
}

impl std::fmt::Debug for SignatureClaim<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignatureClaim(***)")
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureDiagnosis {
    pub is_standard: bool,
    /// None: it matches.
    pub reasons: Vec<SignatureReason>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SignatureReason {
    pub code: &'static str,
    /// In English.
    pub message: String,
}
