//! Reads JSON from outside in one pass: strict, bounded, duplicates and NUL refused, numbers kept to the
//! digit. What comes out is compact text with strings escaped in one way, so that equal data is equal text.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;

/// How deep arrays and objects may nest.
pub const DEPTH_MAX: usize = 64;
/// From this many members on, a set finds the duplicates instead of a walk.
const FEW_MEMBERS: usize = 12;

/// Why a text is not acceptable JSON; `column` counts bytes from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at column {column}")]
pub struct JsonFault {
    pub reason: String,
    pub column: usize,
}

/// An object that was read: its compact text and where its members stand in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    text: String,
    members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: Box<str>,
    value: Range<usize>,
}

impl Object {
    /// Reads a text that must be one JSON object and nothing else.
    pub fn parse(bytes: &[u8]) -> Result<Self, JsonFault> {
        let text = std::str::from_utf8(bytes).map_err(|error| JsonFault {
            reason: "the text is not UTF-8".into(),
            column: error.valid_up_to() + 1,
        })?;
        let mut reader = Reader {
            input: text.as_bytes(),
            text,
            at: 0,
            out: String::with_capacity(text.len()),
        };
        reader.space();
        if reader.peek() != Some(b'{') {
            return Err(reader.fault("expected a JSON object"));
        }
        let mut members = Vec::with_capacity(10);
        reader.object(1, Some(&mut members))?;
        reader.space();
        if reader.at < reader.input.len() {
            return Err(reader.fault("expected the end of the text after the object"));
        }
        Ok(Self {
            text: reader.out,
            members,
        })
    }

    pub fn empty() -> Self {
        Self {
            text: "{}".into(),
            members: Vec::new(),
        }
    }

    /// The whole object, compact.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Names and compact values, in the writer's order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members
            .iter()
            .map(|member| (&*member.name, &self.text[member.value.clone()]))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.members()
            .find_map(|(candidate, value)| (candidate == name).then_some(value))
    }
}

/// The members of an object in a text that this module wrote, recursively in the order of their names:
/// two texts that differ only in the order of members become the same.
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

struct Reader<'a> {
    input: &'a [u8],
    text: &'a str,
    at: usize,
    out: String,
}

impl Reader<'_> {
    fn fault(&self, reason: impl Into<String>) -> JsonFault {
        JsonFault {
            reason: reason.into(),
            column: self.at + 1,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), JsonFault> {
        self.space();
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.fault(format!("expected {what}"))),
            None => Err(self.fault(format!("the text ends where {what} should stand"))),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), JsonFault> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth + 1, None),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                let text = self.string()?;
                write_string(&text, &mut self.out);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(_) => Err(self.fault("expected a JSON value")),
            None => Err(self.fault("the text ends where a value should stand")),
        }
    }

    fn deep_enough(&self, depth: usize) -> Result<(), JsonFault> {
        if depth > DEPTH_MAX {
            return Err(self.fault(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(())
    }

    fn object(&mut self, depth: usize, mut members: Option<&mut Vec<Member>>) -> Result<(), JsonFault> {
        self.deep_enough(depth)?;
        self.at += 1;
        self.out.push('{');
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.out.push('}');
            return Ok(());
        }
        let mut names = Names::default();
        loop {
            self.space();
            let name_at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a member's name in double quotes"));
            }
            let name = self.string()?;
            write_string(&name, &mut self.out);
            if !names.insert(&name) {
                self.at = name_at;
                return Err(self.fault(format!("the member \"{name}\" stands twice")));
            }
            self.expect(b':', "a colon")?;
            self.out.push(':');
            let value_from = self.out.len();
            self.value(depth)?;
            if let Some(members) = members.as_deref_mut() {
                members.push(Member {
                    name: name.into(),
                    value: value_from..self.out.len(),
                });
            }
            if self.more(b'}', "a comma or a closing brace")? {
                self.out.push(',');
            } else {
                self.out.push('}');
                return Ok(());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonFault> {
        self.deep_enough(depth)?;
        self.at += 1;
        self.out.push('[');
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.out.push(']');
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if self.more(b']', "a comma or a closing bracket")? {
                self.out.push(',');
            } else {
                self.out.push(']');
                return Ok(());
            }
        }
    }

    /// After a member or an item: true for a comma, false for the closing byte.
    fn more(&mut self, closing: u8, what: &str) -> Result<bool, JsonFault> {
        self.space();
        if self.peek() == Some(b',') {
            self.at += 1;
            return Ok(true);
        }
        self.expect(closing, what).map(|()| false)
    }

    fn word(&mut self, word: &str) -> Result<(), JsonFault> {
        if !self.input[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault("expected a JSON value"));
        }
        self.at += word.len();
        self.out.push_str(word);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonFault> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from {
            Err(self.fault("expected a digit"))
        } else {
            Ok(())
        }
    }

    fn number(&mut self) -> Result<(), JsonFault> {
        let from = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'0'..=b'9' | b'.' | b'a'..=b'z' | b'A'..=b'Z')) {
            return Err(self.fault("a number is written wrongly"));
        }
        self.out.push_str(&self.text[from..self.at]);
        Ok(())
    }

    fn string(&mut self) -> Result<String, JsonFault> {
        let opened_at = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut plain_from = self.at;
        loop {
            match self.peek() {
                None => {
                    self.at = opened_at;
                    return Err(self.fault("a string is not closed"));
                }
                Some(b'"') => {
                    text.push_str(&self.text[plain_from..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(&self.text[plain_from..self.at]);
                    text.push(self.escape()?);
                    plain_from = self.at;
                }
                Some(0) => return Err(self.fault("a NUL byte")),
                Some(0x01..=0x1f) => return Err(self.fault("a control character that is not escaped")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonFault> {
        self.at += 1;
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 1;
                return Err(self.fault("an unknown escape in a string"));
            }
        })
    }

    fn unicode(&mut self) -> Result<char, JsonFault> {
        let first = self.hex4()?;
        let code = match first {
            0xd800..=0xdbff if self.input[self.at..].starts_with(b"\\u") => {
                self.at += 2;
                let second = self.hex4()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(self.fault("half of a surrogate pair"));
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        match char::from_u32(code) {
            Some('\0') => Err(self.fault("a NUL character")),
            Some(letter) => Ok(letter),
            None => Err(self.fault("half of a surrogate pair")),
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonFault> {
        let digits = self
            .input
            .get(self.at..self.at + 4)
            .filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits.and_then(|four| std::str::from_utf8(four).ok()) else {
            return Err(self.fault("expected four hexadecimal digits"));
        };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0))
    }
}

/// The names seen so far in one object.
#[derive(Default)]
struct Names {
    few: Vec<Box<str>>,
    many: HashSet<Box<str>>,
}

impl Names {
    fn insert(&mut self, name: &str) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name.into());
        }
        if self.few.iter().any(|seen| &**seen == name) {
            return false;
        }
        self.few.push(name.into());
        if self.few.len() > FEW_MEMBERS {
            self.many.extend(self.few.drain(..));
        }
        true
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
