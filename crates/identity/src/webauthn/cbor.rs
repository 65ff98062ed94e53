//! A bounded reader of the CBOR that authenticators send (the CTAP2 subset of RFC 8949): definite lengths, no tags, keys
//! that occur once, and little nesting.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod encoder;
#[cfg(test)]
mod tests;

/// CTAP2 nests maps and arrays at most four levels deep; attestation statements of other origin get some more.
pub(crate) const DEPTH_MAX: usize = 8;
/// A registration has about 20.
pub(crate) const ITEMS_MAX: usize = 512;

/// One data item. Byte strings and texts borrow from the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Unsigned(u64),
    /// The integer −1 − n.
    Negative(u64),
    Bytes(&'a [u8]),
    Text(&'a str),
    Array(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
    /// `false`, `true`, `null`, `undefined` and other simple values by their number.
    Simple(u8),
    /// A number that is not an integer, as its bits; with the number of its bytes, 2, 4 or 8.
    Float(u8, u64),
}

/// Why bytes are not accepted as CBOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CborError {
    #[error("it ends within an item")]
    Truncated,
    #[error("there are bytes after the item")]
    TrailingBytes,
    #[error("an item has an indefinite length, a tag or a reserved form")]
    Unsupported,
    #[error("a text is not UTF-8")]
    NotUtf8,
    #[error("a map has a key twice")]
    DuplicateKey,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("it has too many items")]
    TooManyItems,
}

/// Reads one item that takes up all bytes.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value<'_>, CborError> {
    let (value, rest) = decode_first(bytes)?;
    if rest.is_empty() { Ok(value) } else { Err(CborError::TrailingBytes) }
}

/// Reads one item and returns the bytes after it.
pub(crate) fn decode_first(bytes: &[u8]) -> Result<(Value<'_>, &[u8]), CborError> {
    let mut reader = Reader { rest: bytes, items_left: ITEMS_MAX };
    let value = reader.value(DEPTH_MAX)?;
    Ok((value, reader.rest))
}

impl<'a> Value<'a> {
    /// The value of a text key of a map.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        self.get(|key| key.as_text() == Some(name))
    }

    /// The value of an integer key of a map.
    pub(crate) fn label(&self, label: i64) -> Option<&Self> {
        self.get(|key| key.as_integer() == Some(label))
    }

    pub(crate) fn as_bytes(&self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    pub(crate) fn as_text(&self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Unsigned(number) => i64::try_from(*number).ok(),
            Self::Negative(number) => i64::try_from(*number).ok().map(|number| -1 - number),
            _ => None,
        }
    }

    pub(crate) fn as_map(&self) -> Option<&[(Self, Self)]> {
        if let Self::Map(entries) = self { Some(entries) } else { None }
    }

    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn integer(number: i64) -> Self {
        u64::try_from(number).map_or(Self::Negative(number.unsigned_abs().wrapping_sub(1)), Self::Unsigned)
    }

    fn get(&self, is_key: impl Fn(&Self) -> bool) -> Option<&Self> {
        self.as_map()?.iter().find(|(key, _)| is_key(key)).map(|(_, value)| value)
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    items_left: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth_left: usize) -> Result<Value<'a>, CborError> {
        self.items_left = self.items_left.checked_sub(1).ok_or(CborError::TooManyItems)?;
        let [initial] = *self.take_array()?;
        let (major, additional) = (initial >> 5, initial & 0x1f);
        if major == 7 {
            return self.simple_or_float(additional);
        }
        let argument = self.argument(additional)?;
        match major {
            0 => Ok(Value::Unsigned(argument)),
            1 => Ok(Value::Negative(argument)),
            2 => Ok(Value::Bytes(self.take(argument)?)),
            3 => {
                let text = std::str::from_utf8(self.take(argument)?);
                text.map(Value::Text).map_err(|_| CborError::NotUtf8)
            }
            4 => self.array(argument, depth_left),
            5 => self.map(argument, depth_left),
            _ => Err(CborError::Unsupported),
        }
    }

    fn array(&mut self, length: u64, depth_left: usize) -> Result<Value<'a>, CborError> {
        let depth_left = depth_left.checked_sub(1).ok_or(CborError::TooDeep)?;
        // A declared length allocates nothing: the items have to be there.
        let items = (0..length).map(|_| self.value(depth_left)).collect::<Result<_, _>>()?;
        Ok(Value::Array(items))
    }

    fn map(&mut self, length: u64, depth_left: usize) -> Result<Value<'a>, CborError> {
        let depth_left = depth_left.checked_sub(1).ok_or(CborError::TooDeep)?;
        let mut entries: Vec<(Value<'a>, Value<'a>)> = Vec::new();
        for _ in 0..length {
            let key = self.value(depth_left)?;
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(CborError::DuplicateKey);
            }
            entries.push((key, self.value(depth_left)?));
        }
        Ok(Value::Map(entries))
    }

    fn simple_or_float(&mut self, additional: u8) -> Result<Value<'a>, CborError> {
        match additional {
            0..=23 => Ok(Value::Simple(additional)),
            24 => {
                let [number] = *self.take_array()?;
                // The smaller numbers have the shorter form only.
                if number >= 32 { Ok(Value::Simple(number)) } else { Err(CborError::Unsupported) }
            }
            25..=27 => Ok(Value::Float(1 << (additional - 24), self.argument(additional)?)),
            _ => Err(CborError::Unsupported),
        }
    }

    /// The number that the initial byte's low bits stand for, or that follows.
    fn argument(&mut self, additional: u8) -> Result<u64, CborError> {
        match additional {
            0..=23 => Ok(additional.into()),
            24 => self.take_array().map(|bytes| u8::from_be_bytes(*bytes).into()),
            25 => self.take_array().map(|bytes| u16::from_be_bytes(*bytes).into()),
            26 => self.take_array().map(|bytes| u32::from_be_bytes(*bytes).into()),
            27 => self.take_array().map(|bytes| u64::from_be_bytes(*bytes)),
            _ => Err(CborError::Unsupported),
        }
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], CborError> {
        let length = usize::try_from(length).map_err(|_| CborError::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(CborError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<&'a [u8; N], CborError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(CborError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}
