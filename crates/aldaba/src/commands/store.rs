//! `aldaba store`: schema, backup, restore.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ::store::archive;
use domain::Clock as _;
use serde_json::json;

use super::opened;
use crate::cli::StoreCommand;
use crate::config::Sources;
use crate::exit::{Failure, Outcome};
use crate::output::Output;
use crate::wiring::SystemClock;

pub(crate) async fn run(command: StoreCommand, sources: &Sources, output: Output) -> Outcome {
    match command {
        StoreCommand::Migrate => migrate(sources, output).await,
        StoreCommand::Backup { file, force } => backup(&file, force, sources, output).await,
        StoreCommand::Restore { file } => restore(&file, sources, output).await,
    }
}

async fn migrate(sources: &Sources, output: Output) -> Outcome {
    let (_, opened) = opened(sources).await?;
    let schema = opened.archive.schema();
    output.result(&json!({"schema": schema}), || format!("the store's schema is up to date ({schema})"));
    opened.store.close().await;
    Ok(())
}

/// Writes beside the target and renames, so that a half-written backup never bears the name of a whole one.
async fn backup(file: &Path, force: bool, sources: &Sources, output: Output) -> Outcome {
    if !force && file.exists() {
        let why = "is there already; give another name, or --force to replace it";
        return Err(Failure::Refused(format!("{} {why}", file.display())));
    }
    let (_, opened) = opened(sources).await?;
    let partial = PathBuf::from(format!("{}.partial", file.display()));
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", partial.display()));
    let writing = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&partial)
        .map_err(cannot)?;
    let written =
        archive::write(&*opened.archive, Synced(BufWriter::new(writing)), SystemClock.now()).await?;
    let read_back = archive::verify(BufReader::new(File::open(&partial).map_err(cannot)?))?;
    if read_back != written {
        return Err(Failure::Failed("what was read back differs from what was written; try again".into()));
    }
    std::fs::rename(&partial, file).map_err(cannot)?;
    output.say("The backup holds hashes and sealed secrets; the master key is not in it.");
    output.result(&json!({"file": file, "backup": written}), || {
        format!("{} rows in {}, verified", written.rows, file.display())
    });
    opened.store.close().await;
    Ok(())
}

async fn restore(file: &Path, sources: &Sources, output: Output) -> Outcome {
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let verified = archive::verify(BufReader::new(File::open(file).map_err(cannot)?))?;
    let (_, opened) = opened(sources).await?;
    let reading = BufReader::new(File::open(file).map_err(cannot)?);
    archive::read(&*opened.archive, &verified, reading).await?;
    output.result(&json!({"file": file, "backup": verified}), || {
        format!("{} rows restored; every tenant's numbers go on 1,000,000 further", verified.rows)
    });
    opened.store.close().await;
    Ok(())
}

/// Whose flush reaches the disk.
struct Synced(BufWriter<File>);

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }
}
