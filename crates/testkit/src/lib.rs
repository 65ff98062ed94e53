//! What tests share: a clock that a test moves, seeded randomness and, with the feature `server`, the service in process on
//! a real socket, an HTTP client, a webhook receiver and fixtures that are made over the operator's API.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod clock;
mod random;

#[cfg(feature = "server")]
mod fixtures;
#[cfg(feature = "server")]
mod http;
#[cfg(feature = "server")]
mod receiver;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod wait;

pub use clock::TestClock;
pub use random::SeededRandom;

#[cfg(feature = "server")]
pub use fixtures::{CALLBACK, PASSWORD, TestClient, TestSubscription, TestTenant, TestUser};
#[cfg(feature = "server")]
pub use http::{Request, Response};
#[cfg(feature = "server")]
pub use receiver::{ReceivedRequest, Receiver};
#[cfg(feature = "server")]
pub use server::{TestServer, TestServerBuilder};
#[cfg(feature = "server")]
pub use wait::wait_for;
