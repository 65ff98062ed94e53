//! `aldaba store backup`: writes a backup, reads it back and gives it its name only then.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use domain::{Clock as _, Random as _};
use parking_lot::Mutex;
use serde_json::json;
use store::archive::encryption::{Encrypting, Recipient};
use store::{Archive, BackupSummary, archive};

use crate::cli::BackupArgs;
use crate::commands::open_store;
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::{SystemClock, SystemRandom};

const CHANGED_ON_DISK: &str =
    "verification failed: the backup on disk differs from what was written; run the command again";

pub(super) async fn run(args: &BackupArgs, sources: &Sources, output: Output) -> CommandResult {
    let file = &args.file;
    // Not `exists`, which follows a link.
    if !args.force && file.symlink_metadata().is_ok() {
        let why = "already exists; choose another name, or add --force to replace it";
        return Err(Failure::Refused(format!("{} {why}", file.display())));
    }
    let parse =
        |text: &String| Recipient::parse(text).map_err(|why| Failure::Usage(format!("{text}: {why}")));
    let recipients = args.recipient.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let (_, opened) = open_store(sources).await?;
    let partial = PartialFile::create(file)?;
    let written = write(&partial, &*opened.archive, &recipients).await?;
    partial.rename_to(file)?;
    output.print_message(
        "The backup contains hashes and encrypted secrets. It does not contain the master key, which a restore needs.",
    );
    let is_encrypted = !recipients.is_empty();
    output.result(&json!({"file": file, "encrypted": is_encrypted, "backup": written}), || {
        format!("wrote and verified {} rows in {}", written.rows, file.display())
    });
    opened.store.close().await;
    Ok(())
}

async fn write(
    partial: &PartialFile,
    store: &dyn Archive,
    recipients: &[Recipient],
) -> Result<BackupSummary, Failure> {
    let hash = Arc::new(Mutex::new(Context::new(&SHA256)));
    let target = partial.file.try_clone().map_err(|error| partial.failed(&error))?;
    let target = HashedFile { file: BufWriter::new(target), hash: hash.clone() };
    let now = SystemClock.now();
    if recipients.is_empty() {
        let written = archive::write(store, target, now).await?;
        let read_back = archive::verify(BufReader::new(partial.reopen()?))?;
        return if read_back == written { Ok(written) } else { Err(Failure::Failed(CHANGED_ON_DISK.into())) };
    }
    let encrypting =
        Encrypting::new(target, recipients, &SystemRandom).map_err(|error| partial.failed(&error))?;
    let written = archive::write(store, encrypting, now).await?;
    // Only the recipients can decrypt it, so the bytes are compared.
    let intended = hash.lock().clone().finish();
    let found = digest(partial.reopen()?).map_err(|error| partial.failed(&error))?;
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
struct PartialFile {
    path: PathBuf,
    file: File,
}

impl PartialFile {
    /// The name is random and the file must not exist: nobody can prepare a link or a file that is followed.
    fn create(target: &Path) -> Result<Self, Failure> {
        let path = PathBuf::from(format!("{}.{}.partial", target.display(), SystemRandom.guid()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(Failure::Failed(format!("{}: {error}", path.display()))),
        }
    }

    fn reopen(&self) -> Result<File, Failure> {
        File::open(&self.path).map_err(|error| self.failed(&error))
    }

    /// A link with the final name is replaced, not followed.
    fn rename_to(self, target: &Path) -> CommandResult {
        std::fs::rename(&self.path, target).map_err(|error| self.failed(&error))
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
