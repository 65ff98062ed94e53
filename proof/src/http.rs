//! Calls of the service, each bounded in time.

use std::time::Duration;

use aldaba_client::{HttpTransport, Transport as _};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use serde_json::Value;

use crate::Fallible;

/// An HTTP client with one time limit for all its calls.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    transport: HttpTransport,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The answer, if it has this status.
    pub(crate) fn expect(self, status: u16) -> Fallible<Self> {
        if self.status == status {
            return Ok(self);
        }
        Err(format!("{} instead of {status}: {}", self.status, self.text()).into())
    }
}

impl Http {
    pub(crate) fn new(timeout: Duration) -> Fallible<Self> {
        Ok(Self { transport: HttpTransport::new()?.timeout(timeout) })
    }

    /// Sends a request without a body.
    pub(crate) async fn get(&self, url: &str, headers: &[(&str, &str)]) -> Fallible<Answer> {
        self.send("GET", url, headers, Bytes::new()).await
    }

    pub(crate) async fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Fallible<Answer> {
        self.send("POST", url, headers, body.into()).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Fallible<Answer> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response: Response<Bytes> = self
            .transport
            .send(request.body(body)?)
            .await
            .map_err(|error| format!("{method} {url}: {error:?}"))?;
        let (parts, body) = response.into_parts();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }
}
