//! The configuration. `aldaba.default.toml` defines every key and its default and is also the documentation. Later layers
//! override earlier ones, and every error names its location.

pub(crate) mod address;
mod backup;
mod duration;
mod exposure;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod layers;
mod logging;
mod mail;
mod portal;
mod reader;
mod report;
mod second_factor;
mod typed;
mod urls;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use duration::{DURATION, parse_duration};
pub(crate) use exposure::exposures;
pub(crate) use logging::LogFormat;
pub(crate) use mail::{MailServer, MailTls};
pub(crate) use typed::{Config, Server, StoreUrl, Tls};

/// The default file, embedded in the program.
pub(crate) const DEFAULT: &str = include_str!("../../aldaba.default.toml");

/// The layers above the defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// A file that must exist. If none is given, `aldaba.toml` is read if it exists.
    pub(crate) file: Option<PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
    /// `section.key` and value, from the command line.
    pub(crate) flags: Vec<(String, String)>,
}

impl Sources {
    /// Whether anything is given beside the defaults.
    pub(crate) fn is_empty(&self) -> bool {
        let has_variable = self.environment.iter().any(|(name, _)| name.starts_with(layers::ENVIRONMENT));
        self.file.is_none() && self.flags.is_empty() && !has_variable && layers::default_file().is_none()
    }

    /// The same layers for a process with another working directory and environment.
    pub(crate) fn for_another_folder(mut self) -> Self {
        let file = self.file.take().or_else(layers::default_file);
        self.file = file.map(|file| std::path::absolute(&file).unwrap_or(file));
        self.environment.retain(|(name, _)| name.starts_with(layers::ENVIRONMENT));
        self
    }
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
