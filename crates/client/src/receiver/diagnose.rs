//! Diagnoses why a signature does not match: it tries the usual mistakes with bodies, secrets and signatures, and names
//! the ones that explain the mismatch.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use domain::Secret;
use domain::signature::{
    ACCOUNTING_HEADER, INVOICING_HEADER, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP,
};

use super::body_variants::body_variants;
use super::hmac::{MAC_BYTES, is_equal, mac};

/// The diagnosis does not try variants of larger bodies.
const SEARCH_BYTES_MAX: usize = 1024 * 1024;
const CONTRACT_PREFIX: &str = "sha256=";
const STANDARD_PREFIX: &str = "v1,";
const SECRET_PREFIX: &str = "whsec_";

/// A signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureScheme {
    /// The contract's signature of the accounting family, in the header `svc-webhook-signature`.
    Accounting,
    /// The contract's signature of invoicing, in the header `ms-signature`.
    Invoicing,
    /// The signature of Standard Webhooks, in the header `webhook-signature`. It also covers `webhook-id` and
    /// `webhook-timestamp`.
    Standard,
}

impl SignatureScheme {
    /// The name of its header.
    pub fn header(self) -> &'static str {
        match self {
            Self::Accounting => ACCOUNTING_HEADER,
            Self::Invoicing => INVOICING_HEADER,
            Self::Standard => STANDARD_SIGNATURE,
        }
    }
}

/// A received signature and the content that it signs.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedSignature<'a> {
    /// The scheme of the signature.
    pub scheme: SignatureScheme,
    /// The value of the signature header; `None` if it is missing.
    pub signature: Option<&'a str>,
    /// The value of `webhook-id`; only for [`SignatureScheme::Standard`].
    pub id: Option<&'a str>,
    /// The value of `webhook-timestamp`; only for [`SignatureScheme::Standard`].
    pub timestamp: Option<&'a str>,
    /// The body exactly as received.
    pub body: &'a [u8],
}

impl<'a> ReceivedSignature<'a> {
    /// A signature of the accounting family.
    pub fn accounting(signature: &'a str, body: &'a [u8]) -> Self {
        Self {
            scheme: SignatureScheme::Accounting,
            signature: Some(signature),
            id: None,
            timestamp: None,
            body,
        }
    }

    /// A signature of invoicing.
    pub fn invoicing(signature: &'a str, body: &'a [u8]) -> Self {
        Self { scheme: SignatureScheme::Invoicing, ..Self::accounting(signature, body) }
    }

    /// A signature of Standard Webhooks.
    pub fn standard(id: &'a str, timestamp: &'a str, signature: &'a str, body: &'a [u8]) -> Self {
        let (scheme, signature) = (SignatureScheme::Standard, Some(signature));
        Self { scheme, signature, id: Some(id), timestamp: Some(timestamp), body }
    }
}

/// A reason why a signature does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MismatchReason {
    /// The header of this name is missing or not text.
    MissingHeader(&'static str),
    /// The signature is neither hexadecimal nor base64 of 32 bytes.
    MalformedSignature,
    /// The prefix `sha256=` (or `v1,`) is missing.
    MissingPrefix,
    /// The digits are right but in lower case; the contract uses upper case.
    LowerCaseHex,
    /// The bytes are right but written as base64 instead of hexadecimal digits.
    Base64InsteadOfHex,
    /// The bytes are right but written as hexadecimal digits instead of base64.
    HexInsteadOfBase64,
    /// The body was parsed and serialised again.
    ReserialisedBody,
    /// Whitespace was added at the end of the body.
    TrailingNewlineAdded,
    /// The newline at the end of the body was removed.
    TrailingNewlineRemoved,
    /// A byte order mark was added at the start of the body.
    ByteOrderMarkAdded,
    /// The byte order mark at the start of the body was removed.
    ByteOrderMarkRemoved,
    /// The body was decoded and encoded with another encoding than UTF-8.
    WrongEncoding,
    /// The secret has whitespace or quotes around it that do not belong to it.
    SecretWithWhitespace,
    /// A `whsec_…` secret was used as text instead of as base64, or the other way round.
    SecretEncoding,
    /// No known mistake explains it: the secret is wrong, or the body was changed.
    WrongSecret,
    /// `webhook-timestamp` is not a number of seconds.
    InvalidTimestamp,
    /// The timestamp is older than the tolerance: an old delivery, or this clock is ahead.
    StaleTimestamp {
        /// The age of the signature.
        age_seconds: u64,
    },
    /// The timestamp is further in the future than the tolerance: this clock is behind.
    FutureTimestamp {
        /// How far the signature lies in the future.
        ahead_seconds: u64,
    },
}

impl MismatchReason {
    /// A stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MissingHeader(_) => "missing_header",
            Self::MalformedSignature => "no_signature",
            Self::MissingPrefix => "missing_prefix",
            Self::LowerCaseHex => "lower_case_hex",
            Self::Base64InsteadOfHex => "base64_instead_of_hex",
            Self::HexInsteadOfBase64 => "hex_instead_of_base64",
            Self::ReserialisedBody => "reserialised_body",
            Self::TrailingNewlineAdded => "trailing_newline_added",
            Self::TrailingNewlineRemoved => "trailing_newline_removed",
            Self::ByteOrderMarkAdded => "byte_order_mark_added",
            Self::ByteOrderMarkRemoved => "byte_order_mark_removed",
            Self::WrongEncoding => "wrong_encoding",
            Self::SecretWithWhitespace => "secret_with_spaces",
            Self::SecretEncoding => "secret_form",
            Self::WrongSecret => "wrong_secret",
            Self::InvalidTimestamp => "no_timestamp",
            Self::StaleTimestamp { .. } => "stale_timestamp",
            Self::FutureTimestamp { .. } => "future_timestamp",
        }
    }
}

impl fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::MissingHeader(name) => {
                return write!(
                    f,
                    "the header {name} is missing: pass on the headers of the request unchanged"
                );
            }
            Self::StaleTimestamp { age_seconds } => {
                return write!(
                    f,
                    "it was signed {age_seconds} s ago: an old delivery was sent again, or the clock of this machine is ahead"
                );
            }
            Self::FutureTimestamp { ahead_seconds } => {
                return write!(
                    f,
                    "it was signed {ahead_seconds} s in the future: the clock of this machine is behind"
                );
            }
            Self::MalformedSignature => "the signature is neither hexadecimal nor base64 of 32 bytes",
            Self::MissingPrefix => "the prefix is missing: sha256= (or v1, for Standard Webhooks)",
            Self::LowerCaseHex => "the digits are right but in lower case: compare upper-case digits",
            Self::Base64InsteadOfHex => "it is base64: write the bytes as upper-case hexadecimal digits",
            Self::HexInsteadOfBase64 => "it is hexadecimal: Standard Webhooks writes base64",
            Self::ReserialisedBody => {
                "the body was parsed and serialised again: verify the received bytes, before parsing"
            }
            Self::TrailingNewlineAdded => "whitespace was added at the end of the body",
            Self::TrailingNewlineRemoved => "the newline at the end of the body was removed",
            Self::ByteOrderMarkAdded => "a byte order mark was added at the start of the body",
            Self::ByteOrderMarkRemoved => "the byte order mark at the start of the body was removed",
            Self::WrongEncoding => {
                "the body was converted to another encoding: verify the received bytes, which are UTF-8"
            }
            Self::SecretWithWhitespace => "the secret has whitespace or quotes around it: remove them",
            Self::SecretEncoding => {
                "the key of the contract's signature is the text of the secret; for Standard Webhooks, the \
                 part after whsec_ is the key in base64"
            }
            Self::WrongSecret => "the secret is wrong, or the body was changed",
            Self::InvalidTimestamp => "webhook-timestamp is not a number of seconds",
        };
        f.write_str(text)
    }
}

/// A signature that does not match, and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureMismatch {
    /// The scheme of the signature.
    pub scheme: SignatureScheme,
    /// At least one; several if they explain the mismatch only together.
    pub reasons: Vec<MismatchReason>,
}

impl SignatureMismatch {
    /// Whether `reason` is among the reasons.
    pub fn has(&self, reason: &MismatchReason) -> bool {
        self.reasons.contains(reason)
    }

    fn of(scheme: SignatureScheme, reason: MismatchReason) -> Self {
        Self { scheme, reasons: vec![reason] }
    }
}

impl fmt::Display for SignatureMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not match: ", self.scheme.header())?;
        for (index, reason) in self.reasons.iter().enumerate() {
            let comma = if index > 0 { "; and " } else { "" };
            write!(f, "{comma}{reason}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SignatureMismatch {}

/// Checks a signature and, if it does not match, finds out why.
///
/// A pure function: `now_seconds` is the time in Unix seconds. Receivers call [`verify`](super::verify) instead; this is
/// for debugging tools.
///
/// ```
/// use std::time::Duration;
/// use aldaba_client::Secret;
/// use aldaba_client::receiver::{ReceivedSignature, MismatchReason, diagnose};
///
/// let secret = Secret::new("Jefe");
/// let signature = "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843";
/// let tolerance = Duration::from_secs(300);
/// let right = ReceivedSignature::accounting(signature, b"what do ya want for nothing?");
/// assert!(diagnose(&right, &secret, 0, tolerance).is_ok());
///
/// let with_newline = ReceivedSignature::accounting(signature, b"what do ya want for nothing?\n");
/// let mismatch = diagnose(&with_newline, &secret, 0, tolerance).unwrap_err();
/// assert_eq!(mismatch.reasons, [MismatchReason::TrailingNewlineAdded]);
/// ```
pub fn diagnose(
    received: &ReceivedSignature<'_>,
    secret: &Secret,
    now_seconds: i64,
    tolerance: Duration,
) -> Result<(), SignatureMismatch> {
    let fails = |reason| Err(SignatureMismatch::of(received.scheme, reason));
    let Some(signature) = received.signature else {
        return fails(MismatchReason::MissingHeader(received.scheme.header()));
    };
    if received.scheme != SignatureScheme::Standard {
        return search(received, signature, secret, b"");
    }
    let Some(id) = received.id else { return fails(MismatchReason::MissingHeader(STANDARD_ID)) };
    let Some(timestamp) = received.timestamp else {
        return fails(MismatchReason::MissingHeader(STANDARD_TIMESTAMP));
    };
    let signed_before = format!("{id}.{timestamp}.");
    // During a rotation there is one signature for each secret; one match is enough.
    let mut best = SignatureMismatch::of(received.scheme, MismatchReason::MalformedSignature);
    for candidate in signature.split(' ').filter(|candidate| !candidate.is_empty()) {
        match search(received, candidate, secret, signed_before.as_bytes()) {
            Ok(()) => return check_timestamp(timestamp, now_seconds, tolerance),
            Err(mismatch)
                if best.has(&MismatchReason::MalformedSignature)
                    || best.has(&MismatchReason::WrongSecret) =>
            {
                best = mismatch;
            }
            Err(_) => {}
        }
    }
    Err(best)
}

fn check_timestamp(timestamp: &str, now: i64, tolerance: Duration) -> Result<(), SignatureMismatch> {
    let fails = |reason| Err(SignatureMismatch::of(SignatureScheme::Standard, reason));
    let Ok(signed_at) = timestamp.parse::<i64>() else { return fails(MismatchReason::InvalidTimestamp) };
    let apart_seconds = now.abs_diff(signed_at);
    if apart_seconds <= tolerance.as_secs() {
        Ok(())
    } else if signed_at < now {
        fails(MismatchReason::StaleTimestamp { age_seconds: apart_seconds })
    } else {
        fails(MismatchReason::FutureTimestamp { ahead_seconds: apart_seconds })
    }
}

/// Searches for a key and a body variant that match the signature.
fn search(
    received: &ReceivedSignature<'_>,
    signature: &str,
    secret: &Secret,
    before: &[u8],
) -> Result<(), SignatureMismatch> {
    let scheme = received.scheme;
    let Some((expected, format_reasons)) = decode_signature(scheme, signature) else {
        return Err(SignatureMismatch::of(scheme, MismatchReason::MalformedSignature));
    };
    let bodies = if received.body.len() > SEARCH_BYTES_MAX {
        vec![(None, received.body.to_vec())]
    } else {
        body_variants(received.body)
    };
    for (body_reason, body) in &bodies {
        for (key_reason, key) in keys(scheme, secret) {
            if is_equal(&mac(&key, &[before, body]), &expected) {
                let found: Vec<MismatchReason> =
                    key_reason.into_iter().chain(body_reason.clone()).chain(format_reasons).collect();
                return if found.is_empty() {
                    Ok(())
                } else {
                    Err(SignatureMismatch { scheme, reasons: found })
                };
            }
        }
    }
    Err(SignatureMismatch::of(scheme, MismatchReason::WrongSecret))
}

/// First the right key of the secret, then the keys of the usual mistakes.
fn keys(scheme: SignatureScheme, secret: &Secret) -> Vec<(Option<MismatchReason>, Vec<u8>)> {
    let text = secret.reveal();
    let plain = |text: &str| text.as_bytes().to_vec();
    let decoded = |text: &str| STANDARD.decode(text.strip_prefix(SECRET_PREFIX)?).ok();
    let right = |text: &str| match scheme {
        SignatureScheme::Standard => decoded(text).unwrap_or_else(|| plain(text)),
        SignatureScheme::Accounting | SignatureScheme::Invoicing => plain(text),
    };
    let mut keys = vec![(None, right(text))];
    let trimmed = text.trim().trim_matches(['"', '\'']);
    if trimmed != text {
        keys.push((Some(MismatchReason::SecretWithWhitespace), right(trimmed)));
    }
    if let Some(bytes) = decoded(text) {
        let other = if scheme == SignatureScheme::Standard { plain(text) } else { bytes };
        keys.push((Some(MismatchReason::SecretEncoding), other));
    }
    keys
}

/// Decodes a signature in any encoding, and lists what is wrong with its format.
fn decode_signature(
    scheme: SignatureScheme,
    signature: &str,
) -> Option<([u8; MAC_BYTES], Vec<MismatchReason>)> {
    let is_standard = scheme == SignatureScheme::Standard;
    let prefix = if is_standard { STANDARD_PREFIX } else { CONTRACT_PREFIX };
    let (digits, mut reasons) = match signature.strip_prefix(prefix) {
        Some(digits) => (digits, Vec::new()),
        None => (signature.trim(), vec![MismatchReason::MissingPrefix]),
    };
    if let Some(bytes) = from_hex(digits) {
        if is_standard {
            reasons.push(MismatchReason::HexInsteadOfBase64);
        } else if digits.bytes().any(|digit| digit.is_ascii_lowercase()) {
            reasons.push(MismatchReason::LowerCaseHex);
        }
        return Some((bytes, reasons));
    }
    let codings = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
    let bytes = codings.into_iter().find_map(|coding| coding.decode(digits).ok()?.try_into().ok())?;
    if !is_standard {
        reasons.push(MismatchReason::Base64InsteadOfHex);
    }
    Some((bytes, reasons))
}

fn from_hex(digits: &str) -> Option<[u8; MAC_BYTES]> {
    if digits.len() != 2 * MAC_BYTES || !digits.is_ascii() {
        return None;
    }
    let mut bytes = [0; MAC_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let digit = |place: usize| char::from(*pair.get(place)?).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(bytes)
}
