//! The output of commands: data on standard output, messages on standard error, JSON with `--json`.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

/// The output format of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Prints the result of a command: JSON, or text for people.
    pub(crate) fn result(self, data: &impl Serialize, text: impl FnOnce() -> String) {
        let line = if self.json { to_json(data) } else { text() };
        print_line(&line);
    }

    /// Prints a list: a JSON array, or a table.
    pub(crate) fn list<T: Serialize>(self, items: &[T], titles: &[&str], row: impl Fn(&T) -> Vec<String>) {
        if self.json {
            return print_line(&to_json(&items));
        }
        print_line(&table(titles, items.iter().map(row).collect()));
    }

    /// Confirms an action without a result: JSON on standard output, or a message.
    pub(crate) fn done(self, data: &impl Serialize, text: &str) {
        if self.json {
            return print_line(&to_json(data));
        }
        print_message(text);
    }

    /// Prints a message, unless the output is JSON.
    pub(crate) fn print_message(self, text: &str) {
        if !self.json {
            print_message(text);
        }
    }
}

/// A table with aligned columns.
pub(crate) fn table(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    let titled = titles.iter().map(|title| (*title).to_owned()).collect();
    let all: Vec<Vec<String>> = std::iter::once(titled).chain(rows).collect();
    let widths: Vec<usize> = (0..titles.len())
        .map(|column| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Names and values, one pair per line. A pair with an empty name continues the value of the line before.
pub(crate) fn fields(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, text): &(&str, String)| format!("{name:<width$}  {text}").trim_end().to_owned();
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn to_json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// Prints one line of data. A closed pipe is not an error.
pub(crate) fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

pub(crate) fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub(crate) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}
