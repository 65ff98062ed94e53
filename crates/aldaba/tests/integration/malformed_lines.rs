//! Malformed lines get a precise error; the lines around them are applied and the server stays healthy.

use crate::harness::{IngestClient, Server, bank, ndjson, shared_server};

const MIB: usize = 1024 * 1024;

/// Sends a malformed line between two new valid ones, so that the log's head shows that both were applied.
struct LineChecker {
    server: &'static Server,
    ingest: IngestClient,
    sent: u64,
}

impl LineChecker {
    fn new() -> Self {
        Self { server: shared_server(), ingest: shared_server().ingest_for_new_tenant(), sent: 0 }
    }

    #[track_caller]
    fn expect_rejected(&mut self, bad: &[u8], code: &str, message: &str) {
        let [before, after] =
            [self.sent + 1, self.sent + 2].map(|number| ndjson(&[bank(&number.to_string(), "a")]));
        self.sent += 2;
        let body = [before.as_bytes(), bad, b"\n", after.as_bytes()].concat();
        let excerpt = String::from_utf8_lossy(&bad[..bad.len().min(80)]).into_owned();
        let answer = self.ingest.send(body);
        let error = answer.only_error();
        assert_eq!(
            (error.line, error.code.as_str(), error.message.as_str()),
            (2, code, message),
            "{excerpt}"
        );
        assert_eq!((answer.accepted, answer.head()), (2, self.sent), "{excerpt}: the valid lines are stored");
        self.server.assert_healthy();
    }
}

/// A bank whose name is inserted as raw JSON.
fn bank_named(json: &[u8]) -> Vec<u8> {
    let head =
        br#"{"area":"invoicing","resource":"Bank","action":"upsert","correlationId":"bad","data":{"name":"#;
    [head, json, b"}}"].concat()
}

#[test]
fn invalid_json_is_rejected() {
    let mut lines = LineChecker::new();
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
        lines.expect_rejected(bad.as_bytes(), "invalid_json", message);
    }
}

#[test]
fn nul_bytes_are_rejected_raw_and_escaped() {
    let mut lines = LineChecker::new();
    lines.expect_rejected(b"\0", "invalid_json", "expected a JSON object at column 1");
    lines.expect_rejected(&bank_named(b"\"a\0b\""), "invalid_json", "a NUL byte is not allowed at column 96");
    lines.expect_rejected(
        &bank_named(b"\"a\\u0000b\""),
        "invalid_json",
        "a NUL character is not allowed at column 102",
    );
    lines.expect_rejected(&[0; 4096], "invalid_json", "expected a JSON object at column 1");
}

#[test]
fn invalid_utf_8_is_rejected() {
    let mut lines = LineChecker::new();
    for bad in [&b"\"\xff\""[..], b"\"\xc3(\"", b"\"\xed\xa0\x80\"", b"\"\xf8\x88\x80\x80\x80\""] {
        lines.expect_rejected(&bank_named(bad), "invalid_json", "the text is not UTF-8 at column 95");
    }
    lines.expect_rejected(b"\xff\xfe\x00", "invalid_json", "the text is not UTF-8 at column 1");
}

#[test]
fn deep_nesting_is_rejected() {
    let mut lines = LineChecker::new();
    let too_deep = "nested deeper than 64 levels at column 156";
    let (arrays, objects) =
        ("[".repeat(10_000) + &"]".repeat(10_000), "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000));
    lines.expect_rejected(&bank_named(arrays.as_bytes()), "invalid_json", too_deep);
    lines.expect_rejected(&bank_named("[".repeat(10_000).as_bytes()), "invalid_json", too_deep);
    lines.expect_rejected(
        &bank_named(objects.as_bytes()),
        "invalid_json",
        "nested deeper than 64 levels at column 404",
    );
    lines.expect_rejected(arrays.as_bytes(), "invalid_json", "expected a JSON object at column 1");
}

#[test]
fn duplicate_members_are_rejected() {
    let mut lines = LineChecker::new();
    lines.expect_rejected(
        &bank_named(br#""a","name":"b""#),
        "invalid_json",
        "the member \"name\" appears twice at column 98",
    );
    lines.expect_rejected(
        br#"{"area":"core","area":"invoicing"}"#,
        "invalid_json",
        "the member \"area\" appears twice at column 16",
    );
    lines.expect_rejected(
        &bank_named(br#"{"x":[{"y":1,"\u0079":2}]}"#),
        "invalid_json",
        "the member \"y\" appears twice at column 107",
    );
}

#[test]
fn line_over_one_mebibyte_is_rejected() {
    let mut lines = LineChecker::new();
    let message = "a change may have 1048576 bytes at most; this one was passed over";
    let long = bank_named(format!("\"{}\"", "x".repeat(MIB)).as_bytes());
    lines.expect_rejected(&long, "line_too_long", message);
    lines.expect_rejected(&vec![b'x'; 3 * MIB], "line_too_long", message);
    let frame = bank_named(b"\"\"").len();
    let fits = bank_named(format!("\"{}\"", "x".repeat(MIB - frame)).as_bytes());
    assert_eq!(fits.len(), MIB);
    let answer = lines.ingest.send([&fits[..], b"\n"].concat());
    assert_eq!(answer.counts(), (1, 0), "a line of exactly the maximum length is accepted");
}

#[test]
fn ten_megabytes_without_a_newline_are_rejected() {
    let ingest = shared_server().ingest_for_new_tenant();
    ingest.send_lines(&[bank("1", "a")]);
    let answer = ingest.send(vec![b'{'; 10_000_000]);
    assert_eq!((answer.only_error().line, answer.only_error().code.as_str()), (1, "line_too_long"));
    assert_eq!((answer.accepted, answer.head()), (0, 1));
    shared_server().assert_healthy();
}

#[test]
fn unterminated_array_is_rejected() {
    for (at, body) in ["[", "[{},", "[{", "[{\"a\":\"]", "[\"x"].into_iter().enumerate() {
        let ingest = shared_server().ingest_for_new_tenant();
        let good = bank("1", "a").to_string();
        let answer = ingest.send(body.replacen('[', &format!("[{good},"), 1));
        let last = answer.errors.last().unwrap();
        assert_eq!(last.code, "unfinished", "{body}");
        assert_eq!(last.message, "the body ends before the JSON array does");
        assert_eq!((answer.accepted, answer.head()), (1, 1), "{body}");
        assert_eq!(last.line, if at == 1 { 3 } else { 2 }, "{body}");
    }
    shared_server().assert_healthy();
}

#[test]
fn broken_array_keeps_the_items_before_the_error() {
    let good = |number: u64| bank(&number.to_string(), "a").to_string();
    for (broken, reason) in [
        ("] x", "there is text after the end of the JSON array"),
        ("][]", "there is text after the end of the JSON array"),
        (",,{}]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
        (",]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
        (" {}]", "the JSON array is broken before item 3: one comma between two items, none after the last"),
    ] {
        let ingest = shared_server().ingest_for_new_tenant();
        let body = format!("[{},{}{broken}", good(1), good(2));
        let refused = ingest.request().body(body.clone()).send();
        let message = refused.problem(400);
        assert_eq!(refused.problem_code(), "not_changes");
        let stays = "2 accepted and 0 rejected before stay as they are (lastSequenceVersion 2).";
        assert_eq!(message, format!("The body cannot be read on: {reason}. {stays}"), "{body}");
        assert_eq!(ingest.head(), 2, "the counted lines are stored");
    }
    shared_server().assert_healthy();
}

#[test]
fn broken_long_array_counts_the_items_in_progress() {
    let ingest = shared_server().ingest_for_new_tenant();
    let items: Vec<String> = (0..3210).map(|number| bank(&format!("b{number}"), "a").to_string()).collect();
    let refused = ingest.request().body(format!("[{}] and more", items.join(","))).send();
    let message = refused.problem(400);
    assert!(message.contains("3210 accepted and 0 rejected before stay"), "{message}");
    assert_eq!(ingest.head(), 3210);
}
