//! What `listen` says: one line for each thing that happens, as NDJSON or for people.

use std::io::IsTerminal as _;

use domain::{Clock as _, Ticks};
use serde_json::{Value, json};

use crate::output::{Output, print_line, say};
use crate::wiring::SystemClock;

/// How good the news is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tone {
    Good,
    Odd,
    Bad,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    json: bool,
    colour: bool,
}

impl Printer {
    pub(super) fn new(output: Output) -> Self {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { json: output.json, colour }
    }

    /// Data: something came.
    pub(super) fn tell(self, what: &str, tone: Tone, data: Value, text: &str) {
        let now = SystemClock.now();
        if self.json {
            return print_line(&line(what, now, data));
        }
        print_line(&format!("{}  {}  {}", clock(now), self.painted(what, tone), harmless(text)));
    }

    /// Talk: how this program itself does.
    pub(super) fn talk(self, what: &str, data: Value, text: &str) {
        if self.json {
            return print_line(&line(what, SystemClock.now(), data));
        }
        say(&harmless(text));
    }

    fn painted(self, what: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Odd => 33,
            Tone::Bad => 31,
        };
        if self.colour { format!("\x1b[{code}m{what:<11}\x1b[0m") } else { format!("{what:<11}") }
    }
}

fn line(what: &str, now: Ticks, data: Value) -> String {
    let mut whole = json!({"what": what, "at": now.iso_millis()});
    if let (Some(whole), Value::Object(data)) = (whole.as_object_mut(), data) {
        whole.extend(data);
    }
    whole.to_string()
}

/// `08:30:00` of a moment, UTC.
fn clock(now: Ticks) -> String {
    now.iso_millis().split('T').nth(1).unwrap_or_default().chars().take(8).collect()
}

/// Nothing that a stranger sends may command the terminal.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_came_commands_the_terminal() {
        assert_eq!(harmless("a\x1b[31mb\u{9b}c"), "a\u{fffd}[31mb\u{fffd}c");
    }

    #[test]
    fn a_line_of_json_says_what_and_when() {
        let line: Value = serde_json::from_str(&line("event", Ticks(0), json!({"a": 1}))).unwrap();
        assert_eq!((&line["what"], &line["a"], line["at"].is_string()), (&json!("event"), &json!(1), true));
    }
}
