//! Colors and emphasis on a terminal; plain text elsewhere. The text itself is escaped.

use std::io::IsTerminal as _;

use crate::output::escaped_lines;

/// True to use escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TerminalStyle(bool);

impl TerminalStyle {
    pub(super) fn for_stdout() -> Self {
        Self(std::io::stdout().is_terminal() && is_allowed())
    }

    pub(super) fn for_stderr() -> Self {
        Self(std::io::stderr().is_terminal() && is_allowed())
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(super) fn success(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(super) fn error(self, text: &str) -> String {
        self.with("31", text)
    }

    /// A line to copy into a shell or browser.
    pub(super) fn copyable(self, text: &str) -> String {
        self.with("36", text)
    }

    /// Text from outside, without style.
    pub(super) fn plain(text: &str) -> String {
        escaped_lines(text)
    }

    fn with(self, code: &str, text: &str) -> String {
        let text = escaped_lines(text);
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text }
    }
}

/// `NO_COLOR` and a dumb terminal disable styles.
fn is_allowed() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}
