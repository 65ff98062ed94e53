//! The bodies that may have been sent, given the one that was received. A diagnosis tries each; if one matches the
//! signature, its reason explains the mismatch.

use std::fmt;

use domain::json::write_string;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::diagnose::MismatchReason;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The members of all notifications, in an order that is consistent with each of them.
const MEMBER_ORDER: [&str; 21] = [
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

/// First the received body, then the variants that may have been sent.
pub(super) fn body_variants(body: &[u8]) -> Vec<(Option<MismatchReason>, Vec<u8>)> {
    let mut body_variants = vec![(None, body.to_vec())];
    let mut push = |reason: MismatchReason, variant: Vec<u8>| {
        if variant != body {
            body_variants.push((Some(reason), variant));
        }
    };
    let without_bom = body.strip_prefix(BOM).unwrap_or(body);
    push(MismatchReason::ByteOrderMarkAdded, without_bom.to_vec());
    push(MismatchReason::TrailingNewlineAdded, without_bom.trim_ascii_end().to_vec());
    push(MismatchReason::TrailingNewlineRemoved, [body, b"\n"].concat());
    push(MismatchReason::TrailingNewlineRemoved, [body, b"\r\n"].concat());
    push(MismatchReason::ByteOrderMarkRemoved, [BOM, body].concat());
    for sorted in [false, true] {
        if let Some(variant) = reserialise(without_bom, sorted) {
            push(MismatchReason::ReserialisedBody, variant);
        }
    }
    for variant in encodings(body) {
        push(MismatchReason::WrongEncoding, variant);
    }
    body_variants
}

/// Writes the body as the service writes JSON: without whitespace, and with as few escapes as possible.
fn reserialise(body: &[u8], sorted: bool) -> Option<Vec<u8>> {
    let json: OrderedJson = serde_json::from_slice(body).ok()?;
    let mut text = String::with_capacity(body.len());
    json.write(sorted, &mut text);
    Some(text.into_bytes())
}

/// The body if UTF-8 was decoded as Latin-1, or the other way round.
fn encodings(body: &[u8]) -> Vec<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(body) else {
        return vec![body.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()];
    };
    if text.is_ascii() {
        return Vec::new();
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>().into_iter().collect()
}

/// A JSON value that preserves the order of members.
enum OrderedJson {
    Plain(String),
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl OrderedJson {
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
                    members.sort_by_key(|(name, _)| MEMBER_ORDER.iter().position(|known| known == name));
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

impl<'de> Deserialize<'de> for OrderedJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedJsonVisitor)
    }
}

struct OrderedJsonVisitor;

impl<'de> Visitor<'de> for OrderedJsonVisitor {
    type Value = OrderedJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain("null".into()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Plain(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<OrderedJson, E> {
        Ok(OrderedJson::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OrderedJson, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(OrderedJson::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<OrderedJson, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(OrderedJson::Object(object))
    }
}
