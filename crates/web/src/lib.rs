//! The HTTP parts that every HTTP crate shares: the error body, request ids, metrics, conditional requests,
//! content encodings, and the listener with its TLS, limits and graceful shutdown.

pub mod address;
pub mod certificates;
mod conditional;
mod connection;
mod drain;
pub mod encoding;
pub mod error_response;
pub mod listener;
pub mod metrics;
mod path_prefix;
mod request_id;
mod request_layer;
mod retry_after;
mod tasks;
pub mod tls;

pub use address::{ClientAddress, UnnamedProxy};
pub use conditional::if_none_match_matches;
pub use connection::activity::Deadlines;
pub use connection::bodies::is_body_stalled;
pub use drain::drain_in_background;
pub use error_response::ErrorResponse;
pub use listener::{Listener, ListenerLimits, ShutdownTrigger};
pub use metrics::{ConnectionMetrics, Metrics, Stopwatch};
pub use path_prefix::below_prefix;
pub use request_id::RequestId;
pub use request_layer::{RequestContext, RequestLayer, RequestLayerConfig};
pub use retry_after::retry_after_seconds;
pub use tasks::{BoxFuture, DetachedTasks, Tasks};
