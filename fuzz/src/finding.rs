//! An input that breaks a target, with the command that repeats it.

use std::fmt;
use std::time::Duration;

/// Why an input is a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The target panicked: with this message, at this place.
    Panic(String),
    /// The target needed this much time of the processor, the least of several times.
    Slow(Duration),
    /// The target did not return.
    Hang,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub target: &'static str,
    pub kind: FindingKind,
    pub input: Vec<u8>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, kind, input } = self;
        match kind {
            FindingKind::Panic(message) => writeln!(f, "{target}: {message}")?,
            FindingKind::Slow(span) => writeln!(f, "{target}: an input took {} ms", span.as_millis())?,
            FindingKind::Hang => writeln!(f, "{target}: an input does not end")?,
        }
        writeln!(f, "  input:  b\"{}\"", input.escape_ascii())?;
        write!(f, "  repeat: aldaba-fuzz-drive --target {target} --input {}", encode_input(input))
    }
}

/// An input as hexadecimal digits.
pub fn encode_input(input: &[u8]) -> String {
    domain::secret::hex(input)
}

/// The input that [`encode_input`] wrote.
pub fn decode_input(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pairs = digits.chunks_exact(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
    pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}
