//! `cargo xtask`: the entrance to what people run by hand and what continuous integration runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    xtask::run(&arguments)
}
