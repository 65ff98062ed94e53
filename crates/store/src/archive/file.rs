//! The backup file: a header line, a line at the start of each table, a line per row, and a closing line with
//! the row counts and the SHA-256 of everything before it.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use aws_lc_rs::digest;
use domain::Ticks;
use domain::secret::hex;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::{
    Archive, ArchiveError, BackupSummary, CHUNK_ROWS, CellValue, HEADS_ADVANCE, OLDEST_RESTORABLE_SCHEMA,
    RestoredAccess, RowChunk, TABLES, Table, present_name,
};
use crate::AuditContext;

const FORMAT: u32 = 1;
const CHUNKS_AHEAD: usize = 4;
/// A record has at most 1 MiB; escaped as JSON it stays below this.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Text {
    Head { aldaba_backup: u32, schema: i64, taken_at: String },
    Table { table: String },
    End { tables: BTreeMap<String, u64>, sha256: String },
    Row(Vec<Cell>),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes { hex: String },
}

impl From<CellValue> for Cell {
    fn from(value: CellValue) -> Self {
        match value {
            CellValue::Null => Self::Null,
            CellValue::Int(number) => Self::Int(number),
            CellValue::Text(text) => Self::Text(text),
            CellValue::Bytes(bytes) => Self::Bytes { hex: hex(&bytes) },
        }
    }
}

impl TryFrom<Cell> for CellValue {
    type Error = ArchiveError;

    fn try_from(cell: Cell) -> Result<Self, ArchiveError> {
        Ok(match cell {
            Cell::Null => Self::Null,
            Cell::Int(number) => Self::Int(number),
            Cell::Text(text) => Self::Text(text),
            Cell::Bytes { hex } => {
                Self::Bytes(unhex(&hex).ok_or_else(|| damaged("a row has bytes that are not hexadecimal"))?)
            }
        })
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    // `from_str_radix` accepts a leading `+`.
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn damaged(reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Damaged(reason.into())
}

struct Writing<W> {
    out: W,
    hash: digest::Context,
}

impl<W: Write> Writing<W> {
    fn line(&mut self, text: &Text) -> Result<(), ArchiveError> {
        let mut line = serde_json::to_vec(text).map_err(|error| damaged(error.to_string()))?;
        line.push(b'\n');
        self.hash.update(&line);
        Ok(self.out.write_all(&line)?)
    }
}

/// Writes a backup of the current state. A backup that fails midway has no closing line, so it cannot be
/// mistaken for a complete one.
pub async fn write<W>(store: &dyn Archive, out: W, now: Ticks) -> Result<BackupSummary, ArchiveError>
where
    W: Write + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(CHUNKS_AHEAD);
    let (all_sent, ended) = oneshot::channel();
    let (schema, taken_at) = (store.schema(), now.iso());
    let writing = tokio::task::spawn_blocking(move || write_lines(out, receiver, ended, schema, taken_at));
    let dumped = store.dump(sender).await;
    if dumped.is_ok() {
        let _ = all_sent.send(());
    } else {
        drop(all_sent);
    }
    match writing.await.map_err(|error| damaged(error.to_string()))? {
        Err(error @ ArchiveError::File(_)) => Err(error),
        written => {
            dumped?;
            written
        }
    }
}

fn write_lines<W: Write>(
    out: W,
    mut chunks: mpsc::Receiver<RowChunk>,
    ended: oneshot::Receiver<()>,
    schema: i64,
    taken_at: String,
) -> Result<BackupSummary, ArchiveError> {
    let mut file = Writing { out, hash: digest::Context::new(&digest::SHA256) };
    file.line(&Text::Head { aldaba_backup: FORMAT, schema, taken_at: taken_at.clone() })?;
    let mut tables = no_rows();
    let mut current = "";
    while let Some(chunk) = chunks.blocking_recv() {
        if chunk.table.name != current {
            current = chunk.table.name;
            file.line(&Text::Table { table: current.to_owned() })?;
        }
        *tables.entry(current.to_owned()).or_default() += chunk.rows.len() as u64;
        for row in chunk.rows {
            file.line(&Text::Row(row.into_iter().map(Cell::from).collect()))?;
        }
    }
    ended.blocking_recv().map_err(|_| damaged("the store stopped before it had sent all rows"))?;
    let sha256 = hex(file.hash.clone().finish().as_ref());
    file.line(&Text::End { tables: tables.clone(), sha256: sha256.clone() })?;
    file.out.flush()?;
    Ok(BackupSummary { schema, taken_at, rows: tables.values().sum(), tables, sha256 })
}

/// Reads a backup to its end, checks that it is complete, and passes every chunk to `take`.
fn read_lines(
    mut input: impl BufRead,
    take: impl FnMut(RowChunk) -> Result<(), ArchiveError>,
) -> Result<BackupSummary, ArchiveError> {
    let mut line = Vec::new();
    let mut hash = digest::Context::new(&digest::SHA256);
    let Text::Head { aldaba_backup: FORMAT, schema, taken_at } = next_line(&mut input, &mut line)? else {
        return Err(damaged("its first line is not a backup header"));
    };
    let mut reading = Reading { take, chunk: None, tables: no_rows() };
    loop {
        hash.update(&line);
        match next_line(&mut input, &mut line)? {
            Text::Head { .. } => return Err(damaged("it has a second header")),
            Text::Table { table } => reading.table(&table)?,
            Text::Row(cells) => reading.row(cells)?,
            Text::End { tables, sha256 } => {
                let tables = with_present_names(&tables);
                // An older backup does not list tables that it did not have.
                reading.tables.retain(|name, rows| *rows > 0 || tables.contains_key(name));
                if hex(hash.finish().as_ref()) != sha256 || tables != reading.tables {
                    return Err(damaged("its content does not match the digest at its end"));
                }
                if !input.fill_buf()?.is_empty() {
                    return Err(damaged("it has data after its closing line"));
                }
                reading.hand_over(None)?;
                return Ok(BackupSummary { schema, taken_at, rows: tables.values().sum(), tables, sha256 });
            }
        }
    }
}

fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> Result<Text, ArchiveError> {
    line.clear();
    std::io::Read::take(input, LINE_BYTES_MAX as u64).read_until(b'\n', line)?;
    if line.last() != Some(&b'\n') {
        return Err(damaged("it was cut off: its closing line is missing"));
    }
    serde_json::from_slice(line)
        .map_err(|_| damaged("it has a line that is neither a table, a row nor the closing line"))
}

/// The numbers of rows under the names that the tables have now.
fn with_present_names(tables: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    tables.iter().fold(BTreeMap::new(), |mut named, (name, rows)| {
        *named.entry(present_name(name).to_owned()).or_default() += rows;
        named
    })
}

fn no_rows() -> BTreeMap<String, u64> {
    TABLES.iter().map(|table| (table.name.to_owned(), 0)).collect()
}

/// Collects rows into chunks and counts them.
struct Reading<F> {
    take: F,
    chunk: Option<RowChunk>,
    tables: BTreeMap<String, u64>,
}

impl<F: FnMut(RowChunk) -> Result<(), ArchiveError>> Reading<F> {
    fn table(&mut self, name: &str) -> Result<(), ArchiveError> {
        let table =
            Table::find(name).ok_or_else(|| damaged(format!("it has an unknown table \"{name}\"")))?;
        self.hand_over(Some(table))
    }

    fn row(&mut self, cells: Vec<Cell>) -> Result<(), ArchiveError> {
        let chunk = self.chunk.as_mut().ok_or_else(|| damaged("it has a row before its first table"))?;
        let cells = cells.into_iter().map(CellValue::try_from);
        chunk.rows.push(cells.collect::<Result<_, _>>()?);
        *self.tables.entry(chunk.table.name.to_owned()).or_default() += 1;
        let table = chunk.table;
        if chunk.rows.len() >= CHUNK_ROWS {
            self.hand_over(Some(table))?;
        }
        Ok(())
    }

    /// Passes on the current chunk and starts the next one if a table follows.
    fn hand_over(&mut self, next: Option<&'static Table>) -> Result<(), ArchiveError> {
        let next = next.map(|table| RowChunk { table, rows: Vec::new() });
        match std::mem::replace(&mut self.chunk, next) {
            Some(full) if !full.rows.is_empty() => (self.take)(full),
            _ => Ok(()),
        }
    }
}

/// Checks that a backup is complete without writing anything.
pub fn verify(input: impl BufRead) -> Result<BackupSummary, ArchiveError> {
    read_lines(input, |_| Ok(()))
}

/// Restores a backup that `verify` has checked into an empty store, so a damaged backup is never restored in
/// part. The store does not open again until the caller has called [`Archive::end_restore`].
pub async fn read<R>(
    store: &dyn Archive,
    verified: &BackupSummary,
    input: R,
    access: RestoredAccess,
    context: &AuditContext,
) -> Result<(), ArchiveError>
where
    R: BufRead + Send + 'static,
{
    if !(OLDEST_RESTORABLE_SCHEMA..=store.schema()).contains(&verified.schema) {
        return Err(ArchiveError::OtherSchema { found: verified.schema, known: store.schema() });
    }
    if !store.is_empty().await? {
        return Err(ArchiveError::NotEmpty);
    }
    let (sender, mut receiver) = mpsc::channel(CHUNKS_AHEAD);
    let reading = tokio::task::spawn_blocking(move || {
        read_lines(input, |chunk| {
            sender.blocking_send(chunk).map_err(|_| damaged("the store stopped accepting rows"))
        })
    });
    let mut has_begun = false;
    while let Some(mut chunk) = receiver.recv().await {
        chunk.upgrade(verified.schema);
        let chunk = if chunk.table.name == "meta" { without_vault(store, chunk)? } else { chunk };
        // Not earlier: a backup of another master key is refused before anything is written.
        if !std::mem::replace(&mut has_begun, true) {
            store.begin_restore().await?;
        }
        store.load(chunk).await?;
    }
    let summary = reading.await.map_err(|error| damaged(error.to_string()))??;
    if summary != *verified {
        return Err(damaged("the file changed during the restore"));
    }
    for table in TABLES.iter().filter(|table| table.name != "meta") {
        let (found, promised) =
            (store.count_rows(table).await?, summary.tables.get(table.name).copied().unwrap_or(0));
        if found != promised {
            return Err(damaged(format!(
                "table {} has {found} rows after the restore, but the backup lists {promised}",
                table.name
            )));
        }
    }
    Ok(store.finish_restore(HEADS_ADVANCE, verified, access, context).await?)
}

/// Drops the backup's vault check, since the store has its own; fails unless both open with the same master
/// key.
fn without_vault(store: &dyn Archive, mut chunk: RowChunk) -> Result<RowChunk, ArchiveError> {
    let is_vault = |row: &Vec<CellValue>| row.first() == Some(&CellValue::Text("vault".into()));
    for row in chunk.rows.iter().filter(|row| is_vault(row)) {
        if let Some(CellValue::Bytes(sealed)) = row.get(1) {
            store.check_vault(sealed)?;
        }
    }
    chunk.rows.retain(|row| !is_vault(row));
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_is_two_hexadecimal_digits() {
        assert_eq!(unhex("0aFf"), Some(vec![0x0a, 0xff]));
        for wrong in ["0", "+f", "-0", "0g", "é"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
    }
}
