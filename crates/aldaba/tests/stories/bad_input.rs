//! Bodies that are no changes: a clear error, the lines around them go on, and the program does not mind.

use crate::harness::{Door, Serve, bank, ndjson, shared};

const MIB: usize = 1024 * 1024;

/// Sends a bad line between two good ones and returns what is said about it. Each gets new good ones, so that the
/// log tells that both came in.
struct Between {
    serve: &'static Serve,
    door: Door,
    sent: u64,
}

impl Between {
    fn new() -> Self {
        Self { serve: shared(), door: shared().new_tenant(), sent: 0 }
    }

    #[track_caller]
    fn is_refused(&mut self, bad: &[u8], code: &str, message: &str) {
        let [before, after] =
            [self.sent + 1, self.sent + 2].map(|number| ndjson(&[bank(&number.to_string(), "a")]));
        self.sent += 2;
        let body = [before.as_bytes(), bad, b"\n", after.as_bytes()].concat();
        let shown = String::from_utf8_lossy(&bad[..bad.len().min(80)]).into_owned();
        let answer = self.door.send(body);
        let error = answer.only_error();
        assert_eq!((error.line, error.code.as_str(), error.message.as_str()), (2, code, message), "{shown}");
        assert_eq!((answer.accepted, answer.head()), (2, self.sent), "{shown}: the good lines are in");
        self.serve.is_well();
    }
}

/// A bank whose name is given as it is, quotes and all.
fn bank_named(json: &[u8]) -> Vec<u8> {
    let head =
        br#"{"area":"invoicing","resource":"Bank","action":"upsert","correlationId":"bad","data":{"name":"#;
    [head, json, b"}}"].concat()
}

#[test]
fn what_is_not_json() {
    let mut between = Between::new();
    for (bad, message) in [
        ("nothing", "expected a JSON object at column 1"),
        ("42", "expected a JSON object at column 1"),
        ("null", "expected a JSON object at column 1"),
        ("{", "expected a member's name in double quotes at column 2"),
        ("{}{}", "expected the end of the text after the object at column 3"),
        ("{'area':1}", "expected a member's name in double quotes at column 2"),
        ("{\"area\":\"core\",}", "expected a member's name in double quotes at column 16"),
        ("{\"area\":\"core", "a string has no closing quote at column 9"),
        ("{\"area\":01}", "invalid number at column 10"),
        ("{\"area\":NaN}", "expected a JSON value at column 9"),
        ("{\"area\":\"\\x\"}", "unknown escape in a string at column 11"),
        ("{\"area\":\"\\ud800\"}", "unpaired surrogate at column 16"),
    ] {
        between.is_refused(bad.as_bytes(), "invalid_json", message);
    }
}

#[test]
fn nul_bytes_raw_and_escaped() {
    let mut between = Between::new();
    between.is_refused(b"\0", "invalid_json", "expected a JSON object at column 1");
    between.is_refused(&bank_named(b"\"a\0b\""), "invalid_json", "a NUL byte is not allowed at column 96");
    between.is_refused(
        &bank_named(b"\"a\\u0000b\""),
        "invalid_json",
        "a NUL character is not allowed at column 102",
    );
    between.is_refused(&[0; 4096], "invalid_json", "expected a JSON object at column 1");
}

#[test]
fn text_that_is_not_utf_8() {
    let mut between = Between::new();
    for bad in [&b"\"\xff\""[..], b"\"\xc3(\"", b"\"\xed\xa0\x80\"", b"\"\xf8\x88\x80\x80\x80\""] {
        between.is_refused(&bank_named(bad), "invalid_json", "the text is not UTF-8 at column 95");
    }
    between.is_refused(b"\xff\xfe\x00", "invalid_json", "the text is not UTF-8 at column 1");
}

#[test]
fn ten_thousand_levels_of_nesting() {
    let mut between = Between::new();
    let too_deep = "nested deeper than 64 levels at column 156";
    let (arrays, objects) =
        ("[".repeat(10_000) + &"]".repeat(10_000), "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000));
    between.is_refused(&bank_named(arrays.as_bytes()), "invalid_json", too_deep);
    between.is_refused(&bank_named("[".repeat(10_000).as_bytes()), "invalid_json", too_deep);
    between.is_refused(
        &bank_named(objects.as_bytes()),
        "invalid_json",
        "nested deeper than 64 levels at column 404",
    );
    between.is_refused(arrays.as_bytes(), "invalid_json", "expected a JSON object at column 1");
}

#[test]
fn duplicate_members() {
    let mut between = Between::new();
    between.is_refused(
        &bank_named(br#""a","name":"b""#),
        "invalid_json",
        "the member \"name\" appears twice at column 98",
    );
    between.is_refused(
        br#"{"area":"core","area":"invoicing"}"#,
        "invalid_json",
        "the member \"area\" appears twice at column 16",
    );
    between.is_refused(
        &bank_named(br#"{"x":[{"y":1,"\u0079":2}]}"#),
        "invalid_json",
        "the member \"y\" appears twice at column 107",
    );
}

#[test]
fn a_line_over_one_mebibyte() {
    let mut between = Between::new();
    let message = "a change may have 1048576 bytes at most; this one was passed over";
    let long = bank_named(format!("\"{}\"", "x".repeat(MIB)).as_bytes());
    between.is_refused(&long, "line_too_long", message);
    between.is_refused(&vec![b'x'; 3 * MIB], "line_too_long", message);
    let frame = bank_named(b"\"\"").len();
    let fits = bank_named(format!("\"{}\"", "x".repeat(MIB - frame)).as_bytes());
    assert_eq!(fits.len(), MIB);
    let answer = between.door.send([&fits[..], b"\n"].concat());
    assert_eq!(answer.counts(), (1, 0), "one that just fits is taken");
}

#[test]
fn ten_megabytes_without_a_newline() {
    let door = shared().new_tenant();
    door.send_lines(&[bank("1", "a")]);
    let answer = door.send(vec![b'{'; 10_000_000]);
    assert_eq!((answer.only_error().line, answer.only_error().code.as_str()), (1, "line_too_long"));
    assert_eq!((answer.accepted, answer.head()), (0, 1));
    shared().is_well();
}

#[test]
fn an_array_without_its_end() {
    for (at, body) in ["[", "[{},", "[{", "[{\"a\":\"]", "[\"x"].into_iter().enumerate() {
        let door = shared().new_tenant();
        let good = bank("1", "a").to_string();
        let answer = door.send(body.replacen('[', &format!("[{good},"), 1));
        let last = answer.errors.last().unwrap();
        assert_eq!(last.code, "unfinished", "{body}");
        assert_eq!(last.message, "the body ends before the JSON array does");
        assert_eq!((answer.accepted, answer.head()), (1, 1), "{body}");
        assert_eq!(last.line, if at == 1 { 3 } else { 2 }, "{body}");
    }
    shared().is_well();
}

#[test]
fn an_array_that_cannot_be_read_on_keeps_what_came_before() {
    let good = |number: u64| bank(&number.to_string(), "a").to_string();
    for (broken, why) in [
        ("] x", "there is text after the end of the JSON array"),
        ("][]", "there is text after the end of the JSON array"),
        (",,{}]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
        (",]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
        (" {}]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
    ] {
        let door = shared().new_tenant();
        let body = format!("[{},{}{broken}", good(1), good(2));
        let refused = door.call().body(body.clone()).send();
        let message = refused.problem(400);
        assert_eq!(refused.problem_code(), "not_changes");
        let stays = "2 accepted and 0 rejected before stay as they are (lastSequenceVersion 2).";
        assert_eq!(message, format!("The body cannot be read on: {why}. {stays}"), "{body}");
        assert_eq!(door.head(), 2, "what was counted is there");
    }
    shared().is_well();
}

#[test]
fn a_long_array_that_cannot_be_read_on_counts_what_is_under_way() {
    let door = shared().new_tenant();
    let items: Vec<String> = (0..3210).map(|number| bank(&format!("b{number}"), "a").to_string()).collect();
    let refused = door.call().body(format!("[{}] and more", items.join(","))).send();
    let message = refused.problem(400);
    assert!(message.contains("3210 accepted and 0 rejected before stay"), "{message}");
    assert_eq!(door.head(), 3210);
}
