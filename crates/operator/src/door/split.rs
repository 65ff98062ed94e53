//! Splits a body into its changes: lines of NDJSON, or the items of a JSON array. Which one it is, its
//! first byte tells.

use memchr::memchr;

/// A change may be this long.
pub(super) const ITEM_BYTES_MAX: usize = 1024 * 1024;

/// One change of the body, by its number from 1 (for NDJSON, the line).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Text(u64, &'a [u8]),
    TooLong(u64),
    /// The body ended inside it.
    Unfinished(u64),
}

/// What cannot be split at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitFault {
    AfterArray,
    EmptyItem(u64),
    /// It is said to be JSON, and begins neither an array nor an object.
    NotJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Unknown,
    Lines,
    Array(Inside),
}

/// Where in an array the reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// Before an item; `after_comma` tells whether one must come.
    Between {
        after_comma: bool,
    },
    Item {
        depth: u32,
        in_string: bool,
        escaped: bool,
    },
    AfterItem,
    After,
}

#[derive(Debug)]
pub(super) struct Splitter {
    form: Form,
    /// The beginning of an item whose end has not come yet.
    held: Vec<u8>,
    too_long: bool,
    number: u64,
    bom_bytes: usize,
    is_json: bool,
}

impl Splitter {
    /// `is_json` where the sender says that the body is JSON, and not lines of it.
    pub(super) fn new(is_json: bool) -> Self {
        Self { form: Form::Unknown, held: Vec::new(), too_long: false, number: 0, bom_bytes: 0, is_json }
    }

    /// Takes some bytes; `take` gets every item that ends in them.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        take: &mut impl FnMut(Item<'_>),
    ) -> Result<(), SplitFault> {
        const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
        if self.form == Form::Unknown {
            while let [first, rest @ ..] = bytes {
                if self.bom_bytes < BOM.len() && *first == BOM[self.bom_bytes] {
                    self.bom_bytes += 1;
                } else if *first == b'\n' {
                    self.number += 1;
                } else if !first.is_ascii_whitespace() {
                    if self.is_json && !matches!(first, b'[' | b'{') {
                        return Err(SplitFault::NotJson);
                    }
                    self.form = if *first == b'[' { self.array() } else { Form::Lines };
                    break;
                }
                bytes = rest;
            }
            if let (Form::Array(_), [_, rest @ ..]) = (self.form, bytes) {
                bytes = rest;
            }
        }
        match self.form {
            Form::Unknown => Ok(()),
            Form::Lines => {
                self.lines(bytes, take);
                Ok(())
            }
            Form::Array(inside) => self.items(inside, bytes, take),
        }
    }

    /// The body is over: whatever is held is the last item, or half of one.
    pub(super) fn end(&mut self, take: &mut impl FnMut(Item<'_>)) {
        match self.form {
            Form::Lines if self.too_long || !self.held.is_empty() => self.give_line(&[], take),
            Form::Array(Inside::After) | Form::Unknown | Form::Lines => {}
            Form::Array(_) => take(Item::Unfinished(self.number + 1)),
        }
    }

    fn array(&mut self) -> Form {
        self.number = 0;
        Form::Array(Inside::Between { after_comma: false })
    }

    fn lines(&mut self, mut bytes: &[u8], take: &mut impl FnMut(Item<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.give_line(&bytes[..end], take);
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes);
    }

    /// Gives what is held and `rest` as one line; blank lines only count.
    fn give_line(&mut self, rest: &[u8], take: &mut impl FnMut(Item<'_>)) {
        self.number += 1;
        if self.too_long || self.held.len() + rest.len() > ITEM_BYTES_MAX {
            take(Item::TooLong(self.number));
        } else if self.held.is_empty() {
            give(self.number, rest, take);
        } else {
            self.held.extend_from_slice(rest);
            give(self.number, &self.held, take);
        }
        self.held.clear();
        self.too_long = false;
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.too_long || self.held.len() + bytes.len() > ITEM_BYTES_MAX {
            self.too_long = true;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn items(
        &mut self,
        mut inside: Inside,
        bytes: &[u8],
        take: &mut impl FnMut(Item<'_>),
    ) -> Result<(), SplitFault> {
        let mut item_from = 0;
        for (at, byte) in bytes.iter().copied().enumerate() {
            let next = step(inside, byte, self.number)?;
            let item_starts = !matches!(inside, Inside::Item { .. }) && matches!(next, Inside::Item { .. });
            let item_ends = matches!(inside, Inside::Item { .. }) && !matches!(next, Inside::Item { .. });
            if item_starts {
                item_from = at;
            }
            if item_ends {
                // A bracket or quote that closes the item belongs to it; a comma or the array's end does not.
                let closed = matches!(byte, b'}' | b']' | b'"') && next == Inside::AfterItem;
                self.give_line(&bytes[item_from..if closed { at + 1 } else { at }], take);
            }
            inside = next;
        }
        if matches!(inside, Inside::Item { .. }) {
            self.hold(&bytes[item_from..]);
        }
        self.form = Form::Array(inside);
        Ok(())
    }
}

fn give(number: u64, text: &[u8], take: &mut impl FnMut(Item<'_>)) {
    let text = text.trim_ascii();
    if !text.is_empty() {
        take(Item::Text(number, text));
    }
}

/// One byte of an array.
fn step(inside: Inside, byte: u8, items_before: u64) -> Result<Inside, SplitFault> {
    Ok(match inside {
        Inside::Item { depth, in_string: true, escaped } => match byte {
            _ if escaped => Inside::Item { depth, in_string: true, escaped: false },
            b'\\' => Inside::Item { depth, in_string: true, escaped: true },
            b'"' if depth == 0 => Inside::AfterItem,
            b'"' => Inside::Item { depth, in_string: false, escaped: false },
            _ => inside,
        },
        Inside::Item { depth, .. } => match byte {
            b'"' => Inside::Item { depth, in_string: true, escaped: false },
            b'{' | b'[' => Inside::Item { depth: depth.saturating_add(1), in_string: false, escaped: false },
            b'}' | b']' if depth > 1 => Inside::Item { depth: depth - 1, in_string: false, escaped: false },
            b'}' | b']' if depth == 1 => Inside::AfterItem,
            b']' => Inside::After,
            b',' if depth == 0 => Inside::Between { after_comma: true },
            _ => inside,
        },
        Inside::Between { after_comma } => match byte {
            byte if byte.is_ascii_whitespace() => inside,
            b']' if !after_comma => Inside::After,
            b',' | b']' => return Err(SplitFault::EmptyItem(items_before + 1)),
            b'{' | b'[' => Inside::Item { depth: 1, in_string: false, escaped: false },
            b'"' => Inside::Item { depth: 0, in_string: true, escaped: false },
            _ => Inside::Item { depth: 0, in_string: false, escaped: false },
        },
        Inside::AfterItem => match byte {
            byte if byte.is_ascii_whitespace() => inside,
            b',' => Inside::Between { after_comma: true },
            b']' => Inside::After,
            _ => return Err(SplitFault::EmptyItem(items_before + 1)),
        },
        Inside::After if byte.is_ascii_whitespace() => inside,
        Inside::After => return Err(SplitFault::AfterArray),
    })
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
