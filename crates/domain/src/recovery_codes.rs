//! Recovery codes: single-use codes for people who have lost their second factor. A code has 50 random bits, in
//! Crockford's base32, which has no letters that look like digits.

use zeroize::Zeroizing;

use crate::ports::Random;
use crate::secret::Secret;

/// How many codes a person gets at once.
pub const RECOVERY_CODE_COUNT: usize = 10;
pub const RECOVERY_CODE_CHARS: usize = 10;

/// Longer inputs are no code. The limit leaves room for separators.
const INPUT_BYTES_MAX: usize = 64;

/// Digits and letters without `i`, `l`, `o` and `u`. With fewer than 32 characters, ten of them would not have 50 bits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// One code, as ten characters of the alphabet. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecoveryCode(Secret);

impl RecoveryCode {
    /// A new set of codes for one person.
    pub fn generate(random: &dyn Random) -> [Self; RECOVERY_CODE_COUNT] {
        std::array::from_fn(|_| {
            let mut bytes = Zeroizing::new([0; RECOVERY_CODE_CHARS]);
            random.fill(&mut *bytes);
            Self::from_random_bytes(&bytes)
        })
    }

    /// Uses five bits of each byte.
    fn from_random_bytes(bytes: &[u8; RECOVERY_CODE_CHARS]) -> Self {
        let characters = bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 0x1f)]));
        Self(Secret::new(characters.collect::<String>()))
    }

    /// Reads a code in either case, with any spaces and hyphens, and with `o` for `0` and `i` or `l` for `1`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > INPUT_BYTES_MAX {
            return None;
        }
        let mut canonical = Zeroizing::new(String::with_capacity(RECOVERY_CODE_CHARS));
        for c in text.chars().filter(|c| !is_separator(*c)) {
            let c = match c.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                c => c,
            };
            if canonical.len() == RECOVERY_CODE_CHARS || !ALPHABET.iter().any(|known| char::from(*known) == c)
            {
                return None;
            }
            canonical.push(c);
        }
        (canonical.len() == RECOVERY_CODE_CHARS).then(|| Self(Secret::new(canonical.as_str())))
    }

    /// The one form of the code that the store hashes: ten characters in lower case, without a hyphen.
    pub fn canonical(&self) -> &Secret {
        &self.0
    }

    /// The form that people see: `xxxxx-xxxxx`.
    pub fn grouped(&self) -> Secret {
        let (first, second) = self.0.reveal().split_at(RECOVERY_CODE_CHARS / 2);
        Secret::new(format!("{first}-{second}"))
    }
}

/// Some word processors turn a hyphen into a dash.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '–' | '—')
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicU8, Ordering};

    use proptest::prelude::*;

    use super::*;

    /// Counts up from byte to byte, across calls.
    struct CountingRandom(AtomicU8);

    impl Random for CountingRandom {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill_with(|| self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn canonical(text: &str) -> Option<String> {
        RecoveryCode::parse(text).map(|code| code.canonical().reveal().to_owned())
    }

    #[test]
    fn a_set_has_ten_different_codes() {
        let codes = RecoveryCode::generate(&CountingRandom(AtomicU8::new(0)));
        let texts: HashSet<String> = codes.iter().map(|code| code.grouped().reveal().to_owned()).collect();
        assert_eq!(texts.len(), RECOVERY_CODE_COUNT);
        assert!(texts.contains("01234-56789") && texts.contains("abcde-fghjk"), "{texts:?}");
    }

    #[test]
    fn a_code_has_50_bits() {
        let distinct: HashSet<u8> = ALPHABET.iter().copied().collect();
        assert_eq!(distinct.len(), 32, "five bits for each of ten characters");
        let every_byte: HashSet<String> = (0..=255)
            .map(|byte| RecoveryCode::from_random_bytes(&[byte; 10]).canonical().reveal().to_owned())
            .collect();
        assert_eq!(
            every_byte.len(),
            32,
            "256 is a multiple of 32, so no character is more likely than another"
        );
    }

    #[test]
    fn codes_parse_leniently() {
        for text in
            ["abcde-fg012", "ABCDEFG012", " abcde fg0-12 ", "abc-de-fgO-I2", "ABCDE–FG012", "abcdefgol2"]
        {
            assert_eq!(canonical(text).as_deref(), Some("abcdefg012"), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_codes() {
        for text in
            ["", "-", "abcde-fg01", "abcde-fg0123", "abcde-fg01u", "abcde-fg01ñ", "abcde_fg012", "123456"]
        {
            assert_eq!(canonical(text), None, "{text}");
        }
        assert_eq!(canonical(&format!("abcdefg012{}", " ".repeat(1 << 20))), None);
    }

    #[test]
    fn codes_are_never_printed() {
        let code = RecoveryCode::parse("abcde-fg012").unwrap();
        assert_eq!(format!("{code:?}"), "RecoveryCode(Secret(***))");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_parsed(bytes: [u8; 10]) {
            let code = RecoveryCode::from_random_bytes(&bytes);
            prop_assert_eq!(RecoveryCode::parse(code.grouped().reveal()), Some(code.clone()));
            prop_assert_eq!(RecoveryCode::parse(&code.grouped().reveal().to_uppercase()), Some(code));
        }

        #[test]
        fn any_text_parses_without_a_panic(text: String) {
            let _ = RecoveryCode::parse(&text);
        }
    }
}
