//! Backups that must not be restored: damaged, of another master key or schema, or into what is not empty.

use std::fs;

use async_trait::async_trait;
use domain::Secret;
use store::archive::{self, RowChunk, TABLES, Table};
use store::{Archive, ArchiveError, BackupSummary, CellValue, Result, StoreError};
use tokio::sync::mpsc;

use super::backup::{Backup, restore};
use super::rows::furnish;
use crate::suite::codes::{chosen, code};
use crate::suite::desk::company;
use crate::suite::secrets::signing_key;
use crate::suite::sessions::begun;
use crate::suite::stage::{Ground, Stage, another_key, the_key};

fn verify(bytes: &[u8]) -> std::result::Result<BackupSummary, ArchiveError> {
    archive::verify(bytes)
}

fn assert_damaged(bytes: &[u8], what: &str) {
    let answer = verify(bytes);
    assert!(matches!(answer, Err(ArchiveError::Damaged(_))), "{what}: {answer:?}");
}

pub(crate) async fn a_damaged_backup_is_refused(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1"), company("c2")]).await;
    stage.store.add_signing_key(&signing_key("kid", stage.now()), None).await.unwrap();
    let backup = Backup::of(&stage.handle, &stage).await;
    let whole = fs::read(backup.path()).unwrap();
    verify(&whole).unwrap();
    for at in 0..whole.len() {
        for bit in [7, 0x20] {
            let mut flipped = whole.clone();
            flipped[at] ^= bit;
            assert_damaged(&flipped, &format!("byte {at} of {} ^ {bit}", whole.len()));
        }
    }
    for end in (0..whole.len()).step_by(5).chain(whole.len() - 70..whole.len()) {
        assert_damaged(&whole[..end], &format!("the first {end} bytes"));
    }
    assert_damaged(&[&whole[..], b"\n"].concat(), "a line too many");
    assert_damaged(&[&whole[..], &whole[..]].concat(), "twice the same");
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    lines.remove(3);
    assert_damaged(&lines.concat(), "a line is missing");

    // One that was whole when it was looked at and is not when it is read is told as well.
    let ground = Ground::fresh(stage.kind).await;
    let empty = ground.open(stage.ports(&the_key())).await.unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(backup.path(), flipped).unwrap();
    let answer = backup.restore(&empty).await;
    assert!(matches!(answer, Err(ArchiveError::Damaged(_))), "{answer:?}");
}

pub(crate) async fn only_an_empty_store_takes_a_backup(stage: Stage) {
    furnish(&stage).await;
    let backup = Backup::of(&stage.handle, &stage).await;
    let refused = backup.restore(&stage.handle).await;
    assert!(matches!(refused, Err(ArchiveError::NotEmpty)), "{refused:?}");

    // Whatever it is that somebody has put there.
    for thing in ["a signing key", "an erased tenant", "a code", "an audit record", "dev credentials"] {
        let ground = Ground::fresh(stage.kind).await;
        let target = ground.open(stage.ports(&the_key())).await.unwrap();
        assert!(target.archive().is_empty().await.unwrap());
        let key = signing_key("kid-2", stage.now());
        match thing {
            "a signing key" => assert!(target.store.add_signing_key(&key, None).await.unwrap()),
            "an erased tenant" => {
                let tenant = crate::suite::stage::tenant("t", stage.now());
                target.store.add_tenant(&tenant).await.unwrap();
                target.store.erase_tenant(&tenant.id).await.unwrap();
            }
            "a code" => {
                let (secret, now) = (Secret::new("code-9"), stage.now());
                target.store.store_code(&secret, &code(now), &chosen(), now).await.unwrap();
            }
            "an audit record" => target.store.record(&begun("maria", stage.now())).await.unwrap(),
            _ => target.store.save_dev_credentials("{}").await.unwrap(),
        }
        let refused = backup.restore(&target).await;
        assert!(matches!(refused, Err(ArchiveError::NotEmpty)), "{thing}: {refused:?}");
    }
}

pub(crate) async fn another_master_key_restores_nothing(stage: Stage) {
    furnish(&stage).await;
    let backup = Backup::of(&stage.handle, &stage).await;
    let ground = Ground::fresh(stage.kind).await;
    let target = ground.open(stage.ports(&another_key())).await.unwrap();
    let refused = backup.restore(&target).await;
    assert!(matches!(refused, Err(ArchiveError::Store(StoreError::WrongMasterKey))), "{refused:?}");
    assert!(target.archive().is_empty().await.unwrap(), "nothing was restored");
}

/// A backup of a schema that this program does not have, whole in itself.
pub(crate) async fn another_schema_is_refused(stage: Stage) {
    let future = OfTheFuture;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let summary = archive::write(&future, fs::File::create(&path).unwrap(), stage.now()).await.unwrap();
    verify(&fs::read(&path).unwrap()).unwrap();
    let refused = restore(&path, &summary, stage.handle.archive()).await;
    let known = stage.handle.archive().schema();
    let expected = format!(
        "the backup's schema is version 99, this program's is {known}; restore it with the program that made it, then upgrade"
    );
    assert_eq!(refused.unwrap_err().to_string(), expected);
}

pub(crate) async fn a_backup_that_was_cut_short_is_never_whole(stage: Stage) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let cut = archive::write(&CutShort, fs::File::create(&path).unwrap(), stage.now()).await;
    let lost = StoreError::Unavailable("the server went away".into());
    assert!(matches!(cut, Err(ArchiveError::Store(error)) if error == lost));
    assert_damaged(&fs::read(&path).unwrap(), "what was written until then");

    furnish(&stage).await;
    let full = archive::write(stage.handle.archive(), FullDisk, stage.now()).await;
    assert!(matches!(full, Err(ArchiveError::File(_))), "the file's own fault is told: {full:?}");
}

/// A store that gives out nothing, in a schema that nobody knows.
struct OfTheFuture;

/// A store that is lost after its first rows.
struct CutShort;

macro_rules! archive_of_rows {
    ($name:ident, $schema:expr, $dump:expr) => {
        #[async_trait]
        impl Archive for $name {
            async fn dump(&self, out: mpsc::Sender<RowChunk>) -> Result<()> {
                let rows = vec![vec![CellValue::Text("dev".into()), CellValue::Bytes(vec![1, 2])]];
                out.send(RowChunk { table: &TABLES[0], rows })
                    .await
                    .map_err(|_| StoreError::Internal("closed".into()))?;
                $dump
            }

            async fn is_empty(&self) -> Result<bool> {
                Ok(false)
            }

            async fn load(&self, _: RowChunk) -> Result<()> {
                unreachable!("nothing is restored into this one")
            }

            async fn count_rows(&self, _: &'static Table) -> Result<u64> {
                Ok(0)
            }

            async fn finish_restore(&self, _: u64) -> Result<()> {
                Ok(())
            }

            fn check_vault(&self, _: &[u8]) -> Result<()> {
                Ok(())
            }

            fn schema(&self) -> i64 {
                $schema
            }
        }
    };
}

archive_of_rows!(OfTheFuture, 99, Ok(()));
archive_of_rows!(CutShort, 1, Err(StoreError::Unavailable("the server went away".into())));

/// A file on a disk without room.
struct FullDisk;

impl std::io::Write for FullDisk {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
