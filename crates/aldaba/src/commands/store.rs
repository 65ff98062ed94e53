//! `aldaba store`: migrates, backs up and restores the store.

mod backup;
mod ended_access;
mod restore;

use serde_json::json;

use super::open_store;
use crate::cli::StoreCommand;
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

pub(crate) async fn run(command: StoreCommand, sources: &Sources, output: Output) -> CommandResult {
    match command {
        StoreCommand::Migrate => migrate(sources, output).await,
        StoreCommand::Backup(args) => backup::run(&args, sources, output).await,
        StoreCommand::Restore(args) => restore::run(&args, sources, output).await,
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
