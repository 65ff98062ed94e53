//! Restores that are refused: damaged backups, another master key or schema, and stores that are not empty.

use std::fs;

use async_trait::async_trait;
use domain::Secret;
use store::archive::{self, RowChunk, TABLES, Table};
use store::{
    Archive, ArchiveError, AuditContext, BackupSummary, CellValue, RestoredAccess, Result, StoreError,
};
use tokio::sync::mpsc;

use super::backup::{Backup, restore};
use super::rows::fill_every_table;
use crate::suite::codes::{code, membership_id};
use crate::suite::fixture::{Fixture, Storage, by, master_key, other_master_key};
use crate::suite::sessions::sign_in_entry;
use crate::suite::signing_keys::signing_key;
use crate::suite::test_tenant::company;

fn verify(bytes: &[u8]) -> std::result::Result<BackupSummary, ArchiveError> {
    archive::verify(bytes)
}

fn assert_damaged(bytes: &[u8], what: &str) {
    let answer = verify(bytes);
    assert!(matches!(answer, Err(ArchiveError::Damaged(_))), "{what}: {answer:?}");
}

pub(crate) async fn damaged_backup_is_refused(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), company("c2")]).await;
    fixture.store.add_signing_key(&signing_key("kid", fixture.now()), None, &by()).await.unwrap();
    let backup = Backup::of(&fixture.handle, &fixture).await;
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

    // A backup that is damaged after its verification is refused as well.
    let storage = Storage::create(fixture.kind).await;
    let empty = storage.open(fixture.ports(&master_key())).await.unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    fs::write(backup.path(), flipped).unwrap();
    let answer = backup.restore(&empty).await;
    assert!(matches!(answer, Err(ArchiveError::Damaged(_))), "{answer:?}");
}

pub(crate) async fn restore_needs_an_empty_store(fixture: Fixture) {
    fill_every_table(&fixture).await;
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let refused = backup.restore(&fixture.handle).await;
    assert!(matches!(refused, Err(ArchiveError::NotEmpty)), "{refused:?}");

    // Any row makes a store not empty.
    for thing in ["a signing key", "an erased tenant", "a code", "an audit record", "dev credentials"] {
        let storage = Storage::create(fixture.kind).await;
        let target = storage.open(fixture.ports(&master_key())).await.unwrap();
        assert!(target.archive().is_empty().await.unwrap());
        let key = signing_key("kid-2", fixture.now());
        match thing {
            "a signing key" => assert!(target.store.add_signing_key(&key, None, &by()).await.unwrap()),
            "an erased tenant" => {
                let tenant = crate::suite::fixture::new_tenant("t", fixture.now());
                target.store.add_tenant(&tenant, &by()).await.unwrap();
                target.store.erase_tenant(&tenant.id, &by()).await.unwrap();
            }
            "a code" => {
                let (secret, now) = (Secret::new("code-9"), fixture.now());
                target.store.store_code(&secret, &code(now), &membership_id(), now, &by()).await.unwrap();
            }
            "an audit record" => target.store.record(&sign_in_entry("maria", fixture.now())).await.unwrap(),
            _ => target.store.save_dev_credentials("{}").await.unwrap(),
        }
        let refused = backup.restore(&target).await;
        assert!(matches!(refused, Err(ArchiveError::NotEmpty)), "{thing}: {refused:?}");
    }
}

pub(crate) async fn restore_needs_the_same_master_key(fixture: Fixture) {
    fill_every_table(&fixture).await;
    let backup = Backup::of(&fixture.handle, &fixture).await;
    let storage = Storage::create(fixture.kind).await;
    let target = storage.open(fixture.ports(&other_master_key())).await.unwrap();
    let refused = backup.restore(&target).await;
    assert!(matches!(refused, Err(ArchiveError::Store(StoreError::WrongMasterKey))), "{refused:?}");
    assert!(target.archive().is_empty().await.unwrap(), "nothing was restored");
}

/// A backup of a schema that this program does not have, whole in itself.
pub(crate) async fn backup_of_a_newer_schema_is_refused(fixture: Fixture) {
    let future = NewerArchive;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let summary = archive::write(&future, fs::File::create(&path).unwrap(), fixture.now()).await.unwrap();
    verify(&fs::read(&path).unwrap()).unwrap();
    let refused = restore(&path, &summary, fixture.handle.archive()).await;
    let known = fixture.handle.archive().schema();
    let expected = format!(
        "the backup's schema is version 99, this program's is {known}; restore it with the program that made it, then upgrade"
    );
    assert_eq!(refused.unwrap_err().to_string(), expected);
}

pub(crate) async fn interrupted_backup_is_damaged(fixture: Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let cut = archive::write(&InterruptedArchive, fs::File::create(&path).unwrap(), fixture.now()).await;
    let lost = StoreError::Unavailable("the server went away".into());
    assert!(matches!(cut, Err(ArchiveError::Store(error)) if error == lost));
    assert_damaged(&fs::read(&path).unwrap(), "the part written before the failure");

    fill_every_table(&fixture).await;
    let full = archive::write(fixture.handle.archive(), FullDisk, fixture.now()).await;
    assert!(matches!(full, Err(ArchiveError::File(_))), "the file's own error is returned: {full:?}");
}

/// An archive with one row and an unknown, newer schema.
struct NewerArchive;

/// An archive that fails after its first row.
struct InterruptedArchive;

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
                unreachable!("nothing is restored into this archive")
            }

            async fn count_rows(&self, _: &'static Table) -> Result<u64> {
                Ok(0)
            }

            async fn begin_restore(&self) -> Result<()> {
                Ok(())
            }

            async fn end_restore(&self) -> Result<()> {
                Ok(())
            }

            async fn finish_restore(
                &self,
                _: u64,
                _: &BackupSummary,
                _: RestoredAccess,
                _: &AuditContext,
            ) -> Result<()> {
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

archive_of_rows!(NewerArchive, 99, Ok(()));
archive_of_rows!(InterruptedArchive, 1, Err(StoreError::Unavailable("the server went away".into())));

/// A file on a full disk.
struct FullDisk;

impl std::io::Write for FullDisk {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
