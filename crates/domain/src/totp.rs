//! Time-based one-time passwords (TOTP, RFC 6238) as authenticator apps compute them: SHA-1, six digits, 30 seconds.

use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha1::Sha1;
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use zeroize::Zeroizing;

use crate::ports::Random;
use crate::secret::Secret;
use crate::time::Ticks;

/// The length that RFC 4226 recommends, and that of a SHA-1 hash.
pub const SECRET_BYTES: usize = 20;
pub const STEP_SECONDS: i64 = 30;
pub const CODE_DIGITS: usize = 6;
/// The steps before and after the current one whose codes are accepted, because clocks differ and typing takes time.
pub const DRIFT_STEPS: i64 = 1;
/// What a QR code of version 10 with error correction M holds. `TotpSecret::uri` cuts the names to fit.
pub const URI_BYTES_MAX: usize = 213;

/// The encoded bytes of the issuer in a URI, which has it twice. The account gets what is left.
const ISSUER_BYTES_MAX: usize = 40;
/// Longer inputs are no code and no secret. Both limits leave room for separators.
const CODE_INPUT_BYTES_MAX: usize = 32;
const SECRET_INPUT_BYTES_MAX: usize = 128;

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// RFC 3986's unreserved characters stay as they are.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The number of a period of 30 seconds since the Unix epoch. Stores keep the last one used: `TimeStep(0)` is older
/// than any real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeStep(pub i64);

impl TimeStep {
    pub fn at(now: Ticks) -> Self {
        Self(now.unix_seconds().div_euclid(STEP_SECONDS))
    }
}

/// A code as typed: six digits. `Debug` does not print it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TotpCode([u8; CODE_DIGITS]);

impl TotpCode {
    /// Reads six digits; spaces and hyphens between them are ignored.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > CODE_INPUT_BYTES_MAX {
            return None;
        }
        let mut digits = text.chars().filter(|c| !is_separator(*c));
        let mut code = [0; CODE_DIGITS];
        for digit in &mut code {
            *digit = digits.next().filter(char::is_ascii_digit).and_then(|c| u8::try_from(c).ok())?;
        }
        digits.next().is_none().then_some(Self(code))
    }

    pub fn as_str(&self) -> &str {
        // Every constructor writes ASCII digits.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for TotpCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TotpCode(***)")
    }
}

/// Why a code is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotpRefusal {
    /// It is not the code of the current step or of one beside it.
    Wrong,
    /// It is right, but it or a later one has been used: a code is valid once.
    Used,
}

/// The key that an authenticator app shares with the service. `Debug` does not print it, and its memory is zeroed on
/// drop.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Zeroizing<[u8; SECRET_BYTES]>);

impl TotpSecret {
    pub fn random(random: &dyn Random) -> Self {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        random.fill(&mut *bytes);
        Self(bytes)
    }

    pub fn from_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads base32 (RFC 4648) in either case; spaces, hyphens and padding are ignored.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > SECRET_INPUT_BYTES_MAX {
            return None;
        }
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        let (mut bits, mut bit_count, mut length) = (0_u32, 0, 0);
        for c in text.trim_end_matches(['=', ' ']).chars().filter(|c| !is_separator(*c)) {
            let value = BASE32.iter().position(|known| char::from(*known) == c.to_ascii_uppercase())?;
            bits = (bits << 5 | u32::try_from(value).ok()?) & 0xfff;
            bit_count += 5;
            if bit_count >= 8 {
                bit_count -= 8;
                *bytes.get_mut(length)? = u8::try_from((bits >> bit_count) & 0xff).ok()?;
                length += 1;
            }
        }
        // 20 bytes are exactly 32 characters.
        (length == SECRET_BYTES && bit_count == 0).then_some(Self(bytes))
    }

    /// Base32 without padding: what stores encrypt and `parse` reads.
    pub fn base32(&self) -> Secret {
        let mut text = Zeroizing::new(String::with_capacity(SECRET_BYTES * 8 / 5));
        for group in self.0.chunks(5) {
            let bits = group.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
            for position in (0..8).rev() {
                text.push(char::from(BASE32[usize::try_from((bits >> (5 * position)) & 0x1f).unwrap_or(0)]));
            }
        }
        Secret::new(text.as_str())
    }

    /// Base32 in groups of four, for people who type it into their app.
    pub fn grouped_base32(&self) -> Secret {
        let plain = self.base32();
        let mut text = Zeroizing::new(String::with_capacity(plain.reveal().len() * 5 / 4));
        for (index, c) in plain.reveal().chars().enumerate() {
            if index > 0 && index % 4 == 0 {
                text.push(' ');
            }
            text.push(c);
        }
        Secret::new(text.as_str())
    }

    /// The `otpauth` URI that apps read from a QR code. Issuer and account are labels that the app shows; a colon
    /// separates them, so colons in them become spaces. Algorithm, digits and period are the defaults of every app.
    pub fn uri(&self, issuer: &str, account: &str) -> Secret {
        let issuer = encode_label(issuer, ISSUER_BYTES_MAX);
        let secret = self.base32();
        let fixed = Zeroizing::new(format!("?secret={}&issuer={issuer}", secret.reveal()));
        let before = format!("otpauth://totp/{issuer}:");
        let account = encode_label(account, URI_BYTES_MAX - before.len() - fixed.len());
        Secret::new(format!("{before}{account}{}", *fixed))
    }

    /// The code of a step (RFC 4226, section 5.3).
    pub fn code(&self, step: TimeStep) -> TotpCode {
        // HMAC accepts keys of any length, so this cannot fail.
        let mut mac = <Hmac<Sha1>>::new_from_slice(&*self.0).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
        mac.update(&step.0.to_be_bytes());
        let hash: [u8; 20] = mac.finalize().into_bytes().into();
        let offset = usize::from(hash[19] & 0xf);
        let window = [hash[offset] & 0x7f, hash[offset + 1], hash[offset + 2], hash[offset + 3]];
        let mut number = u32::from_be_bytes(window);
        let mut digits = [b'0'; CODE_DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit += u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
        }
        TotpCode(digits)
    }

    /// Checks a code against the current step and those beside it, in constant time, and gives the step that it
    /// belongs to. The caller stores that step as `last_used` in the transaction that accepts the code, and only if
    /// it is later than the one stored: two requests with one code may come here at once.
    pub fn verify(
        &self,
        code: &TotpCode,
        now: Ticks,
        last_used: Option<TimeStep>,
    ) -> Result<TimeStep, TotpRefusal> {
        let current = TimeStep::at(now).0;
        let mut found = Choice::from(0);
        let mut accepted = 0_i64;
        for drift in -DRIFT_STEPS..=DRIFT_STEPS {
            let step = current.saturating_add(drift);
            let matches = self.code(TimeStep(step)).0.ct_eq(&code.0);
            accepted.conditional_assign(&step, matches);
            found |= matches;
        }
        if !bool::from(found) {
            Err(TotpRefusal::Wrong)
        } else if last_used.is_some_and(|last| TimeStep(accepted) <= last) {
            Err(TotpRefusal::Used)
        } else {
            Ok(TimeStep(accepted))
        }
    }
}

impl std::fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TotpSecret(***)")
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c == '-'
}

/// Percent-encodes a label, up to the last whole character that fits.
fn encode_label(label: &str, bytes_max: usize) -> String {
    let mut encoded = String::new();
    for c in label.trim().chars() {
        let c = if c == ':' || c.is_control() { ' ' } else { c };
        let piece = utf8_percent_encode(c.encode_utf8(&mut [0; 4]), ESCAPED).to_string();
        if encoded.len() + piece.len() > bytes_max {
            break;
        }
        encoded.push_str(&piece);
    }
    encoded
}

#[cfg(test)]
mod tests;
