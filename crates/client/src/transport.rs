//! The transport of HTTP requests: a trait, so that tests and applications can replace it, and the default
//! implementation.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::Error;

const TIMEOUT: Duration = Duration::from_secs(30);
/// Enough for a page of 1,000 long records.
const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Sends a request and returns the whole response. Implementations must not follow redirects.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Sends one request and returns the whole response.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

/// Why there is no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// No connection, or the connection broke; with the reason.
    Unreachable(String),
    /// No complete response within this time.
    TimedOut(Duration),
    /// The response is larger than the limit.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
}

/// The default transport: HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3, with connection pooling.
#[derive(Clone)]
pub struct HttpTransport {
    #[allow(clippy::disallowed_types, reason = "the only place that opens connections")]
    client: hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
    response_bytes_max: usize,
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl HttpTransport {
    /// A transport with the certificate authorities of the operating system.
    pub fn new() -> Result<Self, Error> {
        Self::trusting(&[])
    }

    /// Trusts additional certificate authorities, given as PEM; for a service with a private authority.
    pub fn trusting(authorities: &[&[u8]]) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for pem in authorities {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let unusable = |reason: String| Error::invalid_input("a certificate authority", reason);
                let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
                roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
            }
        }
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let tls = ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::invalid_input("TLS", error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let connector = connector.enable_all_versions().build();
        #[allow(clippy::disallowed_types, reason = "the only place that opens connections")]
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Ok(Self { client, timeout: TIMEOUT, response_bytes_max: RESPONSE_BYTES_MAX })
    }

    /// The time limit of one call, from connecting to the end of the response. The default is 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The size limit of a response. The default is 64 MiB.
    pub fn response_bytes_max(mut self, bytes: usize) -> Self {
        self.response_bytes_max = bytes;
        self
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let unreachable = |error: &dyn std::error::Error| TransportError::Unreachable(chain(error));
        let response =
            self.client.request(request.map(Full::new)).await.map_err(|error| unreachable(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, self.response_bytes_max).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                TransportError::TooLarge { bytes_max: self.response_bytes_max }
            } else {
                unreachable(&*error)
            }
        })?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let result = tokio::time::timeout(self.timeout, self.exchange(request)).await;
        result.unwrap_or(Err(TransportError::TimedOut(self.timeout)))
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
