//! Invariants of the body splitter for any input. The fuzz target and the property tests call the same entry.

use serde_json::Value;

use crate::ingest::body_splitter::{BodySplitter, ITEM_BYTES_MAX, Item, SplitFault};

/// A small limit, so that short inputs reach it.
const SMALL_ITEM_BYTES_MAX: usize = 40;

/// An item, with its number.
#[derive(Debug, PartialEq, Eq)]
enum Split {
    Text(u64, Vec<u8>),
    TooLong(u64),
    Unfinished(u64),
}

/// Any bytes as a body in pieces. The first line says how to cut: every byte is the length of a piece, in turn; a `j` in
/// front declares the body as JSON. The rest is the body, without one newline at its end. However it is cut, the same
/// items come out, each within the limit, and the splitter holds no more than the limit allows.
pub fn body_splitter(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    let (cuts, body) = data.split_at(data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len()));
    let body = body.strip_prefix(b"\n").unwrap_or(body);
    let (is_json, cuts) = cuts.strip_prefix(b"j").map_or((false, cuts), |cuts| (true, cuts));
    let mut outcome = u64::from(is_json);
    for item_bytes_max in [SMALL_ITEM_BYTES_MAX, ITEM_BYTES_MAX] {
        let whole = split(&[body], is_json, item_bytes_max);
        assert_eq!(split(&pieces(body, cuts), is_json, item_bytes_max), whole, "cut by {cuts:?}");
        assert_eq!(split(&pieces(body, &[1]), is_json, item_bytes_max), whole, "cut into bytes");
        check_items(&whole.0, item_bytes_max);
        let start = body.trim_ascii_start();
        if start.starts_with(b"[") {
            check_array(body, &whole, item_bytes_max);
        } else if !is_json && start.first().is_some_and(u8::is_ascii) {
            assert_eq!(whole, (lines(body, item_bytes_max), None));
        }
        let kinds = whole.0.iter().fold(0_u64, |kinds, item| {
            kinds
                | match item {
                    Split::Text(..) => 1,
                    Split::TooLong(_) => 2,
                    Split::Unfinished(_) => 4,
                }
        });
        outcome =
            outcome << 12 | kinds << 8 | (whole.0.len().min(15) as u64) << 4 | u64::from(whole.1.is_some());
    }
    outcome
}

fn pieces<'a>(mut body: &'a [u8], cuts: &[u8]) -> Vec<&'a [u8]> {
    let lengths = cuts.iter().map(|cut| usize::from(*cut)).filter(|length| *length > 0).collect::<Vec<_>>();
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if body.is_empty() {
            break;
        }
        let (piece, rest) = body.split_at((*length).min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces.push(body);
    pieces
}

fn split(pieces: &[&[u8]], is_json: bool, item_bytes_max: usize) -> (Vec<Split>, Option<SplitFault>) {
    let mut splitter = BodySplitter::with_item_bytes_max(is_json, item_bytes_max);
    let mut items = Vec::new();
    let mut emit = |item: Item<'_>| {
        items.push(match item {
            Item::Text(number, text) => Split::Text(number, text.to_vec()),
            Item::TooLong(number) => Split::TooLong(number),
            Item::Unfinished(number) => Split::Unfinished(number),
        });
    };
    for piece in pieces {
        if let Err(fault) = splitter.feed(piece, &mut emit) {
            return (items, Some(fault));
        }
        // A vector that grows doubles at most.
        assert!(splitter.bytes_held() <= 2 * item_bytes_max, "{} bytes held", splitter.bytes_held());
    }
    splitter.end(&mut emit);
    (items, None)
}

/// Items are numbered in order, trimmed, not empty and within the limit; only the last one can be unfinished.
fn check_items(items: &[Split], item_bytes_max: usize) {
    let mut last = 0;
    for (at, item) in items.iter().enumerate() {
        let number = match item {
            Split::Text(number, text) => {
                assert!(!text.is_empty() && text.trim_ascii() == text && text.len() <= item_bytes_max);
                *number
            }
            Split::TooLong(number) => *number,
            Split::Unfinished(number) => {
                assert_eq!(at + 1, items.len());
                *number
            }
        };
        assert!(number > last, "{items:?}");
        last = number;
    }
}

/// The lines of NDJSON, in the plainest way.
fn lines(body: &[u8], item_bytes_max: usize) -> Vec<Split> {
    // Blank lines before the first item are not measured.
    let mut has_begun = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(body.split(|byte| *byte == b'\n')) {
        let measured = if has_begun { line } else { line.trim_ascii_start() };
        has_begun |= !line.trim_ascii().is_empty();
        if measured.len() > item_bytes_max {
            lines.push(Split::TooLong(number));
        } else if !line.trim_ascii().is_empty() {
            lines.push(Split::Text(number, line.trim_ascii().to_vec()));
        }
    }
    lines
}

/// A body that is a JSON array splits into the array's items.
fn check_array(body: &[u8], whole: &(Vec<Split>, Option<SplitFault>), item_bytes_max: usize) {
    let Ok(Value::Array(values)) = serde_json::from_slice(body) else { return };
    assert_eq!((whole.0.len(), whole.1), (values.len(), None));
    for ((number, value), item) in (1..).zip(values).zip(&whole.0) {
        match item {
            Split::Text(of_item, text) => {
                assert_eq!(*of_item, number);
                assert_eq!(serde_json::from_slice::<Value>(text).ok(), Some(value));
            }
            Split::TooLong(of_item) => {
                assert_eq!(*of_item, number);
                assert!(body.len() > item_bytes_max);
            }
            Split::Unfinished(_) => panic!("a whole array has no unfinished item"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seeds_hold() {
        let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/body_splitter");
        let files: Vec<_> = std::fs::read_dir(seeds).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!files.is_empty(), "{seeds} is empty");
        for file in files {
            body_splitter(&std::fs::read(file).unwrap());
        }
    }

    proptest! {
        #[test]
        fn any_body(data in vec(any::<u8>(), 0..300)) {
            body_splitter(&data);
        }

        #[test]
        fn any_lines(text in "j?[\u{1}-\u{9}]{0,4}\n(( |\t|\r|\n|\\{\"a\": ?(1|\"x{0,50}\"|\\[\\])\\}){0,3}\n){0,6}") {
            body_splitter(text.as_bytes());
        }

        #[test]
        fn any_array(text in "j?[\u{1}-\u{9}]{0,4}\n[ \n]{0,2}\\[(( |\n)?(1|null|\"[a,\\]ñ]{0,4}(\\\\\")?x{0,45}\"|\\{\"a\":\\[1,\"\\}\"\\]\\}|\\[\\[\\]\\])( |,|,,|\n,)){0,6}\\]?[ x]?") {
            body_splitter(text.as_bytes());
        }
    }
}
