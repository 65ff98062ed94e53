//! Parses durations: `500ms`, `5s`, `2m`, `24h`, `30d`.

use std::time::Duration;

/// The format of a duration, for messages.
pub(crate) const DURATION: &str = "a whole number followed by ms, s, m, h or d, such as 90m";

pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_from = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(unit_from);
    let number: u64 = digits.parse().ok()?;
    let milliseconds = match unit {
        "ms" => number,
        "s" => number.checked_mul(1000)?,
        "m" => number.checked_mul(60_000)?,
        "h" => number.checked_mul(3_600_000)?,
        "d" => number.checked_mul(86_400_000)?,
        _ => return None,
    };
    Some(Duration::from_millis(milliseconds))
}
