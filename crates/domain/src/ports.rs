//! What the outside world gives to the rules: the time and chance. The wiring hands out the real
//! ones, tests and the simulation their own.

use crate::ids::Guid;
use crate::time::Ticks;

/// The time, as UTC ticks of 100 ns.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Ticks;
}

/// Unpredictable bytes.
pub trait Random: Send + Sync + 'static {
    fn fill(&self, bytes: &mut [u8]);

    fn guid(&self) -> Guid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        Guid::random_from(bytes)
    }

    /// 256 bits, hardly less, as 43 characters that need no escaping in a URL, a header or a shell, and
    /// never begin with a hyphen: no command line takes them for a flag.
    fn token(&self) -> String {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        if bytes[0] >> 2 == HYPHEN {
            bytes[0] ^= 0x80;
        }
        crate::secret::base64url(&bytes)
    }
}

/// What stands for a hyphen in the URL's alphabet.
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
    fn no_token_begins_like_a_flag() {
        for byte in 0..=255 {
            let token = FixedRandom(byte).token();
            assert_eq!(token.len(), 43);
            assert!(!token.starts_with('-'), "{token}");
        }
    }
}
