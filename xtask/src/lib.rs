//! The commands of this repository: test, clients, kits, tidy, prove and bench. Each has a module; the others are shared.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints to the terminal")]

pub mod bench;
pub mod clients;
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
pub mod usage;
pub mod workspace;

use std::process::ExitCode;

use failure::Failure;

/// Runs the command that `arguments` name; the program's own name is not among them.
pub fn run(arguments: &[String]) -> ExitCode {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{}", failure.message);
            }
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(arguments: &[&str]) -> Result<(), Failure> {
    let Some((command, rest)) = arguments.split_first() else {
        println!("{}", usage::TEXT);
        return Ok(());
    };
    if arguments.iter().any(|word| matches!(*word, "--help" | "-h")) || *command == "help" {
        println!("{}", usage::TEXT);
        return Ok(());
    }
    match *command {
        "bench" => bench::command(rest),
        "clients" => clients::command(rest),
        "kits" => kits::command(rest),
        "prove" => prove::command(rest),
        "test" => test::command(rest),
        "tidy" => tidy::command(rest),
        unknown => Err(Failure::usage(usage::unknown_command(unknown))),
    }
}
