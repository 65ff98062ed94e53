//! The items of a body do not depend on how the network cuts it into pieces.

use super::*;

/// The items of a body that arrives in pieces of `size` bytes.
fn body_splitter(body: &[u8], size: usize) -> (Vec<String>, Option<SplitFault>) {
    let mut splitter = BodySplitter::new(false);
    let mut items = Vec::new();
    let mut emit = |item: Item<'_>| {
        items.push(match item {
            Item::Text(number, text) => format!("{number}:{}", String::from_utf8_lossy(text)),
            Item::TooLong(number) => format!("{number} too long"),
            Item::Unfinished(number) => format!("{number} unfinished"),
        });
    };
    for piece in body.chunks(size) {
        if let Err(fault) = splitter.feed(piece, &mut emit) {
            return (items, Some(fault));
        }
    }
    splitter.end(&mut emit);
    (items, None)
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    for size in [1, 2, 3, 7, 1 << 20] {
        let (items, fault) = body_splitter(body.as_bytes(), size);
        assert_eq!(items, expected, "{body:?} in pieces of {size}");
        assert_eq!(fault, None);
    }
}

#[test]
fn blank_lines_are_counted() {
    check("{\"a\":1}\n\n {\"b\":2} \r\n{\"c\":3}", &["1:{\"a\":1}", "3:{\"b\":2}", "4:{\"c\":3}"]);
    check("\n\n{\"a\":1}\n", &["3:{\"a\":1}"]);
    check("", &[]);
    check("\u{feff}{\"a\":1}\n", &["1:{\"a\":1}"]);
}

#[test]
fn arrays_are_split_into_items() {
    check("[]", &[]);
    check(" [ ] \n", &[]);
    check(
        "[{\"a\":[1,{\"x\":\"]},{\\\"\"}]} , {\"b\":2}\n]",
        &["1:{\"a\":[1,{\"x\":\"]},{\\\"\"}]}", "2:{\"b\":2}"],
    );
    check("[1,\"x,]\",null , [2]]", &["1:1", "2:\"x,]\"", "3:null", "4:[2]"]);
}

#[test]
fn truncated_array_ends_in_an_unfinished_item() {
    check("[{\"a\":1},{\"b\":", &["1:{\"a\":1}", "2 unfinished"]);
    check("[{\"a\":1}", &["1:{\"a\":1}", "2 unfinished"]);
    check("[", &["1 unfinished"]);
}

#[test]
fn malformed_arrays_are_refused() {
    assert_eq!(body_splitter(b"[{}] x", 3).1, Some(SplitFault::AfterArray));
    assert_eq!(body_splitter(b"[{},,{}]", 3).1, Some(SplitFault::EmptyItem(2)));
    assert_eq!(body_splitter(b"[{},]", 3).1, Some(SplitFault::EmptyItem(2)));
    assert_eq!(body_splitter(b"[{}{}]", 3).1, Some(SplitFault::EmptyItem(2)));
}

#[test]
fn too_long_item_is_skipped_and_the_next_is_found() {
    let long = "x".repeat(ITEM_BYTES_MAX + 1);
    for size in [1000, 65_536, 4 << 20] {
        let lines = format!("{{\"a\":\"{long}\"}}\n{{\"b\":2}}\n");
        assert_eq!(body_splitter(lines.as_bytes(), size).0, ["1 too long", "2:{\"b\":2}"]);
        let array = format!("[{{\"a\":\"{long}\"}},{{\"b\":2}}]");
        assert_eq!(body_splitter(array.as_bytes(), size).0, ["1 too long", "2:{\"b\":2}"]);
    }
}

#[test]
fn deep_nesting_is_one_item() {
    let deep = format!("[{}{}]", "[".repeat(10_000), "]".repeat(10_000));
    let (items, fault) = body_splitter(deep.as_bytes(), 4096);
    assert_eq!((items.len(), fault), (1, None));
}
