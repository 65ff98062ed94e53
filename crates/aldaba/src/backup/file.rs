//! Writes a backup to a new file and verifies it.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use domain::Random as _;
use parking_lot::Mutex;
use store::archive::encryption::{Encrypting, Recipient};
use store::{Archive, BackupSummary, archive};

use super::Progress;
use super::progress::Counting;
use crate::durable;
use crate::exit::{CommandResult, Failure};
use crate::wiring::SystemRandom;
use domain::Ticks;

const CHANGED_ON_DISK: &str =
    "verification failed: the backup on disk differs from what was written; make another one";
/// What the names of incomplete files end in.
pub(super) const PARTIAL: &str = ".partial";

/// Writes a backup and reads it back.
pub(crate) async fn write_verified(
    partial: &PartialFile,
    store: &dyn Archive,
    recipients: &[Recipient],
    now: Ticks,
    progress: &Arc<Progress>,
) -> Result<BackupSummary, Failure> {
    let hash = Arc::new(Mutex::new(Context::new(&SHA256)));
    let target = partial.file.try_clone().map_err(|error| partial.failed(&error))?;
    let target = HashedFile { file: BufWriter::new(target), hash: hash.clone() };
    let counting = |out| Counting { out, progress: progress.clone() };
    if recipients.is_empty() {
        let written = archive::write(store, counting(target), now).await?;
        progress.begin_verifying();
        let file = partial.reopen()?;
        let read_back = tokio::task::spawn_blocking(move || archive::verify(BufReader::new(file)));
        let read_back = read_back.await.map_err(|error| Failure::Failed(error.to_string()))??;
        return if read_back == written { Ok(written) } else { Err(Failure::Failed(CHANGED_ON_DISK.into())) };
    }
    let encrypting =
        Encrypting::new(target, recipients, &SystemRandom).map_err(|error| partial.failed(&error))?;
    let counting = Counting { out: encrypting, progress: progress.clone() };
    let written = archive::write(store, counting, now).await?;
    progress.begin_verifying();
    // Only the recipients can decrypt it, so the bytes are compared.
    let intended = hash.lock().clone().finish();
    let file = partial.reopen()?;
    let found = tokio::task::spawn_blocking(move || digest(file)).await;
    let found = found.map_err(|error| Failure::Failed(error.to_string()))?;
    let found = found.map_err(|error| partial.failed(&error))?;
    if found.as_ref() == intended.as_ref() {
        Ok(written)
    } else {
        Err(Failure::Failed(CHANGED_ON_DISK.into()))
    }
}

fn digest(mut file: File) -> std::io::Result<aws_lc_rs::digest::Digest> {
    let (mut hash, mut buffer) = (Context::new(&SHA256), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finish()),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// A new file next to the final one that only its owner can read; deleted unless it is renamed.
pub(crate) struct PartialFile {
    path: PathBuf,
    file: File,
}

impl PartialFile {
    /// The name is random and the file must not exist: nobody can prepare a link or a file that is followed.
    pub(crate) fn create(target: &Path) -> Result<Self, Failure> {
        let path = PathBuf::from(format!("{}.{}{PARTIAL}", target.display(), SystemRandom.guid()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(Failure::Failed(format!("{}: {error}", path.display()))),
        }
    }

    fn reopen(&self) -> Result<File, Failure> {
        File::open(&self.path).map_err(|error| self.failed(&error))
    }

    /// A link with the final name is replaced, not followed. The name survives a power cut.
    pub(crate) fn rename_to(self, target: &Path) -> CommandResult {
        let renamed = std::fs::rename(&self.path, target).and_then(|()| durable::sync_name(target));
        renamed.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::Failed(format!("{}: {error}", self.path.display()))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A file whose bytes are hashed and whose `flush` also syncs to disk.
struct HashedFile {
    file: BufWriter<File>,
    hash: Arc<Mutex<Context>>,
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.lock().update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}
