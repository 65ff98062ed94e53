//! What every room that speaks HTTP shares: the error body, request ids, measures, and the listener with
//! its TLS, bounds and orderly end.

pub mod address;
pub mod encoding;
mod linger;
pub mod listener;
pub mod measure;
pub mod problem;
mod request_id;
mod tasks;
pub mod tls;
mod unchanged;

pub use address::ClientAddress;
pub use linger::linger;
pub use listener::{Bounds, Listener, Stopper};
pub use measure::{Measures, Stopwatch};
pub use problem::Refusal;
pub use request_id::{Outermost, OutermostLayer, RequestId, Visit};
pub use tasks::{BoxFuture, DetachedTasks, Tasks};
pub use unchanged::is_known;
