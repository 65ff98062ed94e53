//! `aldaba openapi` and `aldaba asyncapi`: print the API documents, for client generators.

use std::path::Path;

use crate::cli::{AsyncApi, OpenApi};
use crate::config::{self, Sources};
use crate::documents;
use crate::exit::{CommandResult, Failure};
use crate::output::print_line;

pub(crate) fn run(args: &OpenApi, sources: &Sources) -> CommandResult {
    let config = config::load(sources).map_err(Failure::Config)?;
    let mut document = if args.operator { operator::openapi() } else { documents::public(&config) };
    if !args.tags.is_empty() {
        let tags = documents::known_tags(&document, &args.tags);
        documents::keep_tags(&mut document, &tags.map_err(|unknown| Failure::Usage(unknown.to_string()))?);
    }
    print_or_write(args.output.as_deref(), &documents::text(&document))
}

/// Prints the AsyncAPI document, which does not depend on the configuration.
pub(crate) fn notifications(args: &AsyncApi) -> CommandResult {
    print_or_write(args.output.as_deref(), &documents::asyncapi())
}

fn print_or_write(output: Option<&Path>, text: &str) -> CommandResult {
    match output {
        None => print_line(text),
        Some(file) => write(file, text)?,
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> CommandResult {
    std::fs::write(file, format!("{text}\n"))
        .map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))
}
