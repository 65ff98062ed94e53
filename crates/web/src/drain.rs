//! Reads the rest of a refused request's body. A client that is still sending when the connection closes may never
//! see the response.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;

const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads and discards the rest of a body while the response is sent: at most `bytes_max` bytes and 5 seconds.
/// After that the connection closes even if the client is still sending.
pub fn drain_in_background(mut body: Body, bytes_max: usize) {
    tokio::spawn(tokio::time::timeout(DRAIN_TIMEOUT, async move {
        let mut bytes = 0;
        while bytes < bytes_max
            && let Some(Ok(frame)) = body.frame().await
        {
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    }));
}
