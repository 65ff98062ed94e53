//! Makes backups in the background, one at a time, and hands them out.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use domain::{Clock, ErrorCode};
use futures_util::stream;
use operator::admin::AdminError;
use operator::operations::backups::{BackupContent, BackupList, BackupName, BackupPhase, BackupRun};
use operator::ports::{Backups, ReservedBackup};
use parking_lot::Mutex;
use store::archive::encryption::Recipient;
use store::{Archive, AuditContext, AuditEntry, AuditKind, Store};
use tokio::io::AsyncReadExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::directory::{Directory, NameReservation, unusable};
use super::{PartialFile, Progress, write_verified};
use crate::config::Config;

/// Backups that may be downloaded at once.
const DOWNLOADS_MAX: usize = 4;
const PIECE_BYTES: usize = 64 * 1024;
/// The newest ones that are listed.
const LISTED_MAX: usize = 1000;

/// What backups need from outside.
pub(crate) struct BackupPorts {
    pub(crate) archive: Arc<dyn Archive>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
}

#[derive(Clone)]
pub(crate) struct BackupService(Arc<Inner>);

struct Inner {
    ports: BackupPorts,
    directory: Option<Directory>,
    recipients: Vec<Recipient>,
    /// The backup that is being made, or the last one.
    last: Mutex<Option<Run>>,
    downloads: Arc<Semaphore>,
}

struct Run {
    run: BackupRun,
    progress: Arc<Progress>,
}

impl Run {
    fn shown(&self) -> BackupRun {
        let (progress, run) = (&self.progress, self.run.clone());
        let phase = match run.phase {
            BackupPhase::Writing if progress.is_verifying() => BackupPhase::Verifying,
            phase => phase,
        };
        BackupRun { phase, rows: progress.lines(), bytes: progress.bytes(), ..run }
    }
}

fn conflict(code: ErrorCode, why: impl Into<String>) -> AdminError {
    AdminError::Conflict { code, why: why.into() }
}

impl BackupService {
    pub(crate) fn new(config: &Config, ports: BackupPorts) -> Self {
        let keep = config.backup.keep;
        Self(Arc::new(Inner {
            ports,
            directory: config.backup_directory().map(|path| Directory { path, keep }),
            recipients: config.backup.recipients.clone(),
            last: Mutex::new(None),
            downloads: Arc::new(Semaphore::new(DOWNLOADS_MAX)),
        }))
    }

    fn directory(&self) -> Result<Directory, AdminError> {
        self.0.directory.clone().ok_or_else(|| {
            conflict(ErrorCode::BackupDirectory, "no backup directory is configured; set backup.directory")
        })
    }
}

/// Runs file operations where they may block.
async fn blocking<T: Send + 'static>(
    directory: Directory,
    work: impl FnOnce(&Directory) -> std::io::Result<T> + Send + 'static,
) -> Result<T, AdminError> {
    let path: PathBuf = directory.path.clone();
    let done = tokio::task::spawn_blocking(move || work(&directory)).await;
    let done = done.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    done.map_err(|error| conflict(ErrorCode::BackupDirectory, unusable(&path, &error)))
}

#[async_trait]
impl Backups for BackupService {
    async fn list(&self) -> Result<BackupList, AdminError> {
        let mut backups = match &self.0.directory {
            Some(directory) => blocking(directory.clone(), Directory::list).await?,
            None => Vec::new(),
        };
        backups.truncate(LISTED_MAX);
        Ok(BackupList {
            directory: self.0.directory.as_ref().map(|one| one.path.display().to_string()),
            keep: self.0.directory.as_ref().map_or(0, |one| one.keep),
            encrypts: !self.0.recipients.is_empty(),
            backups,
            run: self.0.last.lock().as_ref().map(Run::shown),
        })
    }

    async fn reserve(&self, by: &AuditContext) -> Result<Box<dyn ReservedBackup>, AdminError> {
        let (now, is_encrypted) = (self.0.ports.clock.now(), !self.0.recipients.is_empty());
        let directory = self.directory()?;
        let taken =
            blocking(directory.clone(), move |directory| directory.reserve_name(now, is_encrypted)).await?;
        let reservation = taken.ok_or_else(|| {
            conflict(ErrorCode::BackupRunning, "a backup is being made already; wait until it is complete")
        })?;
        Ok(Box::new(Reserved { service: self.clone(), directory, reservation, by: by.clone() }))
    }

    async fn open(&self, name: &BackupName) -> Result<BackupContent, AdminError> {
        let permit = self.0.downloads.clone().try_acquire_owned().map_err(|_| {
            conflict(
                ErrorCode::BackupDownloads,
                "too many backups are being downloaded; wait until one is complete",
            )
        })?;
        let wanted = name.clone();
        let opened = blocking(self.directory()?, move |directory| directory.open(&wanted)).await?;
        let (file, bytes) = opened.ok_or_else(|| AdminError::NotFound(format!("backup \"{name}\"")))?;
        let pieces = pieces(tokio::fs::File::from_std(file), permit);
        Ok(BackupContent { name: name.clone(), bytes, pieces: Box::pin(pieces) })
    }
}

/// The file piece by piece; the permit is held to its end.
fn pieces(
    file: tokio::fs::File,
    permit: OwnedSemaphorePermit,
) -> impl futures_util::Stream<Item = std::io::Result<Bytes>> + Send {
    stream::try_unfold((file, permit), |(mut file, permit)| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (Bytes::from(piece), (file, permit))))
    })
}

/// A backup whose name is reserved; nothing is written yet.
struct Reserved {
    service: BackupService,
    directory: Directory,
    reservation: NameReservation,
    by: AuditContext,
}

impl ReservedBackup for Reserved {
    fn name(&self) -> &BackupName {
        &self.reservation.name
    }

    fn start(self: Box<Self>) -> BackupRun {
        let run = BackupRun {
            name: self.reservation.name.clone(),
            phase: BackupPhase::Writing,
            started_at: self.service.0.ports.clock.now(),
            started_by: self.by.actor.to_string(),
            ended_at: None,
            rows: 0,
            bytes: 0,
            expected_bytes: self.reservation.expected_bytes,
            error: None,
        };
        let progress = Arc::new(Progress::default());
        *self.service.0.last.lock() = Some(Run { run: run.clone(), progress: progress.clone() });
        tokio::spawn(async move {
            let ending = Ending { service: self.service.clone() };
            let made = make(&self, &progress).await;
            record_end(&self, made.is_ok()).await;
            ending.end(made);
        });
        run
    }
}

/// Writes the backup, gives it its name and deletes the oldest ones.
async fn make(reserved: &Reserved, progress: &Arc<Progress>) -> Result<u64, String> {
    let Reserved { service, directory, reservation, .. } = reserved;
    let target = directory.path_of(&reservation.name);
    let now = service.0.ports.clock.now();
    let failed = |failure: crate::exit::Failure| failure.message();
    let partial = PartialFile::create(&target).map_err(failed)?;
    let (archive, recipients) = (&*service.0.ports.archive, &service.0.recipients);
    let written = write_verified(&partial, archive, recipients, now, progress).await.map_err(failed)?;
    partial.rename_to(&target).map_err(failed)?;
    let made = reservation.name.clone();
    match blocking(directory.clone(), move |directory| directory.prune(&made)).await {
        Ok(old) if !old.is_empty() => tracing::info!(deleted = old.len(), "old backups are deleted"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "old backups could not be deleted"),
    }
    Ok(written.rows)
}

/// The audit says how the backup ended. A restart in between leaves no entry: the backup was not completed.
async fn record_end(reserved: &Reserved, is_complete: bool) {
    let Reserved { service, reservation, by, .. } = reserved;
    let kind = if is_complete { AuditKind::BackupCompleted } else { AuditKind::BackupFailed };
    let entry = AuditEntry::new(kind, service.0.ports.clock.now(), by).object("backup", &reservation.name);
    if let Err(error) = service.0.ports.store.record(&entry).await {
        tracing::warn!(%error, "the end of a backup is missing in the audit");
    }
}

/// Says how a backup ended, even where its task panics.
struct Ending {
    service: BackupService,
}

impl Ending {
    fn end(self, made: Result<u64, String>) {
        match &made {
            Ok(rows) => tracing::info!(rows, "a backup is complete"),
            Err(error) => tracing::error!(error, "a backup failed"),
        }
        self.set(made.err());
    }

    /// Whether it had not ended before.
    fn set(&self, error: Option<String>) -> bool {
        let now = self.service.0.ports.clock.now();
        if let Some(last) = &mut *self.service.0.last.lock()
            && last.run.ended_at.is_none()
        {
            last.run.phase = if error.is_some() { BackupPhase::Failed } else { BackupPhase::Done };
            last.run.ended_at = Some(now);
            last.run.error = error;
            return true;
        }
        false
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if self.set(Some("the backup was cut off".into())) {
            tracing::error!("a backup was cut off");
        }
    }
}
