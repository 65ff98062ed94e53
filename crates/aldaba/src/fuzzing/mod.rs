//! Checks of the configuration and of the query of the OpenAPI document, and the operator's API in process. For the fuzz targets.

mod operator_api;

pub use crate::config::fuzzing::configuration;
pub use crate::documents::fuzzing::tags;
pub use operator_api::{OPERATOR_TOKEN, operator_router};
