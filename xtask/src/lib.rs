//! The commands of this repository: test, clients, kits, tidy, prove and bench. Each has a module; the others are shared.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints to the terminal")]

pub mod bench;
pub mod clients;
mod command_line;
pub mod failure;
pub mod kits;
mod machine;
pub mod postgres;
pub mod prove;
mod server;
pub mod steps;
mod supply_chain;
pub mod temp_dir;
pub mod test;
pub mod tidy;
pub mod workspace;

use std::process::ExitCode;

pub use command_line::CommandLine;

/// Runs the command that the command line names.
pub fn run(command_line: CommandLine) -> ExitCode {
    match command_line.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{}", failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}
