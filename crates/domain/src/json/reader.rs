//! The single pass over a JSON text: validates it and writes it as compact JSON.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{DEPTH_MAX, JsonError, Member, write_string};

/// Up to this many members, a linear search finds duplicate names; beyond it, a hash set does.
const LINEAR_SEARCH_MEMBERS_MAX: usize = 12;

pub(super) struct Reader<'a> {
    text: &'a str,
    input: &'a [u8],
    at: usize,
    out: String,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, input: text.as_bytes(), at: 0, out: String::with_capacity(text.len()) }
    }

    /// Reads exactly one object.
    pub(super) fn document(mut self) -> Result<(String, Vec<Member>), JsonError> {
        self.skip_space();
        if self.peek() != Some(b'{') {
            return Err(self.error("expected a JSON object"));
        }
        let mut members = Vec::with_capacity(10);
        self.object(1, Some(&mut members))?;
        self.skip_space();
        if self.at < self.input.len() {
            return Err(self.error("expected the end of the text after the object"));
        }
        Ok((self.out, members))
    }

    fn error(&self, reason: impl Into<String>) -> JsonError {
        JsonError { reason: reason.into(), column: self.at + 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), JsonError> {
        self.skip_space();
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.error(format!("expected {what}"))),
            None => Err(self.error(format!("expected {what} but the text ends"))),
        }
    }

    fn value(&mut self, depth: usize) -> Result<(), JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth + 1, None),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                let text = self.string()?;
                self.write_string(&text, matches!(text, Cow::Borrowed(_)));
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(_) => Err(self.error("expected a JSON value")),
            None => Err(self.error("expected a value but the text ends")),
        }
    }

    /// Writes a string. One without escapes in the input needs none in the output.
    fn write_string(&mut self, text: &str, had_no_escapes: bool) {
        if had_no_escapes {
            self.out.push('"');
            self.out.push_str(text);
            self.out.push('"');
        } else {
            write_string(text, &mut self.out);
        }
    }

    fn check_depth(&self, depth: usize) -> Result<(), JsonError> {
        if depth > DEPTH_MAX {
            return Err(self.error(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(())
    }

    fn object(&mut self, depth: usize, mut members: Option<&mut Vec<Member>>) -> Result<(), JsonError> {
        self.check_depth(depth)?;
        self.at += 1;
        self.out.push('{');
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.out.push('}');
            return Ok(());
        }
        let mut names = Names::default();
        loop {
            let (name, unescaped) = self.name(&mut names)?;
            self.expect(b':', "a colon")?;
            self.out.push(':');
            let value_from = self.out.len();
            self.value(depth)?;
            if let Some(members) = members.as_deref_mut() {
                members.push(Member { name, unescaped, value: value_from..self.out.len() });
            }
            if self.has_next(b'}', "a comma or a closing brace")? {
                self.out.push(',');
            } else {
                self.out.push('}');
                return Ok(());
            }
        }
    }

    /// Reads a member's name. Returns its position in the output, and the unescaped name if it differs from the output.
    fn name(&mut self, names: &mut Names) -> Result<(Range<usize>, Option<Box<str>>), JsonError> {
        self.skip_space();
        let name_at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a member's name in double quotes"));
        }
        let name = self.string()?;
        let from = self.out.len() + 1;
        self.write_string(&name, matches!(name, Cow::Borrowed(_)));
        let range = from..self.out.len() - 1;
        // Equal names have equal escaped forms, so comparing the output is enough.
        if !names.insert(&self.out, range.clone()) {
            self.at = name_at;
            return Err(self.error(format!("the member \"{name}\" appears twice")));
        }
        let unescaped = match name {
            Cow::Owned(name) if name != self.out[range.clone()] => Some(name.into()),
            _ => None,
        };
        Ok((range, unescaped))
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonError> {
        self.check_depth(depth)?;
        self.at += 1;
        self.out.push('[');
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.out.push(']');
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if self.has_next(b']', "a comma or a closing bracket")? {
                self.out.push(',');
            } else {
                self.out.push(']');
                return Ok(());
            }
        }
    }

    /// Reads the separator after a member or an item: true for a comma, false for the closing byte.
    fn has_next(&mut self, closing: u8, what: &str) -> Result<bool, JsonError> {
        self.skip_space();
        if self.peek() == Some(b',') {
            self.at += 1;
            return Ok(true);
        }
        self.expect(closing, what).map(|()| false)
    }

    fn literal(&mut self, literal: &str) -> Result<(), JsonError> {
        if !self.input[self.at..].starts_with(literal.as_bytes()) {
            return Err(self.error("expected a JSON value"));
        }
        self.at += literal.len();
        self.out.push_str(literal);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from { Err(self.error("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), JsonError> {
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
            return Err(self.error("invalid number"));
        }
        self.out.push_str(&self.text[from..self.at]);
        Ok(())
    }

    /// Reads a string; borrowed if it has no escapes.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut plain_from = self.at;
        loop {
            match self.peek() {
                None => {
                    self.at = start;
                    return Err(self.error("a string has no closing quote"));
                }
                Some(b'"') => {
                    let plain = &self.text[plain_from..self.at];
                    self.at += 1;
                    if plain_from == start + 1 {
                        return Ok(Cow::Borrowed(plain));
                    }
                    text.push_str(plain);
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    text.push_str(&self.text[plain_from..self.at]);
                    text.push(self.escape()?);
                    plain_from = self.at;
                }
                Some(0) => return Err(self.error("a NUL byte is not allowed")),
                Some(0x01..=0x1f) => return Err(self.error("a control character must be escaped")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
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
                return Err(self.error("unknown escape in a string"));
            }
        })
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        let code = match first {
            0xd800..=0xdbff if self.input[self.at..].starts_with(b"\\u") => {
                self.at += 2;
                let second = self.hex4()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(self.error("unpaired surrogate"));
                }
                0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        match char::from_u32(code) {
            Some('\0') => Err(self.error("a NUL character is not allowed")),
            Some(character) => Ok(character),
            None => Err(self.error("unpaired surrogate")),
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits =
            self.input.get(self.at..self.at + 4).filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits.and_then(|four| std::str::from_utf8(four).ok()) else {
            return Err(self.error("expected four hexadecimal digits"));
        };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0))
    }
}

/// The names of one object so far, in their escaped form.
#[derive(Default)]
struct Names {
    /// Positions in the output, while there are few names.
    ranges: Vec<Range<usize>>,
    /// Replaces `ranges` once there are many names.
    set: HashSet<Box<str>>,
}

impl Names {
    /// Adds a name; false if the object already has it.
    fn insert(&mut self, out: &str, name: Range<usize>) -> bool {
        let written = &out[name.clone()];
        if !self.set.is_empty() {
            return self.set.insert(written.into());
        }
        if self.ranges.iter().any(|other| out[other.clone()] == *written) {
            return false;
        }
        self.ranges.push(name);
        if self.ranges.len() > LINEAR_SEARCH_MEMBERS_MAX {
            self.set.extend(self.ranges.drain(..).map(|other| out[other].into()));
        }
        true
    }
}
