//! Which texts the JSON reader accepts, what it writes, and its error messages.

use proptest::prelude::*;

use super::*;

fn compact(text: &str) -> String {
    Object::parse(text.as_bytes()).unwrap().text().to_owned()
}

fn refused(text: &str) -> String {
    Object::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn whitespace_is_removed_and_numbers_are_preserved() {
    assert_eq!(
        compact(" { \"a\" : [ 1.10 , -0 , 1e400 ] ,\r\n\t\"b\":{ } } "),
        r#"{"a":[1.10,-0,1e400],"b":{}}"#
    );
    assert_eq!(compact(r#"{"a":12345678901234567890.12}"#), r#"{"a":12345678901234567890.12}"#);
}

#[test]
fn strings_are_escaped_uniformly() {
    assert_eq!(compact(r#"{"\u00f1":"\u00e9\/\ud83d\ude00\u0001\n"}"#), "{\"ñ\":\"é/😀\\u0001\\n\"}");
}

#[test]
fn members_are_found_by_name() {
    let object = Object::parse(br#"{"a":{"b":1},"c":"x"}"#).unwrap();
    assert_eq!(object.get("a"), Some(r#"{"b":1}"#));
    assert_eq!(object.get("c"), Some(r#""x""#));
    assert_eq!(object.get("b"), None);
    assert_eq!(object.members().count(), 2);
}

#[test]
fn escaped_name_is_found_by_its_unescaped_form() {
    let object = Object::parse(br#"{"a\nb":1,"\u00f1":2,"c\/d":3}"#).unwrap();
    assert_eq!(object.members().collect::<Vec<_>>(), [("a\nb", "1"), ("ñ", "2"), ("c/d", "3")]);
}

#[test]
fn errors_name_the_reason_and_the_column() {
    assert_eq!(refused("[]"), "expected a JSON object at column 1");
    assert_eq!(refused(r#"{"a":1,"a":2}"#), "the member \"a\" appears twice at column 8");
    assert_eq!(refused(r#"{"a":{"b":1,"\u0062":2}}"#), "the member \"b\" appears twice at column 13");
    assert_eq!(refused(r#"{"a":1"#), "expected a comma or a closing brace but the text ends at column 7");
    assert_eq!(refused(r#"{"a":1} x"#), "expected the end of the text after the object at column 9");
    assert_eq!(refused("{\"a\":\"x\0\"}"), "a NUL byte is not allowed at column 8");
    assert_eq!(refused(r#"{"a":"\u0000"}"#), "a NUL character is not allowed at column 13");
    assert_eq!(refused(r#"{"a":"\ud800"}"#), "unpaired surrogate at column 13");
    assert_eq!(refused(r#"{"a":01}"#), "invalid number at column 7");
    assert_eq!(refused(r#"{"a":tru}"#), "expected a JSON value at column 6");
    assert_eq!(refused(r#"{"a":"x"#), "a string has no closing quote at column 6");
    assert!(Object::parse(b"{\"a\":\"\xff\"}").unwrap_err().reason.contains("UTF-8"));
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert!(Object::parse(nested(DEPTH_MAX - 1).as_bytes()).is_ok());
    assert!(refused(&nested(10_000)).starts_with("nested deeper than 64 levels"));
}

#[test]
fn duplicates_are_found_among_many_members() {
    let mut text = String::from("{");
    for number in 0..100 {
        let _ = write!(text, "\"m{number}\":1,");
    }
    text.push_str("\"m50\":2}");
    assert!(refused(&text).contains("\"m50\" appears twice"));
}

#[test]
fn canonical_sorts_members_and_keeps_the_order_of_items() {
    assert_eq!(canonical(r#"{"b":[{"d":1,"c":2}],"a":1.0}"#), r#"{"a":1.0,"b":[{"c":2,"d":1}]}"#);
    assert_ne!(canonical(r#"{"a":[1,2]}"#), canonical(r#"{"a":[2,1]}"#));
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "[^\u{0}]{0,12}".prop_map(serde_json::Value::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::Array),
            prop::collection::btree_map("[^\u{0}]{0,6}", inner, 0..5)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_values(value in any_json()) {
        let text = serde_json::json!({ "value": value }).to_string();
        let object = Object::parse(text.as_bytes()).unwrap();
        let reparsed: serde_json::Value = serde_json::from_str(object.text()).unwrap();
        prop_assert_eq!(&reparsed["value"], &value);
        prop_assert_eq!(compact(object.text()), object.text());
        prop_assert_eq!(canonical(&canonical(object.text())), canonical(object.text()));
    }

    #[test]
    fn accepts_nothing_that_serde_json_refuses(text in "[{}\\[\\]\",:0-9a-z.\\\\ -]{0,40}") {
        if Object::parse(text.as_bytes()).is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Object::parse(&bytes);
    }
}
