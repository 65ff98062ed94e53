//! The configuration: one commented file holds every key and its default, and is the documentation too.
//! Layers go on top of each other; what is wrong is told with the place where it stands.

pub(crate) mod address;
mod duration;
mod layers;
mod reader;
mod typed;

use std::path::PathBuf;

pub(crate) use duration::{DURATION, parse_duration};
pub(crate) use typed::{Config, LogFormat, StoreUrl};

/// The default file, as it is shipped.
pub(crate) const DEFAULT: &str = include_str!("../../aldaba.default.toml");

/// Where the values come from, besides the defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// A file that must be there; without one, `aldaba.toml` is taken where it is.
    pub(crate) file: Option<PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
    /// `section.key` and value, from the command line.
    pub(crate) flags: Vec<(String, String)>,
}

/// One thing that is wrong, and where.
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

/// Reads all layers into a configuration, or tells everything that is wrong with them.
pub(crate) fn load(sources: &Sources) -> Result<Config, Vec<ConfigFault>> {
    let (settings, mut faults) = layers::gather(sources)?;
    let (config, wrong) = typed::read(&settings);
    faults.extend(wrong);
    if faults.is_empty() { Ok(config) } else { Err(faults) }
}

#[cfg(test)]
mod tests;
