//! Backups: one file that is written, read back and only then given its name; the directory of backups; and the service that
//! makes them in the background for the console and the operator's API.

mod directory;
mod file;
mod progress;
mod service;

pub(crate) use directory::Directory;
pub(crate) use file::{PartialFile, write_verified};
pub(crate) use progress::Progress;
pub(crate) use service::{BackupPorts, BackupService};
