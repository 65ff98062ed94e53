//! Reads what the library recorded.

use std::path::Path;

use crate::Fallible;

const HEAD_BYTES: usize = 21;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A new, empty file.
    Create(String),
    Write {
        path: String,
        at: usize,
        data: Vec<u8>,
    },
    Truncate {
        path: String,
        size: usize,
    },
    /// What was recorded before this place is durable.
    Sync {
        path: String,
        before: usize,
    },
    Rename {
        from: String,
        to: String,
    },
    Unlink(String),
    Folder(String),
    /// The operation before did not succeed.
    Failed(String),
    /// The file can be changed through memory, which nothing records.
    Mapped(String),
}

/// All whole records with their places. The process was killed, so that the last one may be cut off; then its operation had not begun.
pub(super) fn read(file: &Path) -> Fallible<Vec<(usize, Record)>> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    parse(&bytes)
}

fn parse(all: &[u8]) -> Fallible<Vec<(usize, Record)>> {
    let (mut bytes, mut records) = (all, Vec::new());
    while let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() {
        let path_bytes = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let number = number(&head[5..13])?;
        let data_bytes = self::number(&head[13..21])?;
        if rest.len() < path_bytes + data_bytes {
            break;
        }
        let (path, rest) = rest.split_at(path_bytes);
        let (data, rest) = rest.split_at(data_bytes);
        let place = all.len() - bytes.len();
        records.push((place, record(head[0], String::from_utf8(path.to_vec())?, number, data)?));
        bytes = rest;
    }
    Ok(records)
}

fn number(bytes: &[u8]) -> Fallible<usize> {
    Ok(usize::try_from(u64::from_le_bytes(bytes.try_into()?))?)
}

fn record(kind: u8, path: String, number: usize, data: &[u8]) -> Fallible<Record> {
    Ok(match kind {
        b'c' => Record::Create(path),
        b'w' => Record::Write { path, at: number, data: data.to_vec() },
        b't' => Record::Truncate { path, size: number },
        b's' => Record::Sync { path, before: number },
        b'r' => Record::Rename { from: path, to: String::from_utf8(data.to_vec())? },
        b'u' => Record::Unlink(path),
        b'd' => Record::Folder(path),
        b'x' => Record::Failed(path),
        b'm' => Record::Mapped(path),
        other => return Err(format!("a record of the unknown kind {other}").into()),
    })
}

impl Record {
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Create(path)
            | Self::Unlink(path)
            | Self::Folder(path)
            | Self::Failed(path)
            | Self::Mapped(path)
            | Self::Write { path, .. }
            | Self::Truncate { path, .. }
            | Self::Sync { path, .. } => path,
            Self::Rename { from, .. } => from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: u8, path: &str, number: u64, data: &[u8]) -> Vec<u8> {
        let path_bytes = u32::try_from(path.len()).unwrap();
        let mut all = vec![kind];
        all.extend(path_bytes.to_le_bytes());
        all.extend(number.to_le_bytes());
        all.extend((data.len() as u64).to_le_bytes());
        all.extend(path.as_bytes());
        all.extend(data);
        all
    }

    #[test]
    fn records_are_read_and_one_that_was_cut_off_is_not() {
        let mut all = bytes(b'c', "a", 0, b"");
        all.extend(bytes(b'w', "a", 7, b"data"));
        let write = Record::Write { path: "a".into(), at: 7, data: b"data".to_vec() };
        let expected = [(0, Record::Create("a".into())), (22, write)];
        assert_eq!(parse(&all).unwrap(), expected);
        assert_eq!(parse(&all[..all.len() - 1]).unwrap(), expected[..1]);
        assert_eq!(parse(&all[..30]).unwrap(), expected[..1]);
    }
}
