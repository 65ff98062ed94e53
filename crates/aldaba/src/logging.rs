//! The program's log on standard error: text on a terminal, JSON otherwise. Lines written while a request is handled
//! carry its id. Text from outside cannot start a new line, nor reach the terminal as a control sequence.

use std::fmt;

use domain::{Clock as _, Ticks};
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use web::RequestId;

use crate::config::{Config, LogFormat};
use crate::output::{escaped, escaped_json, on_terminal};
use crate::wiring::SystemClock;

pub(crate) fn start(config: &Config) {
    // The configuration has checked the text; an empty one logs nothing.
    let filter: Targets = config.logging.level.parse().unwrap_or_default();
    let json = match config.logging.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !on_terminal(),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = tracing_subscriber::registry().with(filter);
    // A second call in the same process keeps the first subscriber.
    let _ = if json {
        log.with(lines.event_format(Json)).try_init()
    } else {
        log.with(lines.with_ansi(on_terminal()).event_format(Text)).try_init()
    };
}

/// The message and the other fields of an event.
#[derive(Default)]
struct EventData {
    message: String,
    /// In the order of the log statement.
    fields: Vec<(&'static str, Value)>,
}

impl EventData {
    fn from_event(event: &Event<'_>) -> Self {
        let mut data = Self::default();
        event.record(&mut data);
        data
    }

    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            // Events of the `log` crate carry their target and source position as fields.
            (name, _) if name.starts_with("log.") => {}
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Visit for EventData {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Value::String(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, Value::from(value));
    }
}

fn now() -> Ticks {
    SystemClock.now()
}

/// One JSON object per line.
struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let data = EventData::from_event(event);
        let mut line = Map::new();
        line.insert("timestamp".into(), now().iso().into());
        line.insert("level".into(), event.metadata().level().as_str().into());
        line.insert("target".into(), event.metadata().target().into());
        line.insert("message".into(), data.message.into());
        if let Some(id) = RequestId::current() {
            line.insert("requestId".into(), id.as_str().into());
        }
        line.extend(data.fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        writeln!(to, "{}", escaped_json(&Value::Object(line).to_string()))
    }
}

/// One line of text per event.
struct Text;

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let data = EventData::from_event(event);
        let level = *event.metadata().level();
        let (start, end) = if to.has_ansi_escapes() { (colour(level), "\u{1b}[0m") } else { ("", "") };
        write!(to, "{} {start}{:>5}{end} {}", now().iso_millis(), level.as_str(), escaped(&data.message))?;
        for (name, value) in &data.fields {
            match value {
                Value::String(text) => write!(to, " {name}={}", escaped(text))?,
                other => write!(to, " {name}={other}")?,
            }
        }
        if let Some(id) = RequestId::current() {
            write!(to, " requestId={}", escaped(id.as_str()))?;
        }
        writeln!(to)
    }
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\u{1b}[31m",
        Level::WARN => "\u{1b}[33m",
        Level::INFO => "\u{1b}[32m",
        Level::DEBUG => "\u{1b}[34m",
        Level::TRACE => "\u{1b}[35m",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What a log statement with hostile values writes.
    fn logged(json: bool) -> String {
        let written = Written::default();
        let writer = written.clone();
        let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false);
        let write = || {
            let user_agent = "curl\u{1b}[2J\u{9b}31m\u{202e}\nlevel=ERROR forged";
            tracing::warn!(user_agent, "refused {user_agent}");
        };
        if json {
            tracing::subscriber::with_default(log.event_format(Json).finish(), write);
        } else {
            tracing::subscriber::with_default(log.event_format(Text).finish(), write);
        }
        let bytes = written.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn header_of_a_request_cannot_control_the_terminal_or_forge_a_line() {
        for json in [false, true] {
            let text = logged(json);
            assert_eq!(text.lines().count(), 1, "{text:?}");
            assert!(!text.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
        assert!(logged(false).contains(r"user_agent=curl\u{1b}[2J\u{9b}31m\u{202e}\u{a}level"));
        let line: Value = serde_json::from_str(&logged(true)).unwrap();
        assert!(line["user_agent"].as_str().unwrap().contains("\u{1b}[2J\u{9b}"), "the value is unchanged");
    }
}
