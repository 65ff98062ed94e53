//! Splits a body into its changes: lines of NDJSON, or the items of a JSON array. The first byte decides which.

use memchr::memchr;

/// The longest change.
pub(crate) const ITEM_BYTES_MAX: usize = 1024 * 1024;

/// One change of the body, by its number from 1 (for NDJSON, the line).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item<'a> {
    Text(u64, &'a [u8]),
    TooLong(u64),
    /// The body ended inside it.
    Unfinished(u64),
}

/// Why a body cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitFault {
    AfterArray,
    EmptyItem(u64),
    /// The body is declared as JSON and begins neither an array nor an object.
    NotJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Unknown,
    Lines,
    Array(Inside),
}

/// The position inside an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// Before an item; after a comma, one must follow.
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
pub(crate) struct BodySplitter {
    form: Form,
    /// The beginning of an item whose end has not arrived yet.
    pending: Vec<u8>,
    too_long: bool,
    number: u64,
    bom_bytes: usize,
    is_json: bool,
    item_bytes_max: usize,
}

impl BodySplitter {
    /// `is_json`: the sender declared the body as JSON, not as lines of it.
    pub(crate) fn new(is_json: bool) -> Self {
        Self::with_item_bytes_max(is_json, ITEM_BYTES_MAX)
    }

    pub(crate) fn with_item_bytes_max(is_json: bool, item_bytes_max: usize) -> Self {
        Self {
            form: Form::Unknown,
            pending: Vec::new(),
            too_long: false,
            number: 0,
            bom_bytes: 0,
            is_json,
            item_bytes_max,
        }
    }

    /// The memory that the splitter holds.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn bytes_held(&self) -> usize {
        self.pending.capacity()
    }

    /// Reads a piece of the body; `emit` gets every item that ends in it.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        emit: &mut impl FnMut(Item<'_>),
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
                self.lines(bytes, emit);
                Ok(())
            }
            Form::Array(inside) => self.items(inside, bytes, emit),
        }
    }

    /// The body has ended: the pending bytes are the last item, or part of one.
    pub(crate) fn end(&mut self, emit: &mut impl FnMut(Item<'_>)) {
        match self.form {
            Form::Lines if self.too_long || !self.pending.is_empty() => self.emit_line(&[], emit),
            Form::Array(Inside::After) | Form::Unknown | Form::Lines => {}
            Form::Array(_) => emit(Item::Unfinished(self.number + 1)),
        }
    }

    fn array(&mut self) -> Form {
        self.number = 0;
        Form::Array(Inside::Between { after_comma: false })
    }

    fn lines(&mut self, mut bytes: &[u8], emit: &mut impl FnMut(Item<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.emit_line(&bytes[..end], emit);
            bytes = &bytes[end + 1..];
        }
        self.buffer(bytes);
    }

    /// Emits the pending bytes and `rest` as one item; blank lines are counted and not emitted.
    fn emit_line(&mut self, rest: &[u8], emit: &mut impl FnMut(Item<'_>)) {
        self.number += 1;
        if self.too_long || self.pending.len() + rest.len() > self.item_bytes_max {
            emit(Item::TooLong(self.number));
        } else if self.pending.is_empty() {
            emit_text(self.number, rest, emit);
        } else {
            self.pending.extend_from_slice(rest);
            emit_text(self.number, &self.pending, emit);
        }
        self.pending.clear();
        self.too_long = false;
    }

    fn buffer(&mut self, bytes: &[u8]) {
        if self.too_long || self.pending.len() + bytes.len() > self.item_bytes_max {
            self.too_long = true;
            self.pending = Vec::new();
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    fn items(
        &mut self,
        mut inside: Inside,
        bytes: &[u8],
        emit: &mut impl FnMut(Item<'_>),
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
                self.emit_line(&bytes[item_from..if closed { at + 1 } else { at }], emit);
            }
            inside = next;
        }
        if matches!(inside, Inside::Item { .. }) {
            self.buffer(&bytes[item_from..]);
        }
        self.form = Form::Array(inside);
        Ok(())
    }
}

fn emit_text(number: u64, text: &[u8], emit: &mut impl FnMut(Item<'_>)) {
    let text = text.trim_ascii();
    if !text.is_empty() {
        emit(Item::Text(number, text));
    }
}

/// The position after one more byte of an array.
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
#[path = "body_splitter_tests.rs"]
mod tests;
