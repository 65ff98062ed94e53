//! The program's log on standard error: text on a terminal, JSON otherwise. Lines written while a request is handled
//! carry its id.

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
use crate::output::on_terminal;
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
        writeln!(to, "{}", Value::Object(line))
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
        write!(to, "{} {start}{:>5}{end} {}", now().iso_millis(), level.as_str(), data.message)?;
        for (name, value) in &data.fields {
            match value {
                Value::String(text) => write!(to, " {name}={text}")?,
                other => write!(to, " {name}={other}")?,
            }
        }
        if let Some(id) = RequestId::current() {
            write!(to, " requestId={}", id.as_str())?;
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
