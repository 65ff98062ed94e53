//! A small HTTP client: one connection per request, the response read to its end.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::{http1, http2};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;

use super::WAIT_MAX;

/// A request builder.
pub(crate) struct HttpRequest {
    method: Method,
    url: Uri,
    headers: HeaderMap,
    body: Bytes,
    http2: bool,
}

impl HttpRequest {
    pub(crate) fn new(method: Method, url: &str) -> Self {
        Self {
            method,
            url: url.parse().unwrap(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            http2: false,
        }
    }

    pub(crate) fn get(url: &str) -> Self {
        Self::new(Method::GET, url)
    }

    pub(crate) fn post(url: &str) -> Self {
        Self::new(Method::POST, url)
    }

    /// Sets a header, or removes it if the value is empty.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        let name = HeaderName::from_static(name);
        if value.is_empty() {
            self.headers.remove(name);
        } else {
            self.headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        self
    }

    /// Adds a header without replacing one of the same name.
    pub(crate) fn and_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Uses HTTP/2 with prior knowledge.
    pub(crate) fn http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    #[track_caller]
    pub(crate) fn send(self) -> HttpResponse {
        let url = self.url.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answered = runtime.block_on(async { tokio::time::timeout(WAIT_MAX, self.exchange()).await });
        match answered {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => panic!("{url}: {error}"),
            Err(late) => panic!("{url}: no response within {} s: {late}", WAIT_MAX.as_secs()),
        }
    }

    async fn exchange(self) -> Result<HttpResponse, Box<dyn std::error::Error>> {
        let authority = self.url.authority().ok_or("no host")?.clone();
        let stream = TokioIo::new(TcpStream::connect(authority.as_str()).await?);
        let mut request = Request::new(Full::new(self.body));
        (*request.method_mut(), *request.headers_mut()) = (self.method, self.headers);
        let response = if self.http2 {
            *request.uri_mut() = self.url;
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
            tokio::spawn(connection);
            sender.send_request(request).await?
        } else {
            *request.uri_mut() = self.url.path_and_query().ok_or("no path")?.as_str().parse()?;
            let host = HeaderValue::from_str(authority.as_str())?;
            request.headers_mut().entry("host").or_insert(host);
            let (mut sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            sender.send_request(request).await?
        };
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(HttpResponse { status: parts.status.as_u16(), headers: parts.headers, body })
    }
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpResponse {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json", "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks the error body that all APIs share and returns its message.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let body = self.json();
        assert_eq!(body["statusCode"], status, "{self:?}");
        let id = self.header("x-request-id");
        assert!(!id.is_empty() && body["requestId"] == id, "{self:?}");
        for member in body.as_object().unwrap().keys() {
            let known = ["statusCode", "code", "message", "requestId", "errors"];
            assert!(known.contains(&member.as_str()), "{self:?}");
        }
        self.assert_catalogued(status);
        let message = body["message"].as_str().unwrap();
        assert!(!message.is_empty(), "{self:?}");
        message.to_owned()
    }

    /// Checks that the codes of an error are in the catalogue, and that the error's own has this status.
    #[track_caller]
    pub(crate) fn assert_catalogued(&self, status: u16) {
        let body = self.json();
        let find = |value: &Value| value.as_str().and_then(domain::ErrorCode::from_name);
        assert_eq!(find(&body["code"]).map(domain::ErrorCode::status), Some(status), "{self:?}");
        for fault in body["errors"].as_array().into_iter().flatten() {
            assert!(find(&fault["code"]).is_some(), "{self:?}");
        }
    }

    /// The code of the first entry in `errors`.
    #[track_caller]
    pub(crate) fn problem_code(&self) -> String {
        self.json()["errors"][0]["code"].as_str().unwrap().to_owned()
    }
}
