//! Lets a refused sender finish: who is still sending when the connection closes never sees the answer.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;

const BYTES_MAX: usize = 8 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads what is left of a body and forgets it, within bounds; past them the sender is cut off after all.
pub async fn linger(mut rest: Body) {
    let reading = async {
        let mut bytes = 0;
        while bytes < BYTES_MAX
            && let Some(Ok(frame)) = rest.frame().await
        {
            bytes += frame.data_ref().map_or(0, axum::body::Bytes::len);
        }
    };
    let _ = tokio::time::timeout(PATIENCE, reading).await;
}
