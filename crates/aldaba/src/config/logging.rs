//! `[logging]`: what is logged, and in which format.

use serde::Serialize;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::reader::SettingsReader;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Logging {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Auto,
    Text,
    Json,
}

pub(super) fn logging(reader: &mut SettingsReader<'_>) -> Logging {
    let format = |text: &str| match text {
        "auto" => Some(LogFormat::Auto),
        "text" => Some(LogFormat::Text),
        "json" => Some(LogFormat::Json),
        _ => None,
    };
    let is_level = |text: &str| {
        let mut parts = text.split(',').map(str::trim);
        let is_complete = parts.all(|part| part.contains('=') || part.parse::<LevelFilter>().is_ok());
        (is_complete && text.parse::<Targets>().is_ok()).then(|| text.to_owned())
    };
    Logging {
        level: reader.parsed(
            "logging.level",
            String::new(),
            is_level,
            "must be error, warn, info, debug or trace, or such a level per module as in info,store=debug",
        ),
        format: reader.parsed("logging.format", LogFormat::Auto, format, "must be auto, text or json"),
    }
}
