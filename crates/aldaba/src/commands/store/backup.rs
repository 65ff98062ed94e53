//! `aldaba store backup`: writes a backup, reads it back and gives it its name only then.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Clock as _;
use serde_json::json;
use store::archive::encryption::Recipient;

use crate::backup::{Directory, PartialFile, Progress, write_verified};
use crate::cli::BackupArgs;
use crate::commands::open_store;
use crate::config::{Config, Sources};
use crate::exit::{CommandResult, Failure};
use crate::output::Output;
use crate::wiring::{OpenStore, SystemClock};

pub(super) async fn run(args: &BackupArgs, sources: &Sources, output: Output) -> CommandResult {
    let parse =
        |text: &String| Recipient::parse(text).map_err(|why| Failure::Usage(format!("{text}: {why}")));
    let given = args.recipient.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    if let Some(file) = &args.file {
        refuse_existing(file, args.force)?;
    }
    let (config, opened) = open_store(sources).await?;
    let recipients = if given.is_empty() { &config.backup.recipients } else { &given };
    match &args.file {
        Some(file) => write(file, &opened, recipients, output).await?,
        None => write_to_directory(&config, &opened, recipients, output).await?,
    }
    opened.store.close().await;
    Ok(())
}

fn refuse_existing(file: &Path, is_forced: bool) -> CommandResult {
    // Not `exists`, which follows a link.
    if is_forced || file.symlink_metadata().is_err() {
        return Ok(());
    }
    let why = "already exists; choose another name, or add --force to replace it";
    Err(Failure::Refused(format!("{} {why}", file.display())))
}

/// Writes to the backup directory, and deletes the oldest backups there.
async fn write_to_directory(
    config: &Config,
    opened: &OpenStore,
    recipients: &[Recipient],
    output: Output,
) -> CommandResult {
    let path: PathBuf = config.backup_directory().ok_or_else(|| {
        Failure::Usage("name the file, or set backup.directory for backups without a name".into())
    })?;
    let directory = Directory { path, keep: config.backup.keep };
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", directory.path.display()));
    let reserved = directory.reserve_name(SystemClock.now(), !recipients.is_empty()).map_err(failed)?;
    let reserved = reserved.ok_or_else(|| {
        let path = directory.path.display();
        Failure::Refused(format!("another backup is being made in {path}; wait until it is complete"))
    })?;
    write(&directory.path_of(&reserved.name), opened, recipients, output).await?;
    for old in directory.prune(&reserved.name).map_err(failed)? {
        output.print_message(&format!("deleted {old}: backup.keep is {}", directory.keep));
    }
    Ok(())
}

async fn write(file: &Path, opened: &OpenStore, recipients: &[Recipient], output: Output) -> CommandResult {
    let partial = PartialFile::create(file)?;
    let progress = Arc::new(Progress::default());
    let written =
        write_verified(&partial, &*opened.archive, recipients, SystemClock.now(), &progress).await?;
    partial.rename_to(file)?;
    output.print_message(
        "The backup contains hashes and encrypted secrets. It does not contain the master key, which a restore needs.",
    );
    let is_encrypted = !recipients.is_empty();
    output.result(&json!({"file": file, "encrypted": is_encrypted, "backup": written}), || {
        format!("wrote and verified {} rows in {}", written.rows, file.display())
    });
    Ok(())
}
