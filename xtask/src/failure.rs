//! The failure of a command: a message for the terminal and an exit code.

use std::process::ExitStatus;

/// The exit code of a usage error.
const USAGE_CODE: u8 = 2;

/// Why a command stopped. An empty message means that there is nothing more to print.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    /// The command was valid but did not succeed.
    pub fn work(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// The command line was invalid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE_CODE, message: message.into() }
    }

    /// A child process failed. Its output is already on the terminal, and its exit code becomes ours.
    pub fn child(what: &str, status: ExitStatus) -> Self {
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Self { code, message: format!("{what}: {status}") }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::work(message)
    }
}
