//! JSON Web Tokens, signed with RS256. A token's header selects one of the provider's own keys by `kid`, and
//! cannot select another algorithm or a key from elsewhere.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::keys::{KeyError, Keys};

/// Longer tokens are refused.
const BYTES_MAX: usize = 16 * 1024;

/// Signs claims with the current signing key.
pub(crate) fn sign(keys: &Keys, claims: &impl Serialize) -> Result<String, KeyError> {
    sign_as(keys, "JWT", claims)
}

/// The same, with another `typ` in the header.
pub(crate) fn sign_as(keys: &Keys, typ: &'static str, claims: &impl Serialize) -> Result<String, KeyError> {
    let claims = serde_json::to_vec(claims).map_err(|_| KeyError::Crypto("serialize claims for"))?;
    keys.with_signer(|key_pair| {
        let header = format!(r#"{{"alg":"RS256","typ":"{typ}","kid":"{}"}}"#, key_pair.kid);
        let mut token = String::with_capacity((header.len() + claims.len()) * 4 / 3 + 360);
        URL_SAFE_NO_PAD.encode_string(header, &mut token);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(&claims, &mut token);
        let signature = key_pair.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    })
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    #[serde(default)]
    crit: Option<serde_json::Value>,
}

/// The claims of a token with a valid signature. The caller checks the claims.
pub(crate) fn verify<T: DeserializeOwned>(keys: &Keys, token: &str) -> Option<T> {
    verify_with_kid(keys, token).map(|(claims, _)| claims)
}

/// The same, with the id of the key.
pub(crate) fn verify_with_kid<T: DeserializeOwned>(keys: &Keys, token: &str) -> Option<(T, String)> {
    if token.len() > BYTES_MAX {
        return None;
    }
    let (message, signature) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.')?;
    let header: Header = serde_json::from_slice(&decode(header)?).ok()?;
    if header.alg != "RS256" || header.crit.is_some() {
        return None;
    }
    let key_pair = keys.verification_key(&header.kid)?;
    if !key_pair.verifies(message.as_bytes(), &decode(signature)?) {
        return None;
    }
    Some((serde_json::from_slice(&decode(claims)?).ok()?, header.kid))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The left half of the SHA-256 hash, for `c_hash` and `at_hash`.
pub(crate) fn left_half_hash(text: &str) -> String {
    let hash = digest(&SHA256, text.as_bytes());
    URL_SAFE_NO_PAD.encode(hash.as_ref().get(..16).unwrap_or_default())
}
