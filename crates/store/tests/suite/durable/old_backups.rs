//! Backups of an earlier schema restore into a store of today.

use std::fs::File;

use async_trait::async_trait;
use store::archive::{self, RowChunk, Table};
use store::{Archive, CellValue, FIRST_REVISION, Result};
use tokio::sync::mpsc;

use super::backup::restore;
use super::rows::{furnish, rows};
use crate::suite::stage::{Ground, Stage, the_key};

/// Tables that have a revision, as their last column, since schema 7.
const WITH_REVISION: [&str; 4] = ["tenants", "users", "clients", "subscriptions"];

/// A store of today that gives out its rows as one of schema 6.
struct SchemaSix<'a>(&'a dyn Archive);

#[async_trait]
impl Archive for SchemaSix<'_> {
    async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
        let (sender, mut chunks) = mpsc::channel::<RowChunk>(4);
        let forward = async {
            while let Some(mut chunk) = chunks.recv().await {
                if WITH_REVISION.contains(&chunk.table.name) {
                    chunk.rows.iter_mut().for_each(|row| drop(row.pop()));
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

pub(crate) async fn a_backup_of_schema_6_restores(stage: Stage) {
    furnish(&stage).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let old = SchemaSix(stage.handle.archive());
    let summary = archive::write(&old, File::create(&path).unwrap(), stage.now()).await.unwrap();
    let ground = Ground::fresh(stage.kind).await;
    let target = ground.open(stage.ports(&the_key())).await.unwrap();
    restore(&path, &summary, target.archive()).await.unwrap();

    let (mut before, after) = (rows(stage.handle.archive()).await, rows(target.archive()).await);
    for table in WITH_REVISION {
        let first = CellValue::Int(i64::try_from(FIRST_REVISION).unwrap());
        for row in before.get_mut(table).unwrap() {
            *row.last_mut().unwrap() = first.clone();
        }
        assert!(!after[table].is_empty());
        assert_eq!(after[table], before[table], "{table}");
    }
}
