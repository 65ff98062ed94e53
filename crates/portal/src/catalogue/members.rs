//! A JSON Schema as a flat list of members, nested ones after the member that contains them.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// Schemas that are nested deeper are not listed.
const DEPTH_MAX: usize = 4;

/// A member of a body, or a header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Member {
    pub(crate) depth: usize,
    pub(crate) name: String,
    /// `string (uuid)`, `array of object`, in the words of JSON Schema.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) is_required: bool,
    /// In English.
    pub(crate) description: String,
    /// The only value that it has in an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    /// Its text is a JSON document, whose members follow.
    pub(crate) is_text_of_json: bool,
}

/// The value that a reference points to, or the value itself.
pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let place = value["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
    place.and_then(|place| document.pointer(place)).unwrap_or(value)
}

pub(super) fn of_schema(document: &Value, schema: &Value) -> Vec<Member> {
    let mut members = Vec::new();
    collect(document, &parts(document, &[schema]), 0, &mut members);
    members
}

/// The schemas that a value has to match together: `allOf` and references are followed.
fn parts<'a>(document: &'a Value, schemas: &[&'a Value]) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for schema in schemas {
        let schema = resolve(document, schema);
        match schema["allOf"].as_array() {
            Some(all) => found.extend(parts(document, &all.iter().collect::<Vec<_>>())),
            None => found.push(schema),
        }
    }
    found
}

fn collect(document: &Value, schemas: &[&Value], depth: usize, members: &mut Vec<Member>) {
    if depth >= DEPTH_MAX {
        return;
    }
    for name in names(schemas) {
        let of_member: Vec<&Value> =
            schemas.iter().map(|schema| &schema["properties"][name]).filter(|one| !one.is_null()).collect();
        let of_member = parts(document, &of_member);
        let first_text =
            |key: &str| of_member.iter().find_map(|schema| schema[key].as_str()).unwrap_or_default();
        let inner = of_member.iter().find_map(|schema| schema.get("contentSchema"));
        members.push(Member {
            depth,
            name: name.to_owned(),
            kind: kind(document, &of_member),
            is_required: schemas.iter().any(|schema| is_required(schema, name)),
            description: first_text("description").to_owned(),
            value: None,
            is_text_of_json: inner.is_some(),
        });
        let items = of_member.iter().find_map(|schema| schema.get("items"));
        match inner.or(items) {
            Some(nested) => collect(document, &parts(document, &[nested]), depth + 1, members),
            None => collect(document, &of_member, depth + 1, members),
        }
    }
}

/// The members in the order of the required ones; the document's objects have none of their own.
fn names<'a>(schemas: &[&'a Value]) -> Vec<&'a str> {
    let required = schemas.iter().flat_map(|schema| schema["required"].as_array().into_iter().flatten());
    let all = schemas.iter().flat_map(|schema| schema["properties"].as_object().into_iter().flatten());
    let mut names: Vec<&str> = Vec::new();
    for name in required.filter_map(Value::as_str).chain(all.map(|(name, _)| name.as_str())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
}

fn kind(document: &Value, schemas: &[&Value]) -> String {
    let text = |key: &str| schemas.iter().find_map(|schema| schema[key].as_str());
    let name = text("type").unwrap_or_default();
    if name == "array" {
        let items = schemas.iter().find_map(|schema| schema.get("items"));
        let items = items.map(|items| kind(document, &parts(document, &[items]))).unwrap_or_default();
        return format!("array of {items}");
    }
    match text("format") {
        Some(format) => format!("{name} ({format})"),
        None => name.to_owned(),
    }
}

/// JSON with indentation; members in the order of `members`, then the others. `depth` is that of the outermost ones.
pub(super) fn pretty(value: &Value, members: &[Member], depth: usize) -> String {
    let mut out = String::new();
    write_pretty(value, members, depth, 0, &mut out);
    out
}

fn write_pretty(value: &Value, known: &[Member], depth: usize, indent: usize, out: &mut String) {
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", indent));
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            let rank = |name: &str| {
                let place = known.iter().position(|one| one.depth == depth && one.name == name);
                place.unwrap_or(known.len())
            };
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(name, _)| rank(name));
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, indent + 1);
                let _ = write!(out, "{}: ", Value::from(name.as_str()));
                write_pretty(value, known, depth + 1, indent + 1, out);
            }
            line(out, indent);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, indent + 1);
                write_pretty(item, known, depth, indent + 1, out);
            }
            line(out, indent);
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pretty_keeps_the_order_of_each_level_and_the_value() {
        let member = |depth, name: &str| Member {
            depth,
            name: name.to_owned(),
            kind: String::new(),
            is_required: true,
            description: String::new(),
            value: None,
            is_text_of_json: false,
        };
        let known = [member(0, "z"), member(1, "d"), member(1, "b"), member(0, "b")];
        let value = json!({"a": {}, "b": [1, {"b": 2, "c": "x\"y", "d": null}], "z": []});
        let text = pretty(&value, &known, 0);
        let expected =
            "{\n  \"z\": [],\n  \"b\": [\n    1,\n    {\n      \"d\": null,\n      \"b\": 2,\n      \"c\": ";
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn members_of_all_parts_are_merged() {
        let document = json!({"one": {"type": "object", "required": ["b"], "properties": {
            "a": {"type": "string"}, "b": {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "integer"}}}},
        }}});
        let schema = json!({"allOf": [{"$ref": "#/one"}, {"properties": {"a": {"description": "x"}}}]});
        let members = of_schema(&document, &schema);
        let shown: Vec<(usize, &str, &str, bool)> = members
            .iter()
            .map(|one| (one.depth, one.name.as_str(), one.kind.as_str(), one.is_required))
            .collect();
        assert_eq!(
            shown,
            [(0, "b", "array of object", true), (1, "c", "integer", false), (0, "a", "string", false)]
        );
        assert_eq!(members[2].description, "x");
    }
}
