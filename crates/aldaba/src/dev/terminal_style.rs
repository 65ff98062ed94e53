//! Colour for a terminal, and nothing for anything else.

use std::io::IsTerminal as _;

/// Whether to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalStyle(bool);

impl TerminalStyle {
    pub(super) fn for_stdout() -> Self {
        Self(std::io::stdout().is_terminal() && is_wanted())
    }

    pub(super) fn for_stderr() -> Self {
        Self(std::io::stderr().is_terminal() && is_wanted())
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    /// What is to be copied.
    pub(super) fn copy(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// `NO_COLOR` and a dumb terminal say that it is not.
fn is_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
