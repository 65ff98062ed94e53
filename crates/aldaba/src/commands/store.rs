//! `aldaba store`: migrates, backs up and restores the store.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ::store::archive;
use domain::Clock as _;
use serde_json::json;

use super::open_store;
use crate::cli::StoreCommand;
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::SystemClock;

pub(crate) async fn run(command: StoreCommand, sources: &Sources, output: Output) -> CommandResult {
    match command {
        StoreCommand::Migrate => migrate(sources, output).await,
        StoreCommand::Backup { file, force } => backup(&file, force, sources, output).await,
        StoreCommand::Restore { file } => restore(&file, sources, output).await,
    }
}

async fn migrate(sources: &Sources, output: Output) -> CommandResult {
    let (_, opened) = open_store(sources).await?;
    let schema = opened.archive.schema();
    output
        .result(&json!({"schema": schema}), || format!("the store has the newest schema (version {schema})"));
    opened.store.close().await;
    Ok(())
}

/// Writes to a temporary name and renames the file, so that an incomplete backup never has the final name.
async fn backup(file: &Path, force: bool, sources: &Sources, output: Output) -> CommandResult {
    if !force && file.exists() {
        let why = "already exists; choose another name, or add --force to replace it";
        return Err(Failure::Refused(format!("{} {why}", file.display())));
    }
    let (_, opened) = open_store(sources).await?;
    let partial = PathBuf::from(format!("{}.partial", file.display()));
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", partial.display()));
    let target = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&partial)
        .map_err(cannot)?;
    let written =
        archive::write(&*opened.archive, SyncOnFlush(BufWriter::new(target)), SystemClock.now()).await?;
    let read_back = archive::verify(BufReader::new(File::open(&partial).map_err(cannot)?))?;
    if read_back != written {
        return Err(Failure::Failed(
            "verification failed: the backup on disk differs from what was written; run the command again"
                .into(),
        ));
    }
    std::fs::rename(&partial, file).map_err(cannot)?;
    output.print_message("The backup contains hashes and encrypted secrets. It does not contain the master key, which a restore needs.");
    output.result(&json!({"file": file, "backup": written}), || {
        format!("wrote and verified {} rows in {}", written.rows, file.display())
    });
    opened.store.close().await;
    Ok(())
}

async fn restore(file: &Path, sources: &Sources, output: Output) -> CommandResult {
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let verified = archive::verify(BufReader::new(File::open(file).map_err(cannot)?))?;
    let (_, opened) = open_store(sources).await?;
    let reader = BufReader::new(File::open(file).map_err(cannot)?);
    archive::read(&*opened.archive, &verified, reader).await?;
    output.result(&json!({"file": file, "backup": verified}), || {
        format!(
            "restored {} rows; the sequence numbers of every tenant continue 1,000,000 higher",
            verified.rows
        )
    });
    opened.store.close().await;
    Ok(())
}

/// A file whose `flush` also syncs to disk.
struct SyncOnFlush(BufWriter<File>);

impl Write for SyncOnFlush {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }
}
