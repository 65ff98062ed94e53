//! `aldaba openapi`: prints the OpenAPI document, for who generates clients from it.

use std::path::Path;

use crate::cli::OpenApi;
use crate::config::{self, Sources};
use crate::documents;
use crate::exit::{Failure, Outcome};
use crate::output::print_line;

pub(crate) fn run(args: &OpenApi, sources: &Sources) -> Outcome {
    let config = config::load(sources).map_err(Failure::Config)?;
    let document = if args.operator { operator::openapi() } else { documents::public(&config) };
    let text = documents::text(&document);
    match &args.output {
        None => print_line(&text),
        Some(file) => write(file, &text)?,
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Outcome {
    std::fs::write(file, format!("{text}\n"))
        .map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))
}
