//! The dev servers that run on this machine. Each writes a record to a folder of its user and locks it, so that commands
//! beside it find its store without a configuration. The lock ends with the process, however it ends.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::Read as _;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use domain::secret::hex;
use serde::{Deserialize, Serialize};

use super::DEV_MASTER_KEY;
use super::ready_line::ReadyLine;
use crate::config::{Config, Sources, StoreUrl};
use crate::exit::Failure;

/// The file in the server's own folder.
pub(super) const READY_FILE: &str = "dev.json";
const FILE_PREFIX: &str = "dev-";
const FILE_SUFFIX: &str = ".json";
/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;
/// More than anybody runs at once.
const RECORDS_MAX: usize = 1000;
/// A record names up to 3,000 companies.
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What a command needs to work beside a dev server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DevRecord {
    pub(crate) pid: u32,
    /// In ticks: the newest server is found first.
    started_at: i64,
    sources: Sources,
    /// The members of the ready line are members of the record.
    #[serde(flatten)]
    pub(crate) ready: ReadyLine,
}

impl DevRecord {
    /// `sources`: the configuration that the server was started with; `config`: the one that it runs with.
    pub(super) fn new(
        sources: &Sources,
        config: &Config,
        operator: SocketAddr,
        started_at: domain::Ticks,
        ready: ReadyLine,
    ) -> Self {
        let mut sources = sources.clone().for_another_folder();
        let store = match &config.store.url {
            StoreUrl::Sqlite(path) => {
                format!("sqlite:{}", std::path::absolute(path).as_deref().unwrap_or(path).display())
            }
            StoreUrl::Postgres(url) => url.clone(),
        };
        let settings = [
            ("store.url", store),
            ("server.base_url", config.server.base_url.clone()),
            ("server.auth_url", config.server.auth_url.clone()),
            ("operator.listen", operator.to_string()),
            ("operator.url", config.operator.url.clone()),
        ];
        sources.flags.extend(settings.map(|(key, value)| (key.to_owned(), value)));
        Self { pid: std::process::id(), started_at: started_at.0, sources, ready }
    }

    /// The configuration of the server, with the key of its store.
    pub(crate) fn sources(&self) -> Sources {
        let mut sources = self.sources.clone();
        sources.flags.push(("store.master_key".to_owned(), hex(&DEV_MASTER_KEY)));
        sources
    }

    fn write_to(&self, file: &mut File) -> std::io::Result<()> {
        serde_json::to_writer(file, self).map_err(std::io::Error::from)
    }

    /// Writes the record to the server's own folder, for `dev token --data`. Only the owner can read it.
    pub(super) fn write_to_folder(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(READY_FILE);
        let failure = |error: std::io::Error| Failure::Failed(format!("{}: {error}", path.display()));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failure)?;
        self.write_to(file.as_file_mut()).map_err(failure)?;
        file.persist(&path).map_err(|error| failure(error.error))?;
        Ok(())
    }

    /// Reads the record of the server that runs on a folder.
    pub(super) fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(READY_FILE);
        let text = std::fs::read_to_string(&file).map_err(|error| {
            let remedy = "no dev server runs on this folder; start one with: aldaba dev --data";
            Failure::Refused(format!("{}: {error}; {remedy} {}", file.display(), folder.display()))
        })?;
        serde_json::from_str(&text)
            .map_err(|error| Failure::Failed(format!("{}: {error}; restart the dev server", file.display())))
    }

    fn is_named(&self, wanted: &str) -> bool {
        let ready = &self.ready;
        let urls = [
            &ready.base_url,
            &ready.auth_url,
            &ready.operator_url,
            &ready.console_url,
            &ready.portal_url,
            &ready.receiver_url,
        ];
        wanted == self.pid.to_string() || urls.into_iter().any(|url| same_address(url, wanted))
    }

    /// For messages: the address and the process.
    pub(crate) fn description(&self) -> String {
        format!("{} (process {})", self.ready.base_url, self.pid)
    }
}

/// Whether two URLs differ in the name of this machine or in a trailing slash alone.
fn same_address(one: &str, other: &str) -> bool {
    let plain = |url: &str| url.trim_end_matches('/').replace("://localhost:", "://127.0.0.1:");
    plain(one) == plain(other)
}

/// The record of this server. Dropping it deletes the record.
pub(super) struct Registration {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes this server known to commands. None where there is no safe place for the record: the server works without.
pub(super) fn register(record: &DevRecord) -> Option<Registration> {
    let folder = registry_folder();
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    register_in(&folder, record)
}

fn register_in(folder: &Path, record: &DevRecord) -> Option<Registration> {
    require_private(folder)?;
    // Under another name until it is complete and locked: a reader deletes records that nobody locks.
    let mut file = tempfile::Builder::new().prefix("new-").tempfile_in(folder).ok()?;
    record.write_to(file.as_file_mut()).ok()?;
    file.as_file().try_lock().ok()?;
    let unique = file.path().file_name()?.to_str()?.trim_start_matches("new-").to_owned();
    let path = folder.join(format!("{FILE_PREFIX}{}-{unique}{FILE_SUFFIX}", record.pid));
    let file = file.persist(&path).ok()?;
    Some(Registration { path, _file: file })
}

/// A folder that belongs to the user alone: in the runtime directory where there is one.
fn registry_folder() -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let user = rustix::process::geteuid().as_raw();
    runtime
        .map_or_else(|| std::env::temp_dir().join(format!("aldaba-{user}")), |runtime| runtime.join("aldaba"))
}

/// Records have credentials and say where commands write: nobody else may read or plant them.
fn require_private(folder: &Path) -> Option<()> {
    let found = std::fs::symlink_metadata(folder).ok()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & OTHERS == 0;
    (found.is_dir() && is_own).then_some(())
}

/// The servers that run, newest first.
fn running() -> Vec<DevRecord> {
    running_in(&registry_folder())
}

fn running_in(folder: &Path) -> Vec<DevRecord> {
    let Some(entries) = require_private(folder).and_then(|()| std::fs::read_dir(folder).ok()) else {
        return Vec::new();
    };
    let is_record = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(FILE_PREFIX) && name.ends_with(FILE_SUFFIX)
    };
    let paths = entries.take(RECORDS_MAX).filter_map(|entry| Some(entry.ok()?.path())).filter(is_record);
    let mut records: Vec<DevRecord> = paths.filter_map(|path| read_live(&path)).collect();
    records.sort_by_key(|record| std::cmp::Reverse(record.started_at));
    records
}

/// The record, if its server runs; otherwise it is deleted.
fn read_live(path: &Path) -> Option<DevRecord> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(_)) => return None,
        Ok(()) => {
            let _ = std::fs::remove_file(path);
            return None;
        }
    }
    let mut text = String::new();
    file.take(RECORD_BYTES_MAX).read_to_string(&mut text).ok()?;
    // One of another version may be unreadable.
    serde_json::from_str(&text).ok()
}

/// Which dev server a command works beside.
#[derive(Clone, Debug, Default)]
pub(crate) struct DevSelector {
    /// The process id or a URL of the server (`--dev`).
    pub(crate) wanted: Option<String>,
    /// Whether the command has a configuration: then it never works beside dev.
    pub(crate) is_configured: bool,
}

impl DevSelector {
    /// The server that was asked for, or the newest one. None with a configuration, or where none runs.
    pub(crate) fn find(&self) -> Result<Option<DevRecord>, Failure> {
        if self.is_configured && self.wanted.is_some() {
            let why = "--dev and a configuration (--config, --set, aldaba.toml or ALDABA__ variables) exclude each other";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.is_configured { Ok(None) } else { self.find_any(|_| true) }
    }

    /// The server that was asked for, or the newest one that is suitable.
    pub(crate) fn find_any(
        &self,
        is_suitable: impl Fn(&DevRecord) -> bool,
    ) -> Result<Option<DevRecord>, Failure> {
        self.choose(running(), is_suitable)
    }

    fn choose(
        &self,
        records: Vec<DevRecord>,
        is_suitable: impl Fn(&DevRecord) -> bool,
    ) -> Result<Option<DevRecord>, Failure> {
        let Some(wanted) = &self.wanted else { return Ok(records.into_iter().find(is_suitable)) };
        let known: Vec<String> = records.iter().map(DevRecord::description).collect();
        let found = records.into_iter().find(|record| record.is_named(wanted));
        found.map(Some).ok_or_else(|| {
            let known = if known.is_empty() {
                "no dev runs; start one with `aldaba dev`".to_owned()
            } else {
                format!("running are {}", known.join(", "))
            };
            Failure::Refused(format!("--dev {wanted}: no running dev has this process id or URL; {known}"))
        })
    }
}

#[cfg(test)]
mod tests;
