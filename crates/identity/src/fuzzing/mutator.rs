//! Creates forged tokens: from arbitrary text, or from parts of valid tokens and of tokens for other purposes.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use domain::Ticks;
use serde_json::{Value, json};

use crate::keys::SigningKeyPair;
use crate::{Identity, jwt};

pub(super) struct TokenMutator {
    /// The first two are valid.
    tokens: Vec<String>,
}

impl TokenMutator {
    pub(super) fn new(identity: &Identity, now: Ticks) -> Self {
        let Ok((stranger, _)) = SigningKeyPair::generate() else { panic!("no key") };
        let signed = |claims: &Value| jwt::sign(&identity.keys, claims).unwrap_or_default();
        let valid = claims(identity, now, "one");
        let with = |name: &str, value: Value| {
            let mut claims = valid.clone();
            claims[name] = value;
            signed(&claims)
        };
        let (first, expired) = (signed(&valid), now.unix_seconds() - 3600);
        let message = first.rsplit_once('.').map_or("", |(message, _)| message);
        let payload = message.split_once('.').map_or("", |(_, payload)| payload);
        let kid = identity.keys.list().last().map(|key| key.kid.clone()).unwrap_or_default();
        let by_stranger = |kid: &str| {
            let message = format!("{}.{payload}", header("RS256", kid));
            let signature = stranger.sign(message.as_bytes()).unwrap_or_default();
            format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
        };
        // Algorithm confusion: the public key as an HMAC secret.
        let confused = format!("{}.{payload}", header("HS256", &kid));
        let public =
            identity.keys.verification_key(&kid).map(|pair| pair.public_jwk.clone()).unwrap_or_default();
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, public.as_bytes()), confused.as_bytes());
        let tokens = vec![
            first.clone(),
            signed(&claims(identity, now, "two")),
            by_stranger(&stranger.kid),
            by_stranger(&kid),
            format!("{confused}.{}", URL_SAFE_NO_PAD.encode(tag)),
            format!("{}.{payload}.", header("none", &kid)),
            with("exp", json!(expired)),
            with("nbf", json!(now.unix_seconds() + 3600)),
            with("iss", json!("https://other.example/auth/core")),
            with("aud", json!("panel")),
            with("jti", json!("a-grant-without-more")),
            with("jti", Value::Null),
        ];
        Self { tokens }
    }

    pub(super) fn valid_tokens(&self) -> &[String] {
        &self.tokens[..2]
    }

    /// The token that these bytes encode: the text after `=`, or else mutations of the first valid token.
    pub(super) fn mutate(&self, data: &[u8]) -> String {
        if let Some(text) = data.strip_prefix(b"=") {
            return String::from_utf8_lossy(text).into_owned();
        }
        let mut token = self.tokens[0].clone().into_bytes();
        for change in data.chunks_exact(4).take(16) {
            self.change(&mut token, [change[0], change[1], change[2], change[3]]);
        }
        String::from_utf8_lossy(&token).into_owned()
    }

    /// Applies one mutation: its kind, and three bytes of parameters.
    fn change(&self, token: &mut Vec<u8>, [what, high, low, value]: [u8; 4]) {
        let at = usize::from(u16::from_be_bytes([high, low])) % token.len().max(1);
        match what {
            b'g' => *token = self.tokens[usize::from(value) % self.tokens.len()].clone().into_bytes(),
            b'p' => {
                let other = parts(self.tokens[usize::from(value) % self.tokens.len()].as_bytes());
                with_part(token, usize::from(high), |part| {
                    other.get(usize::from(low) % 3).cloned().unwrap_or(part)
                });
            }
            b's' => {
                let mut all = parts(token);
                let count = all.len();
                all.swap(usize::from(high) % count, usize::from(low) % count);
                *token = all.join(&b'.');
            }
            b'f' if !token.is_empty() => token[at] ^= 1 << (value % 8),
            b'i' => token.insert(at, value),
            b'd' if !token.is_empty() => drop(token.remove(at)),
            b't' => token.truncate(at),
            b'a' => token.push(value),
            // Other encodings of the same bytes.
            b'e' => with_part(token, usize::from(high), |part| reencoded(&part, value)),
            b'r' => with_part(token, usize::from(high), |part| with_trailing_bits(part, value)),
            b'w' => with_part(token, usize::from(high), |part| [&part[..], b" \t\r\n"].concat()),
            b'c' => token.make_ascii_uppercase(),
            _ => {}
        }
    }
}

fn claims(identity: &Identity, now: Ticks, user: &str) -> Value {
    let (issuer, now) = (&identity.settings.issuer, now.unix_seconds());
    json!({
        "iss": issuer, "aud": identity.audience, "exp": now + 3600, "nbf": now, "iat": now,
        "jti": "grant.1", "client_id": "panel", "scope": ["openid"], "sub": user, "svc.es.clientid": "tenant"
    })
}

fn header(algorithm: &str, kid: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}","typ":"JWT","kid":"{kid}"}}"#))
}

fn parts(token: &[u8]) -> Vec<Vec<u8>> {
    token.split(|byte| *byte == b'.').map(<[u8]>::to_vec).collect()
}

fn with_part(token: &mut Vec<u8>, which: usize, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let mut all = parts(token);
    let which = which % all.len();
    all[which] = change(std::mem::take(&mut all[which]));
    *token = all.join(&b'.');
}

/// The same bytes in another base64 alphabet, with padding, or with added white space.
fn reencoded(part: &[u8], how: u8) -> Vec<u8> {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(part) else { return part.to_vec() };
    let text = match how % 4 {
        0 => STANDARD.encode(bytes),
        1 => URL_SAFE.encode(bytes) + "=",
        2 => URL_SAFE_NO_PAD.encode([&bytes[..], b" "].concat()),
        _ => URL_SAFE_NO_PAD.encode([b" ", &bytes[..]].concat()),
    };
    text.into_bytes()
}

/// Sets the unused bits of the last base64 character.
fn with_trailing_bits(mut part: Vec<u8>, bits: u8) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    if let Some(last) = part.last_mut()
        && let Some(place) = LETTERS.iter().position(|letter| letter == last)
    {
        *last = LETTERS[place ^ usize::from(bits % 4)];
    }
    part
}
