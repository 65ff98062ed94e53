//! Invariants of the JSON reader, checked against `serde_json`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::json::{DEPTH_MAX, Object, canonical};

/// The longest output for an input byte: the two bytes `\b` become the six bytes `\u0008`.
const GROWTH_MAX: usize = 3;

/// Parses any bytes as a JSON object. An error names a column within the text. `serde_json` accepts every accepted text
/// with the same value; the output is compact, within the limits, and parses to itself; `canonical` is stable and
/// independent of the order of members.
pub fn json(data: &[u8]) -> u64 {
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    match Object::parse(data) {
        Ok(object) => {
            check_object(data, &object);
            object.members().count().min(8) as u64
        }
        Err(error) => {
            assert!((1..=data.len() + 1).contains(&error.column), "{error} of {data:?}");
            assert!(!error.reason.is_empty());
            super::signature(&error.to_string())
        }
    }
}

fn check_object(data: &[u8], object: &Object) {
    let text = object.text();
    let tree = Tree::of_bytes(data);
    assert_eq!(tree, Tree::of(text), "{text}");
    assert!(tree.depth() <= DEPTH_MAX, "{text}");
    assert!(!tree.has_nul(), "{text}");
    assert!(text.len() <= GROWTH_MAX * data.len(), "{text}");
    assert!(text.bytes().all(|byte| byte >= 0x20), "{text}");
    assert_eq!(Object::parse(text.as_bytes()).as_ref(), Ok(object), "{text}");
    check_members(object, &tree);
    check_canonical(object, &tree);
}

fn check_members(object: &Object, tree: &Tree) {
    let Tree::Object(expected) = tree else { panic!("{} is not an object", object.text()) };
    let names: BTreeSet<&str> = object.members().map(|(name, _)| name).collect();
    assert_eq!(names.len(), object.members().count(), "{} has duplicate members", object.text());
    assert!(names.into_iter().eq(expected.keys().map(String::as_str)), "{}", object.text());
    assert_eq!(object.is_empty(), expected.is_empty());
    for (name, value) in object.members() {
        assert_eq!(object.get(name), Some(value));
        assert_eq!(Some(&Tree::of(value)), expected.get(name), "{name} of {}", object.text());
    }
}

fn check_canonical(object: &Object, tree: &Tree) {
    let sorted = canonical(object.text());
    assert_eq!(&Tree::of(&sorted), tree, "{sorted}");
    assert_eq!(canonical(&sorted), sorted);
    let mut members: Vec<String> = object.members().map(|(name, value)| member(name, value)).collect();
    members.reverse();
    assert_eq!(canonical(&format!("{{{}}}", members.join(","))), sorted);
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", serde_json::Value::from(name))
}

/// A JSON value as `serde_json` understands it, with numbers as text: not every number fits a machine type.
#[derive(Debug, PartialEq, Eq)]
enum Tree {
    Object(BTreeMap<String, Self>),
    Array(Vec<Self>),
    String(String),
    /// A number, `true`, `false` or `null`.
    Scalar(String),
}

impl Tree {
    fn of_bytes(data: &[u8]) -> Self {
        let raw: &RawValue = serde_json::from_slice(data)
            .unwrap_or_else(|error| panic!("serde_json refuses it: {error}: {data:?}"));
        Self::of(raw.get())
    }

    fn of(text: &str) -> Self {
        let refused = |error: serde_json::Error| -> ! { panic!("serde_json refuses it: {error}: {text}") };
        match text.trim_start().as_bytes().first() {
            Some(b'{') => {
                let members: BTreeMap<String, &RawValue> =
                    serde_json::from_str(text).unwrap_or_else(|error| refused(error));
                Self::Object(members.into_iter().map(|(name, raw)| (name, Self::of(raw.get()))).collect())
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_else(|error| refused(error));
                Self::Array(items.into_iter().map(|raw| Self::of(raw.get())).collect())
            }
            Some(b'"') => Self::String(serde_json::from_str(text).unwrap_or_else(|error| refused(error))),
            _ => {
                let raw: &RawValue = serde_json::from_str(text).unwrap_or_else(|error| refused(error));
                Self::Scalar(raw.get().to_owned())
            }
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::Object(members) => 1 + members.values().map(Self::depth).max().unwrap_or(0),
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::String(_) | Self::Scalar(_) => 0,
        }
    }

    fn has_nul(&self) -> bool {
        match self {
            Self::Object(members) => {
                members.iter().any(|(name, value)| name.contains('\0') || value.has_nul())
            }
            Self::Array(items) => items.iter().any(Self::has_nul),
            Self::String(text) => text.contains('\0'),
            Self::Scalar(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seeds_hold() {
        super::super::check_seeds("json", json);
    }

    /// JSON texts with whitespace, all kinds of escapes and numbers, and sometimes duplicate members.
    fn document() -> impl Strategy<Value = String> {
        let string = r#""([a-zñ{}\[\],: ]|\\["\\/bfnrt]|\\u00[0-7][0-9a-f]|\\ud83d\\ude0[0-9a-f]){0,6}""#;
        let leaf = prop_oneof![
            string,
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
            "true|false|null",
        ];
        let value = leaf.prop_recursive(5, 60, 15, move |inner| {
            let member = (string, "[ \t\n]?:[ \r]?", inner.clone())
                .prop_map(|(name, colon, value)| format!("{name}{colon}{value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec(member, 0..15)
                    .prop_map(|members| format!("{{{}}}", members.join(", "))),
            ]
        });
        (value, 0_usize..70)
            .prop_map(|(value, depth)| format!("{{\"\":{}{value}{}}}", "[".repeat(depth), "]".repeat(depth)))
    }

    proptest! {
        #[test]
        fn json_holds_for_any_bytes(data in prop::collection::vec(any::<u8>(), 0..200)) {
            json(&data);
        }

        #[test]
        fn json_holds_for_any_tokens(text in "([{}\\[\\],:]|\"a\"|\"\\\\u0062\"|\"b\"|1e9|-0|null|\\\\| ){0,30}") {
            json(text.as_bytes());
        }

        #[test]
        fn json_holds_for_any_document(text in document()) {
            json(text.as_bytes());
        }

        #[test]
        fn json_holds_after_replacing_a_byte(text in document(), at in any::<usize>(), byte in any::<u8>()) {
            let mut data = text.into_bytes();
            let at = at % data.len();
            data[at] = byte;
            json(&data);
        }
    }
}
