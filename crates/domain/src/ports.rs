//! The ports of the domain: a clock and a source of randomness. The program passes in the real ones, tests and the
//! simulation pass in deterministic ones.

use crate::ids::Guid;
use crate::time::Ticks;

/// The current time, as UTC ticks of 100 ns.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Ticks;
}

/// A source of cryptographically secure random bytes.
pub trait Random: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);

    fn guid(&self) -> Guid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        Guid::random_from(bytes)
    }

    /// A random token of about 256 bits: 43 characters that need no escaping in a URL, a header or a shell. It never
    /// begins with a hyphen, so no command line parses it as a flag.
    fn token(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        if bytes[0] >> 2 == HYPHEN {
            bytes[0] ^= 0x80;
        }
        crate::secret::base64url(&bytes)
    }
}

/// The value of `-` in the base64url alphabet.
const HYPHEN: u8 = 62;

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedRandom(u8);

    impl Random for FixedRandom {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn token_never_begins_with_a_hyphen() {
        for byte in 0..=255 {
            let token = FixedRandom(byte).token();
            assert_eq!(token.len(), 43);
            assert!(!token.starts_with('-'), "{token}");
        }
    }
}
