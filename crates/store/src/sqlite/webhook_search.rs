//! The search for webhooks of all owners in SQLite.

use async_trait::async_trait;
use domain::{Ticks, WebhookId};
use rusqlite::{Connection, params_from_iter};

use super::team_webhooks::listed;
use super::webhooks::bound_conditions;
use super::{SqliteStore, store_error};
use crate::rows::{Columns, SqliteRow};
use crate::webhooks::search_page;
use crate::{ListedWebhook, ListedWebhooks, Result, WebhookSearch, WebhookSearches};

type Position = (Ticks, WebhookId);

/// The positions of what was found, one more than a page has; and the last webhook that was looked at, if there may be more.
fn positions(reader: &Connection, search: &WebhookSearch) -> Result<(Vec<Position>, Option<Position>)> {
    let (mut indexed, args) = bound_conditions(&search.query);
    indexed.extend(search.indexed_status().map(str::to_owned));
    if indexed.is_empty() {
        indexed.push("true".to_owned());
    }
    // Rows are read one by one: the database decides about no more of them than the page needs.
    let sql = format!(
        "SELECT w.created_at, w.id, {} AS is_wanted FROM webhooks w WHERE {} ORDER BY w.created_at, w.id LIMIT {}",
        search.checked_conditions().join(" AND "),
        indexed.join(" AND "),
        search.looks_max()
    );
    let read = || -> rusqlite::Result<(Vec<Position>, Option<Position>)> {
        let mut all = reader.prepare_cached(&sql)?;
        let mut rows = all.query(params_from_iter(&args))?;
        let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
        while let Some(row) = rows.next()? {
            let row = SqliteRow::new(row);
            let position = (row.read("created_at")?, row.read("id")?);
            (looked_at, last) = (looked_at + 1, Some(position));
            // Null: a condition on what the webhook does not have.
            if row.read::<Option<bool>>("is_wanted")?.unwrap_or(false) {
                found.push(position);
            }
            if found.len() > search.rows_max() {
                break;
            }
        }
        Ok((found, last.filter(|_| looked_at == search.looks_max())))
    };
    read().map_err(store_error)
}

#[async_trait]
impl WebhookSearches for SqliteStore {
    async fn search_webhooks(&self, search: &WebhookSearch) -> Result<ListedWebhooks> {
        self.read_fresh_snapshot(|reader| {
            let (found, last_looked_at) = positions(reader, search)?;
            let (page, next) = search_page(found, search, last_looked_at);
            let rows: Result<Vec<Option<ListedWebhook>>> =
                page.into_iter().map(|id| listed(reader, self.ports(), id, search.behind_max())).collect();
            Ok(ListedWebhooks { rows: rows?.into_iter().flatten().collect(), next })
        })
    }
}
