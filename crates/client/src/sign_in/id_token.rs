//! Verifies id_tokens: RS256 with a key of the issuer, and the claims of this sign-in. No other algorithm is accepted,
//! whatever the header says.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::base64url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// The allowed difference between clocks.
const LEEWAY_SECONDS: i64 = 60;

/// Why an id_token is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdTokenError {
    /// `openid` was requested but the response has no id_token.
    #[error("it is missing")]
    Missing,
    /// It is not a JWT, or a required claim is missing.
    #[error("it is not a valid JWT")]
    Malformed,
    /// It is signed with another algorithm than RS256.
    #[error("it is signed with {0:?} instead of RS256")]
    Algorithm(String),
    /// The issuer publishes no key with this id.
    #[error("the issuer has no key {0:?}")]
    UnknownKey(String),
    /// The signature does not match.
    #[error("its signature is wrong")]
    Signature,
    /// The claim `iss` names another issuer.
    #[error("it was issued by {0:?}")]
    Issuer(String),
    /// The claim `aud` (or `azp`) does not name this client.
    #[error("it is for another client")]
    Audience,
    /// The claim `exp` is in the past, or missing.
    #[error("it has expired, or this machine's clock is ahead")]
    Expired,
    /// The claim `iat` is in the future, or missing.
    #[error("it was issued in the future, or this machine's clock is behind")]
    IssuedInFuture,
    /// The claim `nonce` is not the one that was sent.
    #[error("its nonce is not the one that was sent")]
    Nonce,
    /// The claim `c_hash` does not match the code.
    #[error("it belongs to another code (c_hash)")]
    CodeHash,
    /// The claim `at_hash` does not match the access token.
    #[error("it belongs to another access token (at_hash)")]
    AccessTokenHash,
    /// The claim `sub` names another user than the previous id_token.
    #[error("it is for another user than before")]
    Subject,
}

/// The user who signed in, from a verified id_token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The stable id of the user.
    pub sub: String,
    /// All other claims, such as `given_name`, `email` and `auth_time`, depending on the requested scopes.
    pub claims: Map<String, Value>,
}

impl Identity {
    /// The value of a claim that is a string.
    pub fn text(&self, claim: &str) -> Option<&str> {
        self.claims.get(claim)?.as_str()
    }
}

/// A public key of the issuer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Jwk {
    #[serde(default)]
    pub(super) kid: String,
    kty: String,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    usage: Option<String>,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
}

/// The claims that a token must have.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedClaims<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) now_seconds: i64,
    pub(super) nonce: Option<&'a str>,
    /// The code of the same response.
    pub(super) code: Option<&'a str>,
    /// The access token of the same response.
    pub(super) access_token: Option<&'a str>,
    /// The user of the previous id_token.
    pub(super) sub: Option<&'a str>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: String,
}

/// The id of the key in the header, before verification: use it only to find the key.
pub(super) fn key_of(token: &str) -> Result<String, IdTokenError> {
    Ok(header(token)?.kid)
}

fn header(token: &str) -> Result<Header, IdTokenError> {
    let part = token.split('.').next().filter(|_| token.len() <= TOKEN_BYTES_MAX);
    decode(part.ok_or(IdTokenError::Malformed)?)
}

fn decode<T: for<'de> Deserialize<'de>>(part: &str) -> Result<T, IdTokenError> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| IdTokenError::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| IdTokenError::Malformed)
}

pub(super) fn verify(
    token: &str,
    keys: &[Jwk],
    expected: &ExpectedClaims<'_>,
) -> Result<Identity, IdTokenError> {
    let header = header(token)?;
    if header.alg != "RS256" {
        return Err(IdTokenError::Algorithm(header.alg));
    }
    let is_for_signing = |key: &&Jwk| {
        key.kty == "RSA"
            && key.alg.as_deref().is_none_or(|alg| alg == "RS256")
            && key.usage.as_deref().is_none_or(|usage| usage == "sig")
    };
    let mut signing = keys.iter().filter(is_for_signing);
    let key = signing.find(|key| key.kid == header.kid).ok_or(IdTokenError::UnknownKey(header.kid))?;
    let [_, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        return Err(IdTokenError::Malformed);
    };
    let signed = &token[..token.len() - signature.len() - 1];
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| IdTokenError::Malformed);
    let public = RsaPublicKeyComponents { n: bytes(&key.n)?, e: bytes(&key.e)? };
    public
        .verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &bytes(signature)?)
        .map_err(|_| IdTokenError::Signature)?;
    check_claims(decode(payload)?, expected)
}

/// Checks the claims of a token whose signature is valid.
fn check_claims(
    mut claims: Map<String, Value>,
    expected: &ExpectedClaims<'_>,
) -> Result<Identity, IdTokenError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let issuer = text("iss").unwrap_or_default();
    if issuer != expected.issuer {
        return Err(IdTokenError::Issuer(issuer.to_owned()));
    }
    if !is_for(&claims, expected.client_id) {
        return Err(IdTokenError::Audience);
    }
    let seconds = |name: &str| claims.get(name).and_then(Value::as_i64);
    if seconds("exp").is_none_or(|exp| expected.now_seconds >= exp.saturating_add(LEEWAY_SECONDS)) {
        return Err(IdTokenError::Expired);
    }
    if seconds("iat").is_none_or(|iat| iat > expected.now_seconds.saturating_add(LEEWAY_SECONDS)) {
        return Err(IdTokenError::IssuedInFuture);
    }
    if expected.nonce.is_some_and(|nonce| text("nonce") != Some(nonce)) {
        return Err(IdTokenError::Nonce);
    }
    // With a code, `c_hash` is required; with an access token, `at_hash` is optional.
    if expected.code.is_some_and(|code| text("c_hash") != Some(&half_hash(code))) {
        return Err(IdTokenError::CodeHash);
    }
    let at_hash = text("at_hash");
    if let (Some(token), Some(hash)) = (expected.access_token, at_hash)
        && hash != half_hash(token)
    {
        return Err(IdTokenError::AccessTokenHash);
    }
    let sub = text("sub").filter(|sub| !sub.is_empty()).ok_or(IdTokenError::Malformed)?.to_owned();
    if expected.sub.is_some_and(|before| before != sub) {
        return Err(IdTokenError::Subject);
    }
    claims.remove("sub");
    Ok(Identity { sub, claims })
}

/// Whether the audience is this client. With several audiences, `azp` must name it, too.
fn is_for(claims: &Map<String, Value>, client_id: &str) -> bool {
    let is_ours = |value: &Value| value.as_str() == Some(client_id);
    match claims.get("aud") {
        Some(Value::Array(all)) if all.len() > 1 => {
            all.iter().any(is_ours) && claims.get("azp").is_some_and(is_ours)
        }
        Some(Value::Array(all)) => all.iter().any(is_ours),
        Some(audience) => is_ours(audience),
        None => false,
    }
}

/// The left half of a SHA-256 hash, in base64url.
fn half_hash(text: &str) -> String {
    base64url(&digest(&SHA256, text.as_bytes()).as_ref()[..16])
}
