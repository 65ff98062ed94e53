//! The search for webhooks of all owners in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{Ticks, WebhookId};
use tokio_postgres::types::ToSql;

use super::rows::{rows, snapshot};
use super::webhooks::bound_conditions;
use super::{PostgresStore, store_error};
use crate::rows::Columns;
use crate::webhooks::search_page;
use crate::{ListedWebhooks, Result, WebhookSearch, WebhookSearches};

type Position = (Ticks, WebhookId);

/// The positions of what was found, one more than a page has; and the last webhook that was looked at, if there may be more.
async fn positions(
    on: &Transaction<'_>,
    search: &WebhookSearch,
) -> Result<(Vec<Position>, Option<Position>)> {
    let (mut indexed, args) = bound_conditions(&search.query);
    let args: Vec<&(dyn ToSql + Sync)> = args.iter().map(|arg| &**arg as &(dyn ToSql + Sync)).collect();
    indexed.extend(search.indexed_status().map(str::to_owned));
    if indexed.is_empty() {
        indexed.push("true".to_owned());
    }
    let looked_at = format!(
        "FROM webhooks w WHERE {} ORDER BY w.created_at, w.id LIMIT {}",
        indexed.join(" AND "),
        search.looks_max()
    );
    let read = async |sql: &str| -> Result<Vec<Position>> {
        let found = rows(on, sql, &args).await?;
        found.iter().map(|row| Ok((row.read("created_at")?, row.read("id")?))).collect()
    };
    let page = search.rows_max() + 1;
    let found = read(&format!(
        "SELECT w.created_at, w.id FROM (SELECT w.* {looked_at}) w
         WHERE {} ORDER BY w.created_at, w.id LIMIT {page}",
        search.checked_conditions().join(" AND ")
    ))
    .await?;
    if found.len() == page {
        return Ok((found, None));
    }
    let last = search.looks_max() - 1;
    let last =
        read(&format!("SELECT created_at, id FROM (SELECT w.created_at, w.id {looked_at}) w OFFSET {last}"))
            .await?;
    Ok((found, last.first().copied()))
}

#[async_trait]
impl WebhookSearches for PostgresStore {
    async fn search_webhooks(&self, search: &WebhookSearch) -> Result<ListedWebhooks> {
        let mut client = self.client().await?;
        let on = snapshot(&mut client).await?;
        let (found, last_looked_at) = positions(&on, search).await?;
        let (page, next) = search_page(found, search, last_looked_at);
        let rows = self.listed(&on, &page, search.behind_max()).await?;
        on.commit().await.map_err(store_error)?;
        Ok(ListedWebhooks { rows, next })
    }
}
