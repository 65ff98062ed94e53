//! Sends changes to the ingest API of a running service.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use store::StoreError;
use tokio::net::TcpStream;

use crate::exit::Failure;

/// Streams the changes to the service and returns its response. Only plain http: the operator API listens on loopback
/// or in a trusted network.
pub(crate) async fn send(
    url: &str,
    token: &str,
    tenant: &str,
    idempotency_key: Option<&str>,
    body: impl Stream<Item = std::io::Result<Bytes>> + Send + 'static,
) -> Result<Value, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("{url}: {error}"));
    let base: Uri = url.parse().map_err(|error| failed(&error))?;
    let authority = match (base.scheme_str(), base.authority()) {
        (Some("http"), Some(authority)) => authority.clone(),
        _ => {
            return Err(Failure::Usage(format!("--url must be an http:// URL, not {url:?}")));
        }
    };
    let address = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
    let stream = TcpStream::connect(&address).await.map_err(|error| failed(&error))?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
    tokio::spawn(connection);
    let mut request = Request::post(format!("/operator/v1/tenants/{tenant}/changes"))
        .header("host", authority.as_str())
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/x-ndjson");
    if let Some(key) = idempotency_key {
        request = request.header("idempotency-key", key);
    }
    let frames = Box::pin(body.map(|chunk| chunk.map(Frame::data)));
    let request = request.body(StreamBody::new(frames)).map_err(|error| failed(&error))?;
    let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
    let status = response.status();
    let bytes = response.into_body().collect().await.map_err(|error| failed(&error))?.to_bytes();
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match status {
        StatusCode::OK => Ok(answer),
        StatusCode::NOT_FOUND | StatusCode::CONFLICT => Err(Failure::Refused(message(&answer, status))),
        StatusCode::SERVICE_UNAVAILABLE => {
            Err(Failure::Store(StoreError::Unavailable(message(&answer, status))))
        }
        _ => Err(Failure::Failed(message(&answer, status))),
    }
}

fn message(answer: &Value, status: StatusCode) -> String {
    answer["message"].as_str().map_or_else(|| format!("the service responded with {status}"), str::to_owned)
}
