//! `cargo xtask clients`: tests the program with third-party client libraries and a browser. Each client is a small program in
//! the folder `clients` that reads a JSON file about the servers.

mod debian;
mod environment;
mod installation;
mod libraries;
mod prepare;
mod process;
mod run;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{failure::Failure, steps::Steps, workspace};
use environment::Environments;
use prepare::Toolchain;

/// What the tests of the kits need, too.
pub(crate) use {
    debian::{find, install},
    installation::aldaba,
    prepare::{Stamp, create_venv, text, version},
    process::{Process, now},
};

/// The folders of one run.
#[derive(Debug)]
struct Directories {
    /// The clients' sources.
    sources: PathBuf,
    /// Installed and built dependencies, reused by later runs.
    cache: PathBuf,
    screenshots: PathBuf,
}

impl Directories {
    fn of_workspace() -> Self {
        let target = workspace::target();
        Self {
            sources: workspace::root().join("clients"),
            cache: target.join("clients"),
            screenshots: target.join("screenshots"),
        }
    }
}

/// What `cargo xtask clients` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Try as little as `test` does
    #[arg(long)]
    bounded: bool,
    /// The clients to run; all of them unless some are named
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub(crate) fn command(arguments: &Arguments) -> Result<(), Failure> {
    let depth = if arguments.bounded { Depth::Bounded } else { Depth::Full };
    let chosen = run::chosen(&arguments.names).map_err(Failure::usage)?;
    let steps = Steps::start();
    steps.step("build", build)?;
    steps.step("clients", || run_clients(&chosen, depth))?;
    steps.finish();
    Ok(())
}

pub(crate) fn build() -> Result<(), Failure> {
    // All of the workspace, as for the tests: fewer packages would have other features and be built again.
    let arguments = ["build", "--workspace", "--bins", "--locked"];
    workspace::run("cargo build", &mut workspace::cargo(&arguments))
}

/// Runs every client against the debug program, which must have been built.
pub fn run_all() -> Result<(), Failure> {
    run_clients(&run::all(), Depth::Bounded)
}

/// Installs what the clients need; [`run_all`] does so too, unless it is there.
pub fn install_all() -> Result<(), Failure> {
    Toolchain::prepare(&Directories::of_workspace())?;
    Ok(())
}

/// The applications of docs/your-library.md whose dependencies are too heavy for the test command.
pub fn prove() -> Result<(), Failure> {
    let steps = Steps::start();
    steps.step("build", build)?;
    steps.step("installation", || Ok(libraries::prepare_heavy(&Directories::of_workspace())?))?;
    steps.step("heavy libraries", || run_clients(&[run::HEAVY_LIBRARIES], Depth::Full))?;
    steps.finish();
    Ok(())
}

/// How much the clients that take longest try.
#[derive(Clone, Copy, Debug)]
enum Depth {
    /// Every page in all combinations of language, theme and size; many examples of each operation.
    Full,
    /// What the test command has time for: some of the combinations, of the console its sections only; a few examples of each
    /// operation, and the webhooks of one resource of the accounting family.
    Bounded,
}

impl Depth {
    /// The value of `ALDABA_TEST_DEPTH`, which the clients read.
    fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Bounded => "bounded",
        }
    }
}

fn run_clients(chosen: &[&'static run::Client], depth: Depth) -> Result<(), Failure> {
    let program = workspace::target().join("debug").join("aldaba");
    if !program.is_file() {
        return Err(Failure::work(format!("{} does not exist: build it first", program.display())));
    }
    let directories = Directories::of_workspace();
    let toolchain = Toolchain::prepare(&directories)?;
    let environments = Environments::start(&program, &directories)?;
    let setup = run::Setup { toolchain: &toolchain, directories: &directories, depth };
    let result = run::run(chosen, setup, &environments);
    let stopped = environments.stop();
    result?;
    Ok(stopped?)
}

/// Adds the path to the error of a file operation.
pub(crate) fn with_path(path: &Path) -> impl FnOnce(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}
