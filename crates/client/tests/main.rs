//! Tests of the client without a service: signatures, the layer, the inbox, filters, and sign-in and reads over a fake
//! transport. The integration tests of the program run it against the real service.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod cases;
