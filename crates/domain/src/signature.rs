//! Signs deliveries: with the signature that the contract defines, and with that of Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::secret::Secret;

/// The contract's signature header for the accounting family.
pub const ACCOUNTING_HEADER: &str = "svc-webhook-signature";
/// The contract's signature header for invoicing.
pub const INVOICING_HEADER: &str = "ms-signature";
pub const STANDARD_ID: &str = "webhook-id";
pub const STANDARD_TIMESTAMP: &str = "webhook-timestamp";
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

/// Secrets with this prefix contain the Standard Webhooks key in base64.
const STANDARD_PREFIX: &str = "whsec_";

/// Signs with the secrets of a webhook. The keys are prepared once.
#[derive(Clone)]
pub struct Signer {
    contract_key: Hmac<Sha256>,
    /// The key of the current secret, then that of the previous one during the overlap of a rotation.
    standard_keys: Vec<Hmac<Sha256>>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signer(***)")
    }
}

impl Signer {
    /// `previous` is the secret that a rotation replaced, during its overlap.
    pub fn new(secret: &Secret, previous: Option<&Secret>) -> Self {
        let standard_keys =
            std::iter::once(secret).chain(previous).map(|secret| hmac_key(&standard_key(secret))).collect();
        Self { contract_key: hmac_key(secret.reveal().as_bytes()), standard_keys }
    }

    /// `sha256=` and the upper-case hexadecimal HMAC-SHA256 of the body.
    pub fn contract_signature(&self, body: &[u8]) -> String {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = String::with_capacity(7 + 64);
        text.push_str("sha256=");
        for byte in mac(&self.contract_key, &[body]) {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 0xf)]));
        }
        text
    }

    /// `v1,` and the base64 of the HMAC-SHA256 of `id.timestamp.body`, for each valid secret.
    pub fn standard_signature(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let mut text = String::with_capacity(48 * self.standard_keys.len());
        for key in &self.standard_keys {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str("v1,");
            let signed = mac(key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
            STANDARD.encode_string(signed, &mut text);
        }
        text
    }
}

fn hmac_key(bytes: &[u8]) -> Hmac<Sha256> {
    // HMAC accepts keys of any length, so this cannot fail.
    Hmac::new_from_slice(bytes).unwrap_or_else(|_| Hmac::new(&[0; 64].into()))
}

fn mac(key: &Hmac<Sha256>, parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = key.clone();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn standard_key(secret: &Secret) -> Vec<u8> {
    let plain = secret.reveal();
    let decoded = plain.strip_prefix(STANDARD_PREFIX).and_then(|rest| STANDARD.decode(rest).ok());
    decoded.unwrap_or_else(|| plain.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(secret: &str) -> Signer {
        Signer::new(&Secret::new(secret), None)
    }

    #[test]
    fn contract_signature_is_upper_case_hexadecimal() {
        // RFC 4231, test case 2.
        assert_eq!(
            signer("Jefe").contract_signature(b"what do ya want for nothing?"),
            "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"
        );
    }

    #[test]
    fn standard_signature_matches_the_specifications_example() {
        let signer = signer("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let body = br#"{"test": 2432232314}"#;
        assert_eq!(
            signer.standard_signature("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn secret_that_is_not_base64_is_used_as_bytes() {
        let not_base64 = signer("whsec_%%%");
        let same = Signer { standard_keys: vec![hmac_key(b"whsec_%%%")], ..not_base64.clone() };
        assert_eq!(not_base64.standard_signature("i", "1", b"x"), same.standard_signature("i", "1", b"x"));
    }

    #[test]
    fn both_secrets_sign_during_a_rotation() {
        let (new, old) = (Secret::new("new"), Secret::new("old"));
        let both = Signer::new(&new, Some(&old)).standard_signature("i", "1", b"x");
        let single = |secret| Signer::new(secret, None).standard_signature("i", "1", b"x");
        assert_eq!(both, format!("{} {}", single(&new), single(&old)));
        assert_eq!(
            Signer::new(&new, Some(&old)).contract_signature(b"x"),
            Signer::new(&new, None).contract_signature(b"x")
        );
    }
}
