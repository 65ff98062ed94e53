//! Prints one line per event of `listen`, as NDJSON or text.

use std::io::IsTerminal as _;

use domain::{Clock as _, Ticks};
use serde_json::{Value, json};

use crate::output::{Output, escaped_json, escaped_lines, print_line, print_message, print_styled};
use crate::wiring::SystemClock;

/// The color of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Severity {
    Success,
    Warning,
    Error,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    json: bool,
    color: bool,
}

impl Printer {
    pub(super) fn new(output: Output) -> Self {
        let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { json: output.json, color }
    }

    /// Prints a received request on standard output.
    pub(super) fn print_event(self, what: &str, severity: Severity, data: Value, text: &str) {
        let now = SystemClock.now();
        if self.json {
            return print_line(&line(what, now, data));
        }
        print_styled(&format!("{}  {}  {}", clock(now), self.colored(what, severity), escaped_lines(text)));
    }

    /// Prints the state of this program: on standard error, or as NDJSON on standard output.
    pub(super) fn print_status(self, what: &str, data: Value, text: &str) {
        if self.json {
            return print_line(&line(what, SystemClock.now(), data));
        }
        print_message(text);
    }

    fn colored(self, what: &str, severity: Severity) -> String {
        let code = match severity {
            Severity::Success => 32,
            Severity::Warning => 33,
            Severity::Error => 31,
        };
        if self.color { format!("\x1b[{code}m{what:<11}\x1b[0m") } else { format!("{what:<11}") }
    }
}

fn line(what: &str, now: Ticks, data: Value) -> String {
    let mut object = json!({"what": what, "at": now.iso_millis()});
    if let (Some(members), Value::Object(data)) = (object.as_object_mut(), data) {
        members.extend(data);
    }
    escaped_json(&object.to_string())
}

/// The time of day in UTC: `08:30:00`.
fn clock(now: Ticks) -> String {
    now.iso_millis().split('T').nth(1).unwrap_or_default().chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_line_has_what_and_at() {
        let text = line("event", Ticks(0), json!({"a": "\u{9b}"}));
        assert!(!text.contains('\u{9b}'), "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&line["what"], &line["a"], line["at"].is_string()),
            (&json!("event"), &json!("\u{9b}"), true)
        );
    }
}
