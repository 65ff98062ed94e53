//! The configuration. `aldaba.default.toml` defines every key and its default and is also the documentation. Later layers
//! override earlier ones, and every error names its location.

pub(crate) mod address;
mod backup;
mod duration;
mod exposure;
mod layers;
mod mail;
mod portal;
mod reader;
mod report;
mod second_factor;
mod typed;
mod urls;

use std::path::PathBuf;

pub(crate) use duration::{DURATION, parse_duration};
pub(crate) use exposure::exposures;
pub(crate) use mail::{MailServer, MailTls};
pub(crate) use typed::{Config, LogFormat, Server, StoreUrl, Tls};

/// The default file, embedded in the program.
pub(crate) const DEFAULT: &str = include_str!("../../aldaba.default.toml");

/// The layers above the defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// A file that must exist. If none is given, `aldaba.toml` is read if it exists.
    pub(crate) file: Option<PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
    /// `section.key` and value, from the command line.
    pub(crate) flags: Vec<(String, String)>,
}

/// One error and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigFault {
    pub(crate) origin: String,
    pub(crate) message: String,
}

impl std::fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// Reads all layers into a configuration, or returns all errors.
pub(crate) fn load(sources: &Sources) -> Result<Config, Vec<ConfigFault>> {
    let (settings, mut faults) = layers::gather(sources)?;
    let (config, value_faults) = typed::read(&settings);
    faults.extend(value_faults);
    if faults.is_empty() { Ok(config) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
