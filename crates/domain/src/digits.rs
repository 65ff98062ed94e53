//! Whole numbers in text from outside: query parameters, cursors, ports, durations.

use std::str::FromStr;

/// Parses a whole number that consists of digits. `str::parse` alone also accepts a sign, as in `+5` or `-0`.
pub fn parse_digits<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_has_no_sign() {
        assert_eq!(parse_digits::<i64>("5"), Some(5));
        assert_eq!(parse_digits::<u8>("007"), Some(7));
        for wrong in ["", "+5", "-5", "-0", "+", " 5", "5.0", "256", "٥"] {
            assert_eq!(parse_digits::<u8>(wrong), None, "{wrong}");
        }
        assert_eq!(parse_digits::<i64>("-0"), None);
    }
}
