//! The one pass over a JSON text: checks it, and writes it out compact.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::{DEPTH_MAX, JsonError, Member, write_string};

/// From this many members on, a set finds the duplicates instead of a walk.
const FEW_MEMBERS: usize = 12;

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

    /// Reads one object and nothing else.
    pub(super) fn whole_object(mut self) -> Result<(String, Vec<Member>), JsonError> {
        self.space();
        if self.peek() != Some(b'{') {
            return Err(self.fault("expected a JSON object"));
        }
        let mut members = Vec::with_capacity(10);
        self.object(1, Some(&mut members))?;
        self.space();
        if self.at < self.input.len() {
            return Err(self.fault("expected the end of the text after the object"));
        }
        Ok((self.out, members))
    }

    fn fault(&self, reason: impl Into<String>) -> JsonError {
        JsonError { reason: reason.into(), column: self.at + 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), JsonError> {
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

    fn value(&mut self, depth: usize) -> Result<(), JsonError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth + 1, None),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => {
                let text = self.string()?;
                self.write(&text, matches!(text, Cow::Borrowed(_)));
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

    /// Writes a string out. One that came without escapes needs none.
    fn write(&mut self, text: &str, came_plain: bool) {
        if came_plain {
            self.out.push('"');
            self.out.push_str(text);
            self.out.push('"');
        } else {
            write_string(text, &mut self.out);
        }
    }

    fn deep_enough(&self, depth: usize) -> Result<(), JsonError> {
        if depth > DEPTH_MAX {
            return Err(self.fault(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(())
    }

    fn object(&mut self, depth: usize, mut members: Option<&mut Vec<Member>>) -> Result<(), JsonError> {
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
            let (name, unescaped) = self.name(&mut names)?;
            self.expect(b':', "a colon")?;
            self.out.push(':');
            let value_from = self.out.len();
            self.value(depth)?;
            if let Some(members) = members.as_deref_mut() {
                members.push(Member { name, unescaped, value: value_from..self.out.len() });
            }
            if self.more(b'}', "a comma or a closing brace")? {
                self.out.push(',');
            } else {
                self.out.push('}');
                return Ok(());
            }
        }
    }

    /// A member's name: where it stands in the output, and what it says if that is something else.
    fn name(&mut self, names: &mut Names) -> Result<(Range<usize>, Option<Box<str>>), JsonError> {
        self.space();
        let name_at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a member's name in double quotes"));
        }
        let name = self.string()?;
        let from = self.out.len() + 1;
        self.write(&name, matches!(name, Cow::Borrowed(_)));
        let range = from..self.out.len() - 1;
        // Equal names are written in one way, so what is written can be compared.
        if !names.insert(&self.out, range.clone()) {
            self.at = name_at;
            return Err(self.fault(format!("the member \"{name}\" stands twice")));
        }
        let unescaped = match name {
            Cow::Owned(name) if name != self.out[range.clone()] => Some(name.into()),
            _ => None,
        };
        Ok((range, unescaped))
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonError> {
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
    fn more(&mut self, closing: u8, what: &str) -> Result<bool, JsonError> {
        self.space();
        if self.peek() == Some(b',') {
            self.at += 1;
            return Ok(true);
        }
        self.expect(closing, what).map(|()| false)
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if !self.input[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault("expected a JSON value"));
        }
        self.at += word.len();
        self.out.push_str(word);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == from { Err(self.fault("expected a digit")) } else { Ok(()) }
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
            return Err(self.fault("a number is written wrongly"));
        }
        self.out.push_str(&self.text[from..self.at]);
        Ok(())
    }

    /// A string; borrowed where it has no escapes.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
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
                    let plain = &self.text[plain_from..self.at];
                    self.at += 1;
                    if plain_from == opened_at + 1 {
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
                Some(0) => return Err(self.fault("a NUL byte")),
                Some(0x01..=0x1f) => return Err(self.fault("a control character that is not escaped")),
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
                return Err(self.fault("an unknown escape in a string"));
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

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits =
            self.input.get(self.at..self.at + 4).filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits.and_then(|four| std::str::from_utf8(four).ok()) else {
            return Err(self.fault("expected four hexadecimal digits"));
        };
        self.at += 4;
        Ok(u32::from_str_radix(digits, 16).unwrap_or(0))
    }
}

/// The names seen so far in one object, as they are written in the output.
#[derive(Default)]
struct Names {
    few: Vec<Range<usize>>,
    many: HashSet<Box<str>>,
}

impl Names {
    fn insert(&mut self, out: &str, name: Range<usize>) -> bool {
        let written = &out[name.clone()];
        if !self.many.is_empty() {
            return self.many.insert(written.into());
        }
        if self.few.iter().any(|seen| out[seen.clone()] == *written) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > FEW_MEMBERS {
            self.many.extend(self.few.drain(..).map(|seen| out[seen].into()));
        }
        true
    }
}
