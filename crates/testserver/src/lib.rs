//! The service in the process of a test, on real sockets, with an HTTP client, a webhook receiver and fixtures that are made over the
//! operator's API. It depends on the whole program, so what needs a clock or randomness alone takes `testkit`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod fixtures;
mod http;
mod receiver;
mod server;
mod wait;

pub use fixtures::{CALLBACK, PASSWORD, TestClient, TestSubscription, TestTenant, TestUser};
pub use http::{Request, Response};
pub use receiver::{ReceivedRequest, Receiver};
pub use server::{TestServer, TestServerBuilder};
pub use testkit::{SeededRandom, TestClock};
pub use wait::wait_for;
