//! What commands say: data to standard output, talk to standard error, JSON where it was asked for.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

/// How a command speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// The result of a command: an object as JSON, or lines for people.
    pub(crate) fn result(self, data: &impl Serialize, text: impl FnOnce() -> String) {
        let line = if self.json { to_json(data) } else { text() };
        print_line(&line);
    }

    /// A list: a JSON array, or aligned columns under their titles.
    pub(crate) fn list<T: Serialize>(self, items: &[T], titles: &[&str], row: impl Fn(&T) -> Vec<String>) {
        if self.json {
            return print_line(&to_json(&items));
        }
        print_line(&table(titles, items.iter().map(row).collect()));
    }

    /// What was done, where there is nothing to show: an object as JSON, or a line of talk.
    pub(crate) fn done(self, data: &impl Serialize, text: &str) {
        if self.json {
            return print_line(&to_json(data));
        }
        say(text);
    }

    /// Talk beside the data.
    pub(crate) fn say(self, text: &str) {
        if !self.json {
            say(text);
        }
    }
}

/// Aligned columns under their titles.
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

/// Names and what they stand for, one a line; a line without a name goes on with what the one before it says.
pub(crate) fn fields(told: &[(&str, String)]) -> String {
    let width = told.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, text): &(&str, String)| format!("{name:<width$}  {text}").trim_end().to_owned();
    told.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn to_json(data: &impl Serialize) -> String {
    serde_json::to_string(data).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// One line of data. A reader that has gone away is no reason to panic.
pub(crate) fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

pub(crate) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}
