//! The entry point of `cargo xtask`, for people and for continuous integration.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::run(&arguments)
}
