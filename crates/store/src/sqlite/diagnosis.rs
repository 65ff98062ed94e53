//! Reads the settings of the file that the doctor judges, over a connection like those that write.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::time::Instant;

use super::{SqliteStore, connect, store_error};
use crate::plan::unsigned;
use crate::{Result, SqliteDiagnosis};

/// Larger files take too long to read.
const CHECKED_BYTES_MAX: u64 = 32 * 1024 * 1024;
const CHECK_TIME_MAX: Duration = Duration::from_millis(500);
/// Steps of SQLite's machine between two looks at the time.
const STEPS: i32 = 10_000;

impl SqliteStore {
    /// Opens the file and reads its settings; `None` where there is none yet. Blocks for half a second at most.
    pub fn diagnose(path: &Path) -> Result<Option<SqliteDiagnosis>> {
        if !path.exists() {
            return Ok(None);
        }
        let mut connection = connect(path)?;
        let number = |connection: &Connection, name: &str| {
            connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(store_error)
        };
        let journal_mode =
            connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(store_error)?;
        let synchronous = number(&connection, "synchronous")?;
        let bytes = unsigned(number(&connection, "page_count")? * number(&connection, "page_size")?);
        let integrity = if bytes <= CHECKED_BYTES_MAX {
            quick_check(&mut connection).map_err(store_error)?
        } else {
            None
        };
        Ok(Some(SqliteDiagnosis { journal_mode, synchronous, bytes, integrity }))
    }
}

/// The first fault; `None` if there was not enough time.
fn quick_check(connection: &mut Connection) -> rusqlite::Result<Option<std::result::Result<(), String>>> {
    let started = Instant::now();
    connection.progress_handler(STEPS, Some(move || started.elapsed() > CHECK_TIME_MAX))?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked {
        Ok(text) if text == "ok" => Ok(Some(Ok(()))),
        Ok(fault) => Ok(Some(Err(fault))),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(None),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Ok(Some(Err(error.to_string()))),
            _ => Err(error),
        },
    }
}
