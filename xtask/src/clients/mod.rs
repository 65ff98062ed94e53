//! `cargo xtask clients`: other people's clients and a browser against the program as it was just built.
//! Each is a small program in the folder `clients`, which is told of the servers in a file.

mod debian;
mod environment;
mod installation;
mod prepare;
mod process;
mod run;

use std::path::{Path, PathBuf};

use crate::{failure::Failure, steps::Steps, workspace};
use environment::Environment;
use prepare::Toolchain;

/// Where things lie for one run of the stage.
#[derive(Debug)]
struct Directories {
    /// The clients' sources.
    sources: PathBuf,
    /// What is installed and built for them, kept from run to run.
    kept: PathBuf,
    screenshots: PathBuf,
}

pub fn command(arguments: &[&str]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::usage(format!("`clients` takes nothing, not `{}`", arguments.join(" "))));
    }
    let steps = Steps::start();
    steps.step("the program", build)?;
    steps.step("clients", stage)?;
    steps.finish();
    Ok(())
}

fn build() -> Result<(), Failure> {
    let arguments = ["build", "--package", "aldaba", "--locked"];
    workspace::run("cargo build", &mut workspace::cargo(&arguments))
}

/// Runs every client against the debug program, which must be there.
pub fn stage() -> Result<(), Failure> {
    let target = workspace::target();
    let program = target.join("debug").join("aldaba");
    if !program.is_file() {
        return Err(Failure::work(format!("{} is not there: build it first", program.display())));
    }
    let directories = Directories {
        sources: workspace::root().join("clients"),
        kept: target.join("clients"),
        screenshots: target.join("screenshots"),
    };
    let toolchain = Toolchain::prepare(&directories)?;
    let environment = Environment::start(&program, &directories)?;
    let alone = Environment::start_dev(&program)?;
    let messages = run::all(&toolchain, &directories, environment.file(), alone.file());
    let ended = environment.stop().and(alone.stop());
    messages?;
    Ok(ended?)
}

/// What a failed operation on a file or folder was about.
fn about(path: &Path) -> impl FnOnce(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}
