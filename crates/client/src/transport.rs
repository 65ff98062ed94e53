//! How requests leave: a port, so that tests and applications with a network of their own can hand in another, and
//! the one over HTTP and HTTPS that is used otherwise.

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
/// A page of 1,000 records that are long.
const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Takes a request to its host and brings the whole answer. Never follows a redirect.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError>;
}

/// Why there is no whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    Unreachable(String),
    TimedOut(Duration),
    TooLarge { bytes_max: usize },
}

/// Over HTTP/1.1, HTTP/2 and TLS 1.2 and 1.3, with the machine's certificate authorities; connections are kept.
#[derive(Clone)]
pub struct HttpTransport {
    #[allow(clippy::disallowed_types, reason = "this is the transport that everything else is given")]
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
    pub fn new() -> Result<Self, Error> {
        Self::trusting(&[])
    }

    /// Trusts these authorities, too, given as PEM: that of a private service.
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
        #[allow(clippy::disallowed_types, reason = "this is the transport that everything else is given")]
        let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Ok(Self { client, timeout: TIMEOUT, response_bytes_max: RESPONSE_BYTES_MAX })
    }

    /// How long one call may take, from connecting to the answer's end.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How large an answer may be.
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
        let whole = tokio::time::timeout(self.timeout, self.exchange(request)).await;
        whole.unwrap_or(Err(TransportError::TimedOut(self.timeout)))
    }
}

/// An error with what it was caused by.
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
