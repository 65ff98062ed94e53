//! Checks of what the operator writes into the configuration of the store. For the fuzz targets.

pub use crate::postgres::fuzzing::connection_url;
