//! Writes one change line (JSON) member by member into a string, without an intermediate value.

use std::fmt::{Display, Write};

use crate::resource::Resource;
use crate::rng::mix;

const USERS: [&str; 12] = [
    "maria", "inaki", "begona", "jordi", "carmen", "xoan", "lucia", "antonio", "nuria", "andres", "pilar",
    "ruben",
];

const HEX: [u8; 16] = *b"0123456789abcdef";
/// The offset of each byte in the text of a GUID.
const ID_BYTE_OFFSETS: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/// A record's GUID (RFC 9562, version 8), derived from the record's position in the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordId(u128);

impl RecordId {
    /// The id of record `number` of a resource. `key` identifies the company or tenant that owns it.
    pub(crate) fn derive(key: u64, resource: Resource, number: u64) -> Self {
        let kind = mix(key, resource as u64);
        let bits = u128::from(mix(kind, number)) << 64 | u128::from(mix(!kind, number));
        Self(bits & !(0xf << 76) & !(0x3 << 62) | 0x8 << 76 | 0x2 << 62)
    }

    fn write(self, out: &mut String) {
        let mut text = [b'-'; 36];
        for (byte, offset) in self.0.to_be_bytes().into_iter().zip(ID_BYTE_OFFSETS) {
            text[offset] = HEX[usize::from(byte >> 4)];
            text[offset + 1] = HEX[usize::from(byte & 0xf)];
        }
        out.push_str(std::str::from_utf8(&text).unwrap_or_default());
    }
}

/// Appends the number, with leading zeros up to `width`. Faster than `write!`: half of a journal is digits.
pub(crate) fn push_digits(out: &mut String, number: u64, width: usize) {
    let mut text = [b'0'; 20];
    let mut first = text.len();
    let mut rest = number;
    while rest > 0 {
        first -= 1;
        text[first] = HEX[usize::try_from(rest % 10).unwrap_or_default()];
        rest /= 10;
    }
    let start = first.min(text.len().saturating_sub(width));
    out.push_str(std::str::from_utf8(&text[start..]).unwrap_or_default());
}

#[derive(Debug)]
pub(crate) struct ChangeLine {
    json: String,
    resource: Resource,
    id: RecordId,
}

impl ChangeLine {
    pub(crate) fn new(resource: Resource, company: Option<RecordId>, id: RecordId) -> Self {
        let (area, name) = resource.wire_names();
        let mut json = String::with_capacity(1_024);
        json.push('{');
        let mut line = Self { json, resource, id }.text("area", area).text("resource", name);
        if let Some(company) = company {
            line = line.id("company", company);
        }
        let mut line = line.text("action", "upsert");
        // The ingest API identifies a payroll company by its companyCode and refuses a correlationId.
        if resource != Resource::PayrollCompanies {
            line = line.id("correlationId", id);
        }
        line.name("data");
        line.json.push('{');
        line
    }

    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        self.json.push('"');
        if value.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
            self.escape(value);
        } else {
            self.json.push_str(value);
        }
        self.json.push('"');
        self
    }

    /// A text written by its `Display`, unescaped: for dates and composed numbers.
    pub(crate) fn display(mut self, name: &str, value: impl Display) -> Self {
        self.name(name);
        self.push(format_args!("\"{value}\""));
        self
    }

    pub(crate) fn id(mut self, name: &str, id: RecordId) -> Self {
        self.name(name);
        self.json.push('"');
        id.write(&mut self.json);
        self.json.push('"');
        self
    }

    pub(crate) fn number(mut self, name: &str, number: impl Into<u64>) -> Self {
        self.name(name);
        push_digits(&mut self.json, number.into(), 1);
        self
    }

    /// An amount of money: takes cents, writes euros.
    pub(crate) fn euros(mut self, name: &str, cents: u64) -> Self {
        self.name(name);
        push_digits(&mut self.json, cents / 100, 1);
        self.json.push('.');
        push_digits(&mut self.json, cents % 100, 2);
        self
    }

    pub(crate) fn flag(mut self, name: &str, flag: bool) -> Self {
        self.name(name);
        self.json.push_str(if flag { "true" } else { "false" });
        self
    }

    /// An array of objects; `each` writes the members of one object.
    pub(crate) fn list<T>(
        mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        each: impl Fn(Self, T) -> Self,
    ) -> Self {
        self.name(name);
        self.json.push('[');
        for item in items {
            self.comma();
            self.json.push('{');
            self = each(self, item);
            self.json.push('}');
        }
        self.json.push(']');
        self
    }

    pub(crate) fn finish(mut self) -> String {
        self.json.push('}');
        let (interface, action) = self.resource.source();
        let users = USERS.len() as u128;
        let user = usize::try_from(self.id.0 % users).unwrap_or_default();
        let mut line =
            self.text("user", USERS[user]).text("sourceInterface", interface).text("sourceAction", action);
        line.json.push('}');
        line.json
    }

    fn name(&mut self, name: &str) {
        self.comma();
        self.json.push('"');
        self.json.push_str(name);
        self.json.push_str("\":");
    }

    fn comma(&mut self) {
        if !self.json.ends_with(['{', '[']) {
            self.json.push(',');
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.json.write_fmt(text);
    }

    fn escape(&mut self, value: &str) {
        for char in value.chars() {
            match char {
                '"' => self.json.push_str("\\\""),
                '\\' => self.json.push_str("\\\\"),
                control if control < ' ' => self.push(format_args!("\\u{:04x}", u32::from(control))),
                other => self.json.push(other),
            }
        }
    }
}
