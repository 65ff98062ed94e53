//! The limit for pages that are not cached: a bare axum handler that reads the page from the program's own SQLite file with
//! one prepared statement on the serving thread, and does nothing else.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::Fallible;

const COLLECTION_NUMBER: &str =
    "SELECT no FROM places WHERE tenant_no = 1 AND company_no = 1 AND resource = ?1";
const PAGE: &str = "SELECT body FROM records WHERE row >= ?1 ORDER BY row LIMIT 25";

/// A database file, and the number of its customer collection.
struct CustomerPages {
    connection: Connection,
    collection_number: i64,
}

/// Serves `/page?pageNumber=N` from a file that the program has filled.
pub(crate) fn routes(file: &Path) -> Fallible<Router> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.execute_batch("PRAGMA cache_size = -8192")?;
    // As in the program: otherwise SQLite would plan the statement again each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let collection_number =
        connection.query_row(COLLECTION_NUMBER, [domain::Resource::customers().code()], |row| row.get(0))?;
    let pages = CustomerPages { connection, collection_number };
    Ok(Router::new().route("/page", get(page)).with_state(Arc::new(Mutex::new(pages))))
}

async fn page(
    State(pages): State<Arc<Mutex<CustomerPages>>>,
    RawQuery(query): RawQuery,
) -> impl IntoResponse {
    let number =
        query.unwrap_or_default().rsplit_once("pageNumber=").and_then(|(_, number)| number.parse().ok());
    let body = read(&pages.lock().unwrap_or_else(PoisonError::into_inner), number.unwrap_or(1));
    ([(CONTENT_TYPE, "application/json")], body.unwrap_or_default())
}

fn read(pages: &CustomerPages, number: i64) -> rusqlite::Result<Vec<u8>> {
    let mut find = pages.connection.prepare_cached(PAGE)?;
    let mut rows = find.query([pages.collection_number << 32 | ((number - 1) * 25 + 1)])?;
    let mut array = Vec::with_capacity(10_000);
    while let Some(row) = rows.next()? {
        array.push(if array.is_empty() { b'[' } else { b',' });
        array.extend_from_slice(row.get_ref(0)?.as_bytes()?);
    }
    array.push(b']');
    Ok(array)
}
