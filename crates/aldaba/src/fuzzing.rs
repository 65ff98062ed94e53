//! Checks of the configuration and of the query of the OpenAPI document. For the fuzz targets.

pub use crate::config::fuzzing::configuration;
pub use crate::documents::fuzzing::tags;
