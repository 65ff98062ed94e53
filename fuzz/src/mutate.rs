//! Makes hostile inputs from seeds: changes of bytes, of fields between delimiters, of nesting, of numbers and of encodings.

use crate::dictionary::{delimiters, tokens};
use crate::rng::Rng;
use crate::{Shape, Target};

/// How deep an input is nested at once.
const NESTINGS: [usize; 6] = [1, 2, 16, 63, 64, 130];
/// Values of every type.
const JSON_VALUES: &[&str] =
    &["null", "true", "false", "0", "-1", "1.5", "1e400", "\"\"", "\"a\"", "[]", "[null]", "{}"];
/// Bytes of a run that is removed, repeated or copied.
const RUN_BYTES_MAX: usize = 64;

/// Makes the inputs of one target.
#[derive(Debug)]
pub(crate) struct Mutator {
    shape: Shape,
    bytes_max: usize,
    tokens: Vec<&'static [u8]>,
}

impl Mutator {
    pub(crate) fn new(target: &Target) -> Self {
        let mut tokens = tokens(target.shape);
        // The target's own words most of all.
        for _ in 0..4 {
            tokens.extend(target.dictionary.iter().map(|word| word.as_bytes()));
        }
        Self { shape: target.shape, bytes_max: target.bytes_max, tokens }
    }

    /// An input from one of the corpus.
    pub(crate) fn mutate(&self, corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
        let from_corpus =
            |rng: &mut Rng| corpus.get(rng.below(corpus.len())).map(Vec::as_slice).unwrap_or_default();
        let mut input = from_corpus(rng).to_vec();
        if rng.once_in(8) {
            splice(&mut input, from_corpus(rng), rng);
        }
        let mut rounds = 1;
        while rounds < 16 && rng.once_in(2) {
            rounds += 1;
        }
        for _ in 0..rounds {
            self.change(&mut input, rng);
        }
        input.truncate(self.bytes_max);
        input
    }

    fn change(&self, input: &mut Vec<u8>, rng: &mut Rng) {
        let at = rng.below(input.len() + 1);
        match rng.below(16) {
            0 => flip(input, at, rng),
            1 => replace(input, at..at + 1, &[rng.byte()]),
            2 => {
                let byte = rng.byte();
                insert(input, at, &[byte]);
            }
            3 => {
                let end = at + 1 + rng.below(RUN_BYTES_MAX);
                replace(input, at..end, &[]);
            }
            4 => repeat(input, at, rng),
            5 | 6 => insert(input, at, rng.pick(&self.tokens)),
            7 => {
                let token = rng.pick(&self.tokens);
                replace(input, at..at + token.len(), token);
            }
            10 => change_number(input, at, rng),
            11 => self.nest(input, at, rng),
            12 => encode(input, at, rng),
            13 | 14 if self.shape == Shape::Json => self.change_member(input, at, rng),
            8 | 9 | 13 | 14 => self.change_field(input, at, rng),
            _ => change_case(input, at, rng),
        }
    }

    /// The field around a position, without its delimiters.
    fn field(&self, input: &[u8], at: usize) -> std::ops::Range<usize> {
        let is_delimiter = |byte: &u8| delimiters(self.shape).contains(byte);
        let (before, after) = input.split_at(at.min(input.len()));
        let start = before.iter().rposition(is_delimiter).map_or(0, |last| last + 1);
        start..before.len() + after.iter().position(is_delimiter).unwrap_or(after.len())
    }

    /// Empties a field, replaces it by a token or by another field, or repeats it with its delimiter.
    fn change_field(&self, input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
        let field = self.field(input, at);
        let text = input.get(field.clone()).unwrap_or_default().to_vec();
        match rng.below(4) {
            0 => replace(input, field, &[]),
            1 => replace(input, field, rng.pick(&self.tokens)),
            2 => {
                let other = self.field(input, rng.below(input.len() + 1));
                let other = input.get(other).unwrap_or_default().to_vec();
                replace(input, field, &other);
            }
            _ => {
                let delimiter = rng.pick(delimiters(self.shape));
                let copies = rng.pick(&[1, 1, 2, 40, 120]);
                let mut more = Vec::new();
                for _ in 0..copies {
                    more.push(delimiter);
                    more.extend_from_slice(&text);
                }
                insert(input, field.end, &more);
            }
        }
    }

    /// Gives the next member of a JSON object another value, or adds one in front of it.
    fn change_member(&self, input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
        let rest = input.get(at..).unwrap_or_default();
        let Some(colon) = rest.iter().position(|byte| *byte == b':') else { return };
        let value = rng.pick(JSON_VALUES);
        if rng.once_in(3) {
            let name = rng.pick(&self.tokens).escape_ascii().to_string();
            let start = self.field(input, at + colon).start;
            return insert(input, start, format!("\"{name}\":{value},").as_bytes());
        }
        let field = self.field(input, at + colon + 1);
        replace(input, field, value.as_bytes());
    }

    /// Wraps a field into arrays, objects, quotes or brackets.
    fn nest(&self, input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
        let field = self.field(input, at);
        let depth = rng.pick(&NESTINGS);
        let (open, close): (&[u8], &[u8]) = match (self.shape, rng.below(3)) {
            (Shape::Json, 0) => (b"{\"a\":", b"}"),
            (Shape::Json, 1) => (b"[", b"]"),
            (Shape::Json, _) => (b"\"", b"\""),
            (Shape::Binary, 0) => (&[0x81], &[]),
            (Shape::Binary, _) => (&[0xa1, 0x01], &[]),
            (_, 0) => (b"(", b")"),
            (_, 1) => (b"\"", b"\""),
            _ => (b"[", b"]"),
        };
        insert(input, field.end, &close.repeat(depth));
        insert(input, field.start, &open.repeat(depth));
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    replace(input, at..at, bytes);
}

fn replace(input: &mut Vec<u8>, range: std::ops::Range<usize>, bytes: &[u8]) {
    let (start, end) = (range.start.min(input.len()), range.end.min(input.len()));
    input.splice(start..end.max(start), bytes.iter().copied());
}

fn flip(input: &mut [u8], at: usize, rng: &mut Rng) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

/// Copies a run of bytes to another place.
fn repeat(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let end = (at + 1 + rng.below(RUN_BYTES_MAX)).min(input.len());
    let run = input.get(at..end).unwrap_or_default().to_vec();
    let to = rng.below(input.len() + 1);
    insert(input, to, &run);
}

/// Joins the start of the input with the end of another one.
fn splice(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    input.truncate(rng.below(input.len() + 1));
    input.extend_from_slice(other.get(rng.below(other.len() + 1)..).unwrap_or_default());
}

/// Replaces the run of digits after a position by a number at a limit, or by one beside it.
fn change_number(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let rest = input.get(at..).unwrap_or_default();
    let Some(start) = rest.iter().position(u8::is_ascii_digit) else { return };
    let digits = rest.get(start..).unwrap_or_default();
    let length = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits.get(..length).and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
    let number = match rng.below(4) {
        0 => value.unwrap_or(0).wrapping_add(1).to_string(),
        1 => value.unwrap_or(0).wrapping_sub(1).to_string(),
        2 => (1_u64 << rng.below(64)).to_string(),
        _ => "9".repeat(rng.pick(&[1, 4, 9, 10, 19, 20, 40])),
    };
    replace(input, at + start..at + start + length, number.as_bytes());
}

/// Writes a byte as a percent escape, as a JSON escape or as two bytes (overlong), or decodes an escape.
fn encode(input: &mut Vec<u8>, at: usize, rng: &mut Rng) {
    let Some(byte) = input.get(at).copied() else { return };
    let text = match rng.below(5) {
        0 => format!("%{byte:02X}").into_bytes(),
        1 => format!("%25{byte:02x}").into_bytes(),
        2 => format!("\\u{:04x}", u32::from(byte)).into_bytes(),
        3 => vec![0xc0 | byte >> 6, 0x80 | byte & 0x3f],
        _ => format!("&#{byte};").into_bytes(),
    };
    replace(input, at..at + 1, &text);
}

fn change_case(input: &mut [u8], at: usize, rng: &mut Rng) {
    let end = (at + 1 + rng.below(8)).min(input.len());
    for byte in input.get_mut(at..end).unwrap_or_default() {
        if byte.is_ascii_alphabetic() {
            *byte ^= 0x20;
        }
    }
}
