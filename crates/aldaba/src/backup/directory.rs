//! The directory of backups: one is made at a time, the newest are kept, and nothing but backups is touched.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use domain::Ticks;
use operator::operations::backups::{BackupFile, BackupName};
use rustix::fs::OFlags;

use super::file::PARTIAL;
use crate::durable;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Locked while a backup is made, by whichever process makes it.
const LOCK: &str = "aldaba-backup.lock";
/// A directory with more files is not the service's own.
const FILES_MAX: usize = 20_000;

#[derive(Clone, Debug)]
pub(crate) struct Directory {
    pub(crate) path: PathBuf,
    pub(crate) keep: usize,
}

/// The right to make a backup, until it is dropped.
#[derive(Debug)]
pub(crate) struct NameReservation {
    pub(crate) name: BackupName,
    /// The size of the backup before this one.
    pub(crate) expected_bytes: Option<u64>,
    _lock: File,
}

impl Directory {
    /// Newest first; an absent directory has none.
    pub(crate) fn list(&self) -> Result<Vec<BackupFile>> {
        let mut found: Vec<BackupFile> = Vec::new();
        for name in self.file_names()? {
            let Some(name) = BackupName::parse(&name) else { continue };
            let is_file = self.path_of(&name).symlink_metadata().ok().filter(std::fs::Metadata::is_file);
            if let (Some(metadata), Some(taken_at)) = (is_file, name.taken_at()) {
                let is_encrypted = name.is_encrypted();
                found.push(BackupFile { name, taken_at, bytes: metadata.len(), is_encrypted });
            }
        }
        found.sort_by(|one, other| other.name.cmp(&one.name));
        Ok(found)
    }

    fn file_names(&self) -> Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let names = entries.take(FILES_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.collect())
    }

    pub(crate) fn path_of(&self, name: &BackupName) -> PathBuf {
        self.path.join(name.to_string())
    }

    /// Reserves the name of the next backup; none if another backup is being made. Incomplete files of earlier backups are
    /// deleted.
    pub(crate) fn reserve_name(&self, now: Ticks, is_encrypted: bool) -> Result<Option<NameReservation>> {
        durable::create_folder(&self.path, FOLDER_MODE)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .custom_flags(no_follow())
            .open(self.path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        self.delete_incomplete()?;
        let expected_bytes = self.list()?.first().map(|newest| newest.bytes);
        let is_free = |name: &BackupName| {
            let (plain, encrypted) = (name.to_string(), format!("{name}.age"));
            [plain, encrypted].iter().all(|name| self.path.join(name).symlink_metadata().is_err())
        };
        let mut names = (1..1000).map(|number| BackupName::new(now, number, is_encrypted));
        let name = names.find(is_free).ok_or_else(|| Error::other("there is no free name for a backup"))?;
        Ok(Some(NameReservation { name, expected_bytes, _lock: lock }))
    }

    fn delete_incomplete(&self) -> Result<()> {
        let is_incomplete = |name: &str| {
            let end = name.strip_suffix(PARTIAL).and_then(|name| name.rsplit_once('.'));
            end.is_some_and(|(name, _)| BackupName::parse(name).is_some())
        };
        for name in self.file_names()?.iter().filter(|name| is_incomplete(name)) {
            std::fs::remove_file(self.path.join(name))?;
        }
        Ok(())
    }

    /// Deletes the oldest backups beyond those that are kept, and returns their names. The one just made is always kept, also
    /// where the clock was ahead when older ones were made.
    pub(crate) fn prune(&self, made: &BackupName) -> Result<Vec<BackupName>> {
        let others = self.list()?.into_iter().map(|file| file.name).filter(|name| name != made);
        let old: Vec<BackupName> = others.skip(self.keep.saturating_sub(1)).collect();
        for name in &old {
            std::fs::remove_file(self.path_of(name))?;
        }
        Ok(old)
    }

    /// A backup for reading; none if there is no such file. Links are not followed.
    pub(crate) fn open(&self, name: &BackupName) -> Result<Option<(File, u64)>> {
        let opened = OpenOptions::new().read(true).custom_flags(no_follow()).open(self.path_of(name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then_some((file, metadata.len())))
    }
}

fn no_follow() -> i32 {
    i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default()
}

/// `why` with the directory's path.
pub(crate) fn unusable(directory: &Path, why: &Error) -> String {
    format!("the backup directory {} cannot be used: {why}", directory.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Ticks {
        Ticks::parse_iso(text).unwrap()
    }

    fn directory(keep: usize) -> (tempfile::TempDir, Directory) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/backups");
        (folder, Directory { path, keep })
    }

    fn names(directory: &Directory) -> Vec<String> {
        directory.list().unwrap().iter().map(|one| one.name.to_string()).collect()
    }

    #[test]
    fn one_backup_at_a_time_and_never_the_same_name() {
        let (_folder, directory) = directory(7);
        assert_eq!(directory.list().unwrap(), [], "it does not exist yet");
        let now = at("2026-11-15T08:30:00Z");
        let first = directory.reserve_name(now, false).unwrap().unwrap();
        assert!(directory.reserve_name(now, false).unwrap().is_none());
        std::fs::write(directory.path_of(&first.name), "12345").unwrap();
        drop(first);
        let second = directory.reserve_name(now, false).unwrap().unwrap();
        assert_eq!(second.name.to_string(), "aldaba-20261115T083000Z-2.ndjson");
        assert_eq!(second.expected_bytes, Some(5));
    }

    #[test]
    fn newest_are_kept_and_other_files_are_left_alone() {
        let (_folder, directory) = directory(2);
        drop(directory.reserve_name(at("2026-11-15T08:30:00Z"), false).unwrap());
        let kept = ["aldaba-20261113T000000Z.ndjson.age", "aldaba-20261112T000000Z.ndjson"];
        let made = BackupName::parse(kept[0]).unwrap();
        let old = ["aldaba-20261111T000000Z.ndjson", "aldaba-20251111T000000Z-3.ndjson.age"];
        let others = ["before.ndjson", "aldaba.db", "aldaba-20261111T000000Z.txt"];
        for name in kept.iter().chain(&old).chain(&others) {
            std::fs::write(directory.path.join(name), "x").unwrap();
        }
        let pruned: Vec<String> = directory.prune(&made).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(pruned, old);
        assert_eq!(names(&directory), kept);
        assert!(others.iter().all(|name| directory.path.join(name).exists()));
    }

    #[test]
    fn backup_just_made_is_kept_though_others_seem_newer() {
        let (_folder, directory) = directory(2);
        drop(directory.reserve_name(at("2026-11-15T08:30:00Z"), false).unwrap());
        let [newer, newest, made] = ["20281113", "20291113", "20261115"]
            .map(|day| BackupName::parse(&format!("aldaba-{day}T000000Z.ndjson")).unwrap());
        for name in [&newer, &newest, &made] {
            std::fs::write(directory.path_of(name), "x").unwrap();
        }
        assert_eq!(directory.prune(&made).unwrap(), [newer]);
        assert_eq!(names(&directory), [newest.to_string(), made.to_string()]);
    }

    #[test]
    fn incomplete_files_are_deleted_before_the_next_backup() {
        let (_folder, directory) = directory(2);
        let now = at("2026-11-15T08:30:00Z");
        drop(directory.reserve_name(now, false).unwrap());
        let incomplete = directory.path.join("aldaba-20261111T000000Z.ndjson.0b5e0a51.partial");
        let other = directory.path.join("mine.partial");
        for path in [&incomplete, &other] {
            std::fs::write(path, "x").unwrap();
        }
        drop(directory.reserve_name(now, false).unwrap());
        assert!(!incomplete.exists() && other.exists());
    }

    #[test]
    fn links_are_neither_listed_nor_opened() {
        let (folder, directory) = directory(2);
        drop(directory.reserve_name(at("2026-11-15T08:30:00Z"), false).unwrap());
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "hush").unwrap();
        let name = BackupName::parse("aldaba-20261111T000000Z.ndjson").unwrap();
        std::os::unix::fs::symlink(&secret, directory.path_of(&name)).unwrap();
        assert_eq!(names(&directory), [""; 0]);
        assert!(directory.open(&name).is_err());
        let absent = BackupName::parse("aldaba-20261112T000000Z.ndjson").unwrap();
        assert!(directory.open(&absent).unwrap().is_none());
    }
}
