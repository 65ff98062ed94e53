//! How a command ends when it does not end well: words for the terminal and an exit code.

use std::process::ExitStatus;

/// The command was used wrongly.
const USAGE_CODE: u8 = 2;

/// Why a command stopped. An empty message means that everything was already said.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    /// The work was understood and did not succeed.
    pub fn work(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// The command was not understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE_CODE, message: message.into() }
    }

    /// A child process ended badly; its own words are already on the terminal, its code becomes ours.
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
