//! A disk that keeps what was synced, and any part of what was not.
//!
//! A file's contents are durable when the file was synced, and names (new, renamed or removed files) when their folder was. Of
//! the rest, sectors survive independently of each other and in any order, so that writes are torn and reordered as by a disk
//! with a cache; names survive in their order, up to some point, as by a journaling file system. A sector itself is not torn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::record::Record;
use crate::Fallible;
use crate::random::Random;

const SECTOR_BYTES: usize = 512;

/// What becomes of what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survival {
    Nothing,
    /// Each sector with this chance in percent.
    Sectors(usize),
    /// All writes up to some point, the last of them torn.
    Prefix,
    Everything,
}

#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Vec<Contents>,
    /// Names as the process sees them, and as they are after a power cut; none for a folder.
    seen: BTreeMap<String, Option<usize>>,
    durable: BTreeMap<String, Option<usize>>,
    /// Changes of names that were not synced.
    names: Vec<(usize, NameChange)>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Add(String, Option<usize>),
    Rename(String, String),
    Remove(String),
}

#[derive(Debug, Default)]
struct Contents {
    durable: Vec<u8>,
    /// What was not synced, with the place of its record.
    unsynced: Vec<(usize, Change)>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, data: Vec<u8> },
    Truncate(usize),
}

pub(crate) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// SQLite's shared memory is no part of the store (every start builds it anew), and logs are the proof's own.
fn is_ignored(path: &str) -> bool {
    path.ends_with("-shm") || has_extension(path, "log")
}

impl Disk {
    /// The files below a folder, all durable.
    pub(super) fn of(folder: &Path) -> Fallible<Self> {
        let mut disk = Self::default();
        for (path, contents) in files_below(folder)? {
            disk.durable.insert(
                path,
                contents.map(|durable| {
                    disk.files.push(Contents { durable, unsynced: Vec::new() });
                    disk.files.len() - 1
                }),
            );
        }
        disk.seen = disk.durable.clone();
        Ok(disk)
    }

    /// Records with their places.
    pub(super) fn apply(&mut self, records: &[(usize, Record)]) -> Fallible<()> {
        for (index, (place, record)) in records.iter().enumerate() {
            // A failed operation changed nothing; a failed write may have.
            if matches!(records.get(index + 1), Some((_, Record::Failed(_)))) {
                if matches!(record, Record::Write { .. }) {
                    return Err(format!("a write to {} failed", record.path()).into());
                }
                continue;
            }
            if !is_ignored(record.path()) {
                self.apply_one(*place, record)?;
            }
        }
        Ok(())
    }

    fn apply_one(&mut self, place: usize, record: &Record) -> Fallible<()> {
        match record {
            Record::Create(path) => {
                self.files.push(Contents::default());
                self.rename(place, NameChange::Add(path.clone(), Some(self.files.len() - 1)));
            }
            Record::Folder(path) => self.rename(place, NameChange::Add(path.clone(), None)),
            Record::Unlink(path) => self.rename(place, NameChange::Remove(path.clone())),
            Record::Rename { from, to } if folder_of(from) == folder_of(to) => {
                self.rename(place, NameChange::Rename(from.clone(), to.clone()));
            }
            Record::Rename { from, to } => return Err(format!("{from} moved to {to}").into()),
            Record::Write { path, at, data } => {
                self.file(path)?.unsynced.push((place, Change::Write { at: *at, data: data.clone() }));
            }
            Record::Truncate { path, size } => {
                self.file(path)?.unsynced.push((place, Change::Truncate(*size)));
            }
            Record::Sync { path, before } => self.sync(path, *before)?,
            Record::Mapped(path) => return Err(format!("{path} is changed through memory").into()),
            Record::Failed(_) => {}
        }
        Ok(())
    }

    fn rename(&mut self, place: usize, change: NameChange) {
        change.apply(&mut self.seen);
        self.names.push((place, change));
    }

    fn file(&mut self, path: &str) -> Fallible<&mut Contents> {
        let file = self.seen.get(path).copied().flatten();
        let file = file.ok_or_else(|| format!("no file {path} was created"))?;
        self.files.get_mut(file).ok_or_else(|| "no such file".into())
    }

    fn sync(&mut self, path: &str, before: usize) -> Fallible<()> {
        if path != "." && self.seen.get(path).is_none_or(Option::is_some) {
            self.file(path)?.sync(before);
            return Ok(());
        }
        let (synced, rest) = self
            .names
            .drain(..)
            .partition(|(place, change)| *place < before && folder_of(change.name()) == path);
        let synced: Vec<(usize, NameChange)> = synced;
        self.names = rest;
        for (_, change) in synced {
            change.apply(&mut self.durable);
        }
        Ok(())
    }

    /// The files that the process left must be those of the record: otherwise something was not recorded. The last operation
    /// may not have been done, or in part.
    pub(super) fn expect_whole(&self, folder: &Path, last: Option<&Record>) -> Fallible<()> {
        let unsure = |name: &str| match last {
            Some(Record::Rename { from, to }) => name == from || name == to,
            Some(last) => name == last.path(),
            None => false,
        };
        let seen: BTreeMap<String, Option<Vec<u8>>> = self
            .seen
            .iter()
            .map(|(path, file)| (path.clone(), file.and_then(|file| self.files.get(file)).map(Contents::all)))
            .collect();
        let real = files_below(folder)?;
        let names: BTreeSet<&String> = seen.keys().chain(real.keys()).collect();
        for name in names {
            if !unsure(name) && seen.get(name) != real.get(name) {
                return Err(format!("{name} was changed by something that is not recorded").into());
            }
        }
        Ok(())
    }

    pub(super) fn unsynced_bytes(&self) -> usize {
        let bytes = |(_, change): &(usize, Change)| match change {
            Change::Write { data, .. } => data.len(),
            Change::Truncate(_) => 0,
        };
        self.files.iter().flat_map(|file| &file.unsynced).map(bytes).sum()
    }

    pub(super) fn unsynced_names(&self) -> usize {
        self.names.len()
    }

    pub(super) fn unsynced_files(&self) -> Vec<String> {
        let is_unsynced = |file: usize| self.files.get(file).is_some_and(|file| !file.unsynced.is_empty());
        let unsynced = self.seen.iter().filter(|(_, file)| file.is_some_and(is_unsynced));
        unsynced.map(|(path, _)| path.clone()).collect()
    }

    /// What is on the disk after the power cut.
    fn survivors(&self, survival: Survival, random: &mut Random) -> BTreeMap<String, Option<Vec<u8>>> {
        let kept = match survival {
            Survival::Nothing => 0,
            Survival::Everything => self.names.len(),
            Survival::Sectors(_) | Survival::Prefix => random.among(0..self.names.len() + 1),
        };
        let mut names = self.durable.clone();
        for (_, change) in &self.names[..kept] {
            change.apply(&mut names);
        }
        let mut contents = |file: usize| self.files.get(file).map(|file| file.survivors(survival, random));
        names.into_iter().map(|(path, file)| (path, file.and_then(&mut contents))).collect()
    }

    pub(super) fn write_survivors(
        &self,
        folder: &Path,
        survival: Survival,
        random: &mut Random,
    ) -> Fallible<()> {
        let survivors = self.survivors(survival, random);
        // What survives is overwritten, so that it keeps its permissions.
        for name in files_below(folder)?.keys().rev().filter(|name| !survivors.contains_key(*name)) {
            let path = folder.join(name);
            if path.is_dir() { std::fs::remove_dir(path)? } else { std::fs::remove_file(path)? }
        }
        for (name, contents) in survivors {
            let path = folder.join(&name);
            match contents {
                None if path.is_dir() => {}
                None => std::fs::create_dir(&path)?,
                Some(contents) => std::fs::write(&path, contents)?,
            }
            // The shared memory is what a disk makes of pages that nobody synced.
            let memory = folder.join(format!("{name}-shm"));
            if memory.exists() {
                let garbage: Vec<u8> = (0..4096).flat_map(|_| random.next().to_le_bytes()).collect();
                std::fs::write(&memory, garbage)?;
            }
        }
        Ok(())
    }
}

impl NameChange {
    fn name(&self) -> &str {
        match self {
            Self::Add(name, _) | Self::Rename(name, _) | Self::Remove(name) => name,
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, Option<usize>>) {
        match self {
            Self::Add(name, file) => {
                names.insert(name.clone(), *file);
            }
            Self::Rename(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Self::Remove(name) => {
                names.remove(name);
            }
        }
    }
}

impl Contents {
    fn sync(&mut self, before: usize) {
        let synced = self.unsynced.partition_point(|(place, _)| *place < before);
        for (_, change) in self.unsynced.drain(..synced) {
            change.apply(&mut self.durable);
        }
    }

    /// The contents as the process sees them.
    fn all(&self) -> Vec<u8> {
        let mut contents = self.durable.clone();
        self.unsynced.iter().for_each(|(_, change)| change.apply(&mut contents));
        contents
    }

    fn survivors(&self, survival: Survival, random: &mut Random) -> Vec<u8> {
        match survival {
            Survival::Nothing => self.durable.clone(),
            Survival::Everything => self.all(),
            Survival::Sectors(share) => Self::sectors(&self.unsynced, share, random, &self.durable),
            Survival::Prefix => {
                let kept = random.among(0..self.unsynced.len() + 1);
                let mut contents = self.durable.clone();
                self.unsynced[..kept].iter().for_each(|(_, change)| change.apply(&mut contents));
                let torn = &self.unsynced[kept..self.unsynced.len().min(kept + 1)];
                Self::sectors(torn, 50, random, &contents)
            }
        }
    }

    /// Applies the changes, and keeps each sector of each change, and each change of the size, with a chance.
    fn sectors(changes: &[(usize, Change)], share: usize, random: &mut Random, base: &[u8]) -> Vec<u8> {
        let (mut seen, mut kept, mut size) = (base.to_vec(), base.to_vec(), base.len());
        for (_, change) in changes {
            let before = seen.len();
            change.apply(&mut seen);
            if seen.len() != before && random.percent(share) {
                size = seen.len();
            }
            let (from, to) = match change {
                Change::Write { at, data } => (*at, at + data.len()),
                Change::Truncate(to) => (*to, before),
            };
            for start in (from / SECTOR_BYTES * SECTOR_BYTES..to).step_by(SECTOR_BYTES) {
                if random.percent(share) {
                    let end = (start + SECTOR_BYTES).min(seen.len());
                    let sector = seen.get(start..end).unwrap_or_default();
                    kept.resize(kept.len().max(start + SECTOR_BYTES), 0);
                    kept[start..start + SECTOR_BYTES].fill(0);
                    kept[start..start + sector.len()].copy_from_slice(sector);
                }
            }
        }
        kept.resize(size, 0);
        kept
    }
}

impl Change {
    fn apply(&self, contents: &mut Vec<u8>) {
        match self {
            Self::Write { at, data } => {
                let end = at + data.len();
                contents.resize(contents.len().max(end), 0);
                contents[*at..end].copy_from_slice(data);
            }
            Self::Truncate(size) => contents.resize(*size, 0),
        }
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// All files and folders below a folder; none for a folder.
fn files_below(folder: &Path) -> Fallible<BTreeMap<String, Option<Vec<u8>>>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![String::new()]);
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| format!("{}", name.display()))?;
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            if entry.file_type()?.is_dir() {
                folders.push(path.clone());
                found.insert(path, None);
            } else if !is_ignored(&path) {
                found.insert(path, Some(std::fs::read(entry.path())?));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
