//! Backups of an earlier schema can be restored into a current store.

use std::fs::File;

use async_trait::async_trait;
use domain::subscription::Products;
use store::archive::{self, RowChunk, Table};
use store::{Archive, CellValue, FIRST_REVISION, RestoredAccess, Result};
use tokio::sync::mpsc;

use super::backup::restore;
use super::rows::{fill_every_table, rows};
use crate::suite::fixture::{Fixture, Storage, master_key};

/// Tables that have more columns since schema 6, with the values that their rows get.
fn added_columns() -> [(&'static str, Vec<CellValue>); 4] {
    let first = CellValue::Int(i64::try_from(FIRST_REVISION).unwrap());
    let products = CellValue::Int(Products::all().bits());
    [
        ("tenants", vec![first.clone()]),
        ("users", vec![first.clone()]),
        ("clients", vec![first.clone(), products]),
        ("subscriptions", vec![first]),
    ]
}

/// How many columns webhooks have got since schema 6.
const WEBHOOK_COLUMNS_SINCE: usize = 4;

/// The archive of a current store, with its rows in the form of schema 6.
struct Schema6Archive<'a>(&'a dyn Archive);

#[async_trait]
impl Archive for Schema6Archive<'_> {
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
        let (sender, mut chunks) = mpsc::channel::<RowChunk>(4);
        let forward = async {
            while let Some(mut chunk) = chunks.recv().await {
                if let Some((_, added)) = added_columns().iter().find(|(table, _)| *table == chunk.table.name)
                {
                    chunk.rows.iter_mut().for_each(|row| row.truncate(row.len() - added.len()));
                }
                if chunk.table.name == "webhooks" {
                    chunk.rows.iter_mut().for_each(|row| row.truncate(row.len() - WEBHOOK_COLUMNS_SINCE));
                }
                out.send(chunk).await.unwrap();
            }
        };
        tokio::join!(self.0.dump(sender), forward).0
    }

    async fn is_empty(&self) -> Result<bool> {
        self.0.is_empty().await
    }

    async fn load(&self, chunk: RowChunk) -> Result<()> {
        self.0.load(chunk).await
    }

    async fn count_rows(&self, table: &'static Table) -> Result<u64> {
        self.0.count_rows(table).await
    }

    async fn settle_access(&self, access: RestoredAccess) -> Result<()> {
        self.0.settle_access(access).await
    }

    async fn finish_restore(&self, heads_advance: u64) -> Result<()> {
        self.0.finish_restore(heads_advance).await
    }

    fn check_vault(&self, sealed_check: &[u8]) -> Result<()> {
        self.0.check_vault(sealed_check)
    }

    fn schema(&self) -> i64 {
        6
    }
}

pub(crate) async fn backup_of_schema_6_is_restored(fixture: Fixture) {
    fill_every_table(&fixture).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let old = Schema6Archive(fixture.handle.archive());
    let summary = archive::write(&old, File::create(&path).unwrap(), fixture.now()).await.unwrap();
    let storage = Storage::create(fixture.kind).await;
    let target = storage.open(fixture.ports(&master_key())).await.unwrap();
    restore(&path, &summary, target.archive()).await.unwrap();

    let (mut before, after) = (rows(fixture.handle.archive()).await, rows(target.archive()).await);
    for (table, added) in added_columns() {
        for row in before.get_mut(table).unwrap() {
            row.truncate(row.len() - added.len());
            row.extend(added.iter().cloned());
        }
        assert!(!after[table].is_empty());
        assert_eq!(after[table], before[table], "{table}");
    }
}
