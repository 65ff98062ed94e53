//! The program's log, on standard error: text on a terminal, JSON elsewhere.

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};
use crate::output::on_terminal;

pub(crate) fn start(config: &Config) {
    let filter = EnvFilter::try_new(&config.logging.level).unwrap_or_default();
    let json = match config.logging.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !on_terminal(),
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start in one process keeps the first log.
    let _ = if json {
        log.json().flatten_event(true).with_span_list(false).try_init()
    } else {
        log.with_target(false).with_ansi(on_terminal()).try_init()
    };
}
