//! The reader against the examples of RFC 8949, appendix A, and against every way in which input can be refused.

use super::encoder::encode;
use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn refusal(hex: &str) -> CborError {
    let bytes = bytes(hex);
    decode(&bytes).map(|value| format!("{value:?}")).unwrap_err()
}

#[test]
fn examples_of_the_rfc_are_read_and_written() {
    use Value::{Array, Bytes, Float, Map, Negative, Simple, Text, Unsigned};
    let examples = [
        ("00", Unsigned(0)),
        ("17", Unsigned(23)),
        ("1818", Unsigned(24)),
        ("1903e8", Unsigned(1000)),
        ("1a000f4240", Unsigned(1_000_000)),
        ("1b000000e8d4a51000", Unsigned(1_000_000_000_000)),
        ("1bffffffffffffffff", Unsigned(u64::MAX)),
        ("20", Negative(0)),
        ("3903e7", Negative(999)),
        ("3bffffffffffffffff", Negative(u64::MAX)),
        ("40", Bytes(&[])),
        ("4401020304", Bytes(&[1, 2, 3, 4])),
        ("60", Text("")),
        ("62c3bc", Text("ü")),
        ("83010203", Array(vec![Unsigned(1), Unsigned(2), Unsigned(3)])),
        ("a201020304", Map(vec![(Unsigned(1), Unsigned(2)), (Unsigned(3), Unsigned(4))])),
        ("a16161f5", Map(vec![(Text("a"), Simple(21))])),
        ("f6", Simple(22)),
        ("f8ff", Simple(255)),
        ("f93c00", Float(2, 0x3c00)),
        ("fa47c35000", Float(4, 0x47c3_5000)),
        ("fbc010666666666666", Float(8, 0xc010_6666_6666_6666)),
    ];
    for (hex, value) in examples {
        assert_eq!(decode(&bytes(hex)), Ok(value.clone()), "{hex}");
        assert_eq!(encode(&value), bytes(hex), "{hex}");
    }
}

#[test]
fn numbers_are_read_within_their_range() {
    for number in [0, 1, 23, 24, -1, -7, -257, i64::MAX, i64::MIN] {
        let encoded = encode(&Value::integer(number));
        assert_eq!(decode(&encoded).unwrap().as_integer(), Some(number));
    }
    assert_eq!(Value::Unsigned(u64::MAX).as_integer(), None);
    assert_eq!(Value::Negative(u64::MAX).as_integer(), None);
}

#[test]
fn members_are_found_by_text_and_by_label() {
    let encoded = bytes("a3016161206162616303");
    let map = decode(&encoded).unwrap();
    assert_eq!(map.label(1).and_then(Value::as_text), Some("a"));
    assert_eq!(map.label(-1).and_then(Value::as_text), Some("b"));
    assert_eq!(map.member("c").and_then(Value::as_integer), Some(3));
    assert_eq!((map.member("d"), map.label(2), Value::Unsigned(1).label(1)), (None, None, None));
}

#[test]
fn every_truncation_is_refused() {
    let whole = bytes("a301830102190100634142431a0001000044deadbeeff6f93c00");
    let whole = &whole[..];
    assert!(decode_first(whole).is_ok());
    let used = whole.len() - decode_first(whole).unwrap().1.len();
    for length in 0..used {
        assert_eq!(decode(&whole[..length]), Err(CborError::Truncated), "{length}");
    }
}

#[test]
fn declared_lengths_allocate_nothing() {
    for hex in ["5bffffffffffffffff", "7affffffff", "9bffffffffffffffff", "bbffffffffffffffff"] {
        assert_eq!(refusal(hex), CborError::Truncated, "{hex}");
    }
}

#[test]
fn trailing_bytes_are_refused_or_returned() {
    assert_eq!(refusal("0000"), CborError::TrailingBytes);
    assert_eq!(decode_first(&[0, 1, 2]), Ok((Value::Unsigned(0), &[1, 2][..])));
}

#[test]
fn indefinite_lengths_tags_and_reserved_forms_are_refused() {
    let unsupported = [
        "5f42010243030405ff", // a byte string in pieces
        "7f657374726561646d696e67ff",
        "9fff",
        "bfff",
        "c074323031332d30332d32315432303a30343a30305a", // a tag
        "ff",
        "1c",
        "3d",
        "5e",
        "fc",
        "f800", // a simple value in the longer form
        "f81f",
    ];
    for hex in unsupported {
        assert_eq!(refusal(hex), CborError::Unsupported, "{hex}");
    }
}

#[test]
fn texts_are_utf8_and_keys_occur_once() {
    assert_eq!(refusal("62c328"), CborError::NotUtf8);
    assert_eq!(refusal("a201020103"), CborError::DuplicateKey);
    // The same number in a longer form is the same key.
    assert_eq!(refusal("a20102180103"), CborError::DuplicateKey);
    assert_eq!(refusal("a2616101616102"), CborError::DuplicateKey);
}

#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| [vec![0x81; depth], vec![0]].concat();
    assert!(decode(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(decode(&nested(DEPTH_MAX + 1)), Err(CborError::TooDeep));
    assert_eq!(decode(&nested(100_000)), Err(CborError::TooDeep));
    let maps = |depth: usize| [[0xa1, 0].repeat(depth), vec![0]].concat();
    assert!(decode(&maps(DEPTH_MAX)).is_ok());
    assert_eq!(decode(&maps(DEPTH_MAX + 1)), Err(CborError::TooDeep));
}

#[test]
fn the_number_of_items_is_limited() {
    let array = |length: usize| encode(&Value::Array(vec![Value::Unsigned(0); length]));
    assert!(decode(&array(ITEMS_MAX - 1)).is_ok());
    assert_eq!(decode(&array(ITEMS_MAX)), Err(CborError::TooManyItems));
}
