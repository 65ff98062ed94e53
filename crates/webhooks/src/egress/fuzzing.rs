//! Checks of responses to deliveries: any bytes as what a receiver sends.

use std::cell::RefCell;
use std::time::Duration;

use bytes::Bytes;
use domain::Ticks;
use domain::fuzzing::signature;
use http::Request;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::{Builder, Runtime};

use super::dialler::connection_builder;
use super::error::EgressError;
use super::exchange::{RESPONSE_BYTES_MAX, read_body, retry_after};

const NOW: Ticks = Ticks(639_000_000_000_000_000);
/// Bytes on the way between the two ends.
const PIPE_BYTES: usize = 64 * 1024;

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
}

/// Any bytes as the response of a receiver, which then closes the connection. The exchange ends; a response has a status, at most the first
/// part of its body, and a `Retry-After` only if it has such a header; a failure is told in words.
pub fn receiver_response(data: &[u8]) -> u64 {
    RUNTIME.with_borrow_mut(|runtime| {
        let runtime = runtime.get_or_insert_with(|| match Builder::new_current_thread().build() {
            Ok(runtime) => runtime,
            Err(error) => panic!("{error}"),
        });
        runtime.block_on(exchange(data))
    })
}

async fn exchange(data: &[u8]) -> u64 {
    let (near, mut far) = tokio::io::duplex(PIPE_BYTES);
    let receiver = async {
        let mut request = [0; 512];
        let _ = far.read(&mut request).await;
        let _ = far.write_all(data).await;
        let _ = far.shutdown().await;
        drop(far);
    };
    let (outcome, ()) = tokio::join!(sender(near, data), receiver);
    match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            let told = EgressError::from_http(&error).to_string();
            assert!(!told.is_empty());
            signature(&told)
        }
    }
}

async fn sender(near: tokio::io::DuplexStream, data: &[u8]) -> hyper::Result<u64> {
    let (mut sender, connection) = connection_builder().handshake(TokioIo::new(near)).await?;
    let exchange = async move {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = http::Uri::from_static("/hook");
        let (head, body) = sender.send_request(request).await?.into_parts();
        let (body, is_complete) = read_body(body).await?;
        let wait = retry_after(&head.headers, NOW);
        assert!(body.len() <= RESPONSE_BYTES_MAX && body.len() <= data.len(), "{} bytes", body.len());
        assert!(wait.is_none() || head.headers.contains_key(http::header::RETRY_AFTER));
        let class = u64::from(head.status.as_u16() / 100);
        let wait = u64::from(wait.is_some_and(|wait| wait > Duration::from_secs(60)));
        Ok(class | u64::from(is_complete) << 4 | wait << 5 | u64::from(body.is_empty()) << 6)
    };
    // The connection has to be polled for as long as the response is read.
    tokio::pin!(exchange);
    tokio::pin!(connection);
    tokio::select! {
        outcome = &mut exchange => outcome,
        _ = &mut connection => exchange.await,
    }
}
