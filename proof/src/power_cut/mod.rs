//! A simulated power cut. A library that is loaded before glibc (`proof/power_cut/shim.c`) records what a process does to its
//! files and what it syncs. After the process is killed, the files are replaced by what a disk may have kept: everything that
//! was synced, and any of the sectors that were not.

mod disk;
mod record;

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use disk::{Survival, has_extension};

use crate::Fallible;
use crate::process::NodeSettings;
use crate::random::Random;
use disk::Disk;

const SHIM: &str = include_str!("../../power_cut/shim.c");

/// The library, and the state of the disk that it is to record the changes of.
pub(crate) struct PowerCut {
    /// Of the library and of the records, outside of the recorded folder.
    work: tempfile::TempDir,
    folder: PathBuf,
    disk: Option<Disk>,
}

/// When the library kills the process by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// At the nth write to a file with this suffix.
    Write(&'static str, usize),
    /// Before the nth sync of a file with this suffix.
    Sync(&'static str, usize),
}

/// What was written and not synced when the power was cut.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) bytes: usize,
    /// Names that were created, changed or removed.
    pub(crate) names: usize,
    /// Files with such bytes.
    pub(crate) files: Vec<String>,
}

impl PowerCut {
    /// Compiles the library for the files below this folder.
    pub(crate) fn of(folder: &Path) -> Fallible<Self> {
        let work = tempfile::tempdir()?;
        let (source, library) = (work.path().join("shim.c"), work.path().join("shim.so"));
        std::fs::write(&source, SHIM)?;
        let compiled = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .output()
            .map_err(|error| format!("cc: {error}"))?;
        if !compiled.status.success() {
            return Err(format!("cc: {}", String::from_utf8_lossy(&compiled.stderr)).into());
        }
        Ok(Self { work, folder: folder.canonicalize()?, disk: None })
    }

    /// The settings of a process whose changes are recorded from the files' present state on, which counts as synced.
    pub(crate) fn record(
        &mut self,
        settings: NodeSettings,
        moment: Option<Moment>,
    ) -> Fallible<NodeSettings> {
        let record = self.record_file();
        if record.exists() {
            std::fs::remove_file(&record)?;
        }
        self.disk = Some(Disk::of(&self.folder)?);
        let text = |path: &Path| path.display().to_string();
        let settings = settings
            .environment("LD_PRELOAD", &text(&self.work.path().join("shim.so")))
            .environment("POWER_CUT_FOLDER", &text(&self.folder))
            .environment("POWER_CUT_RECORD", &text(&record));
        Ok(match moment {
            None => settings,
            Some(Moment::Write(suffix, number)) => {
                settings.environment("POWER_CUT_MOMENT", &format!("write:{suffix}:{number}"))
            }
            Some(Moment::Sync(suffix, number)) => {
                settings.environment("POWER_CUT_MOMENT", &format!("sync:{suffix}:{number}"))
            }
        })
    }

    /// The settings of a process on a disk that reports syncs and does not do them.
    pub(crate) fn record_without_syncs(&mut self, settings: NodeSettings) -> Fallible<NodeSettings> {
        Ok(self.record(settings, None)?.environment("POWER_CUT_IGNORES_SYNC", "1"))
    }

    /// The settings of a process whose changes fail while the file of a path exists: of the first path every change of a file
    /// with EROFS, of the second every sync with EIO.
    pub(crate) fn failing(&mut self, settings: NodeSettings) -> Fallible<(NodeSettings, [PathBuf; 2])> {
        let switches = ["read-only", "sync-fails"].map(|name| self.work.path().join(name));
        let settings = self
            .record(settings, None)?
            .environment("POWER_CUT_READ_ONLY", &switches[0].display().to_string())
            .environment("POWER_CUT_SYNC_FAILS", &switches[1].display().to_string());
        Ok((settings, switches))
    }

    /// Replaces the files by what survives. The process must have been killed.
    pub(crate) fn happen(&mut self, survival: Survival, random: &mut Random) -> Fallible<Cut> {
        let mut disk = self.disk.take().ok_or("nothing was recorded")?;
        let records = record::read(&self.record_file())?;
        disk.apply(&records)?;
        disk.expect_whole(&self.folder, records.last().map(|(_, record)| record))?;
        let cut =
            Cut { bytes: disk.unsynced_bytes(), names: disk.unsynced_names(), files: disk.unsynced_files() };
        disk.write_survivors(&self.folder, survival, random)?;
        Ok(cut)
    }

    fn record_file(&self) -> PathBuf {
        self.work.path().join("record")
    }
}

#[cfg(test)]
mod tests;
