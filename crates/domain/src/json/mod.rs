//! A strict JSON reader for requests: one pass, bounded depth, no duplicate members, no NUL, numbers preserved digit by
//! digit. It writes compact text with uniformly escaped strings, so equal data becomes equal text.

mod reader;

use std::fmt::Write as _;
use std::ops::Range;

use reader::Reader;

/// The maximum nesting depth of arrays and objects.
pub const DEPTH_MAX: usize = 64;

/// Why a text was refused. `column` counts bytes from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at column {column}")]
pub struct JsonError {
    pub reason: String,
    pub column: usize,
}

/// A parsed object: its compact text and the positions of its members in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    text: String,
    members: Vec<Member>,
}

/// The position of a member in the compact text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    /// Without the quotes.
    name: Range<usize>,
    /// The unescaped name, if it differs from the text.
    unescaped: Option<Box<str>>,
    value: Range<usize>,
}

impl Object {
    /// Parses a text that must be exactly one JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(bytes).map_err(|error| JsonError {
            reason: "the text is not UTF-8".into(),
            column: error.valid_up_to() + 1,
        })?;
        let (text, members) = Reader::new(text).document()?;
        Ok(Self { text, members })
    }

    pub fn empty() -> Self {
        Self { text: "{}".into(), members: Vec::new() }
    }

    /// The whole object as compact JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Unescaped names and compact values, in their original order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|member| {
            let name = member.unescaped.as_deref().unwrap_or(&self.text[member.name.clone()]);
            (name, &self.text[member.value.clone()])
        })
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.members().find_map(|(candidate, value)| (candidate == name).then_some(value))
    }
}

/// Sorts the members of all objects in a compact text by name, so that texts which differ only in the order of members
/// become equal.
pub fn canonical(text: &str) -> String {
    match serde_json::from_str::<&serde_json::value::RawValue>(text) {
        Ok(raw) => {
            let mut out = String::with_capacity(text.len());
            write_canonical(raw, &mut out);
            out
        }
        Err(_) => text.to_owned(),
    }
}

fn write_canonical(raw: &serde_json::value::RawValue, out: &mut String) {
    use serde_json::value::RawValue;
    use std::collections::BTreeMap;
    let text = raw.get();
    if text.starts_with('{')
        && let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text)
    {
        out.push('{');
        for (position, (name, value)) in members.into_iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            write_string(&name, out);
            out.push(':');
            write_canonical(value, out);
        }
        out.push('}');
    } else if text.starts_with('[')
        && let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text)
    {
        out.push('[');
        for (position, item) in items.into_iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            write_canonical(item, out);
        }
        out.push(']');
    } else {
        out.push_str(text);
    }
}

/// Appends `text` as a JSON string.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x00..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[plain_from..at]);
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain_from = at + 1;
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

#[cfg(test)]
mod tests;
