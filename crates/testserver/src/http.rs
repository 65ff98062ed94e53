//! A blocking HTTP/1.1 client for tests: one request, one connection, the whole response.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

const TIME_MAX: Duration = Duration::from_secs(30);

/// A request that is being built.
#[derive(Debug)]
#[must_use]
pub struct Request {
    method: Method,
    url: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    #[track_caller]
    pub fn new(method: Method, url: &str) -> Self {
        let url = url.parse().unwrap_or_else(|error| panic!("{url}: {error}"));
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new() }
    }

    #[track_caller]
    pub fn get(url: &str) -> Self {
        Self::new(Method::GET, url)
    }

    #[track_caller]
    pub fn post(url: &str) -> Self {
        Self::new(Method::POST, url)
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into();
        self.header("content-type", "application/json")
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the request. Fails the test where no response comes.
    #[track_caller]
    pub fn send(self) -> Response {
        let described = format!("{} {}", self.method, self.url);
        self.try_send().unwrap_or_else(|error| panic!("{described}: {error}"))
    }

    /// Sends the request. `Err`: no response came.
    pub fn try_send(self) -> Result<Response, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sent = runtime.block_on(async { tokio::time::timeout(TIME_MAX, self.exchange()).await });
        sent.unwrap_or_else(|_| Err(format!("no response within {TIME_MAX:?}")))
    }

    async fn exchange(self) -> Result<Response, String> {
        let authority = self.url.authority().ok_or("no host in the URL")?.clone();
        let stream = TcpStream::connect(authority.as_str()).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let driver = tokio::spawn(connection);
        let target = self.url.path_and_query().map_or("/", |target| target.as_str());
        let mut request = hyper::Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() =
            target.parse().map_err(|error: hyper::http::uri::InvalidUri| error.to_string())?;
        *request.headers_mut() = self.headers;
        request.headers_mut().insert("host", HeaderValue::from_str(authority.as_str()).unwrap());
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        driver.abort();
        Ok(Response { status: parts.status.as_u16(), headers: parts.headers, body })
    }
}

#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Response {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Fails the test where the status is another one.
    #[track_caller]
    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}
