//! Checks of the configuration and of the query and the host of the OpenAPI document, and the listeners' routes in process. For the
//! fuzz targets.

mod fixture;
mod operations;
mod operator_api;
mod routers;

pub use crate::config::fuzzing::configuration;
pub use crate::documents::fuzzing::{page_host, tags};
pub use fixture::{API_URL, AUTH_URL, BROWSER_ORIGIN, OPERATOR_URL, REGISTERED_URIS, fill_in};
pub use operator_api::{OPERATOR_TOKEN, operator_router};
pub use routers::{console_router, portal_router, public_router};
