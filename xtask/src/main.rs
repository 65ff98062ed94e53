//! The entry point of `cargo xtask`, for people and for continuous integration.

use std::process::ExitCode;

use clap::Parser as _;
use xtask::CommandLine;

fn main() -> ExitCode {
    xtask::run(CommandLine::parse())
}
