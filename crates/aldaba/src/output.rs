//! The output of commands: data on standard output, messages on standard error, JSON with `--json`. Text from outside
//! (names, responses, log fields) may hold control characters, which a terminal would obey: everything is escaped here.

use std::fmt::Write as _;
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

    /// Like `result`, for text with colors, whose parts from outside are escaped already.
    pub(crate) fn styled_result(self, data: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json { print_line(&to_json(data)) } else { print_styled(&text()) }
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

impl Output {
    /// Like `print_message`, for text with colors, whose parts from outside are escaped already.
    pub(crate) fn styled_message(self, text: &str) {
        if !self.json {
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        }
    }
}

/// A table with aligned columns.
pub(crate) fn table(titles: &[&str], rows: Vec<Vec<String>>) -> String {
    let rows = rows.into_iter().map(|row| row.iter().map(|cell| escaped(cell)).collect());
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
    let line =
        |(name, text): &(&str, String)| format!("{name:<width$}  {}", escaped(text)).trim_end().to_owned();
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn to_json(data: &impl Serialize) -> String {
    let json = serde_json::to_string(data).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    escaped_json(&json)
}

/// Whether a terminal may obey the character instead of showing it: a control character (C0, DEL, C1), a line or
/// paragraph separator, or one that reorders the text around it.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line of text from outside, safe for a terminal: `\u{1b}` for an escape character.
pub(crate) fn escaped(text: &str) -> String {
    escaped_except(text, &[])
}

/// The same for several lines: line breaks and tabs stay.
pub(crate) fn escaped_lines(text: &str) -> String {
    escaped_except(text, &['\n', '\t'])
}

fn escaped_except(text: &str, kept: &[char]) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) && !kept.contains(&character) {
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    safe
}

/// JSON text with the same value. Unsafe characters only occur within its strings; JSON itself requires that C0 be escaped.
pub(crate) fn escaped_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if is_unsafe(character) && character != '\n' {
            // All of them are in the basic plane.
            let _ = write!(safe, "\\u{:04x}", u32::from(character));
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Prints data. A closed pipe is not an error.
pub(crate) fn print_line(line: &str) {
    print_styled(&escaped_lines(line));
}

/// Prints text as it is: for colors and scripts. The caller has escaped what comes from outside.
pub(crate) fn print_styled(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

pub(crate) fn print_message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", escaped_lines(text));
}

pub(crate) fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7f}\r\n\te\u{2066}ñ🗝️";

    #[test]
    fn control_characters_and_overrides_are_shown() {
        let safe = r"a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7f}\u{d}\u{a}\u{9}e\u{2066}ñ🗝️";
        assert_eq!(escaped(HOSTILE), safe);
        assert_eq!(escaped_lines("a\n\tb\u{1b}\r"), "a\n\tb\\u{1b}\\u{d}");
        for character in ('\0'..='\u{ffff}').filter(|character| is_unsafe(*character)) {
            assert!(!escaped(&character.to_string()).contains(character), "{character:?}");
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let json = to_json(&[HOSTILE, "\u{2028}"]);
        assert!(!json.chars().any(is_unsafe), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [HOSTILE, "\u{2028}"]);
    }

    #[test]
    fn cell_cannot_leave_its_row() {
        let row = vec!["x\nEVIL  row".to_owned(), "\u{1b}]0;title\u{7}".to_owned()];
        let text = table(&["ID", "NAME"], vec![row]);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
        assert_eq!(fields(&[("name", "a\u{1b}\nb".into())]), "name  a\\u{1b}\\u{a}b");
    }
}
