//! Lets a refused sender finish: who is still sending when the connection closes may never see the answer.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;

const PATIENCE: Duration = Duration::from_secs(5);

/// Reads what is left of a body and forgets it, beside the answer that is on its way: up to `bytes_max` and
/// for a few seconds; past that the sender is cut off after all.
pub fn linger(mut rest: Body, bytes_max: usize) {
    tokio::spawn(tokio::time::timeout(PATIENCE, async move {
        let mut bytes = 0;
        while bytes < bytes_max
            && let Some(Ok(frame)) = rest.frame().await
        {
            bytes += frame.data_ref().map_or(0, Bytes::len);
        }
    }));
}
