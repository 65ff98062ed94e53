//! What a body may have been before somebody touched it: the forms that a diagnosis tries, each with the reason that
//! it would explain.

use std::fmt;

use domain::json::write_string;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::diagnose::Reason;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Members of all notifications in an order that agrees with that of each.
const ORDER: [&str; 21] = [
    "WebhookId",
    "OutgoingId",
    "ConversationId",
    "Entity",
    "EntityId",
    "TenantId",
    "User",
    "Changes",
    "ExtraPartitionInformation",
    "PartitionClientId",
    "UserName",
    "AppName",
    "Domain",
    "Resource",
    "EventType",
    "SemanticName",
    "Timestamp",
    "JsonData",
    "UserIdentifier",
    "Name",
    "Value",
];

/// The body as it came first, then as it may have been sent.
pub(super) fn forms(body: &[u8]) -> Vec<(Option<Reason>, Vec<u8>)> {
    let mut forms = vec![(None, body.to_vec())];
    let mut put = |reason: Reason, form: Vec<u8>| {
        if form != body {
            forms.push((Some(reason), form));
        }
    };
    let whole = body.strip_prefix(BOM).unwrap_or(body);
    put(Reason::ByteOrderMarkAdded, whole.to_vec());
    put(Reason::TrailingNewlineAdded, whole.trim_ascii_end().to_vec());
    put(Reason::TrailingNewlineRemoved, [body, b"\n"].concat());
    put(Reason::TrailingNewlineRemoved, [body, b"\r\n"].concat());
    put(Reason::ByteOrderMarkRemoved, [BOM, body].concat());
    for sorted in [false, true] {
        if let Some(form) = written_anew(whole, sorted) {
            put(Reason::ReserialisedBody, form);
        }
    }
    for form in encodings(body) {
        put(Reason::WrongEncoding, form);
    }
    forms
}

/// As the service writes JSON: nothing between tokens, escapes only where they must be.
fn written_anew(body: &[u8], sorted: bool) -> Option<Vec<u8>> {
    let tree: Tree = serde_json::from_slice(body).ok()?;
    let mut text = String::with_capacity(body.len());
    tree.write(sorted, &mut text);
    Some(text.into_bytes())
}

/// UTF-8 that was read as Latin-1, either way.
fn encodings(body: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(body) else {
        return vec![body.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()];
    };
    if text.is_ascii() {
        return Vec::new();
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>().into_iter().collect()
}

/// A JSON value whose members keep their order.
enum Tree {
    Plain(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Tree {
    fn write(&self, sorted: bool, out: &mut String) {
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => write_string(text, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write(sorted, out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if sorted {
                    members.sort_by_key(|(name, _)| ORDER.iter().position(|known| known == name));
                }
                out.push('{');
                for (index, (name, value)) in members.into_iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    write_string(name, out);
                    out.push(':');
                    value.write(sorted, out);
                }
                out.push('}');
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Plain("null".into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Tree::Object(object))
    }
}
