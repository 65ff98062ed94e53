//! A client of the ingest API for one tenant.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::{HttpRequest, HttpResponse, RawConnection, ndjson};

#[derive(Clone, Debug)]
pub(crate) struct IngestClient {
    operator_url: String,
    token: String,
    pub(crate) tenant: String,
}

/// The response of the ingest API. An undocumented member fails the test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct IngestResponse {
    pub(crate) process_id: String,
    pub(crate) accepted: u64,
    pub(crate) rejected: u64,
    pub(crate) last_sequence_version: String,
    pub(crate) errors: Vec<LineError>,
    #[serde(default)]
    pub(crate) warnings: Vec<LineError>,
    pub(crate) ids: Vec<GeneratedId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineError {
    pub(crate) line: u64,
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) field: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GeneratedId {
    pub(crate) line: u64,
    pub(crate) correlation_id: String,
}

impl IngestResponse {
    #[track_caller]
    pub(crate) fn from_response(response: &HttpResponse) -> Self {
        assert_eq!(response.status, 200, "{response:?}");
        serde_json::from_value(response.json()).unwrap_or_else(|error| panic!("{error}: {response:?}"))
    }

    /// The head of the tenant's log.
    pub(crate) fn head(&self) -> u64 {
        self.last_sequence_version.parse().unwrap()
    }

    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.accepted, self.rejected)
    }

    /// The rejected lines, each with its error code.
    pub(crate) fn rejected_lines(&self) -> Vec<(u64, &str)> {
        self.errors.iter().map(|error| (error.line, error.code.as_str())).collect()
    }

    /// The error of a response that has exactly one.
    #[track_caller]
    pub(crate) fn only_error(&self) -> &LineError {
        assert_eq!((self.rejected, self.errors.len()), (1, 1), "{self:?}");
        &self.errors[0]
    }
}

impl IngestClient {
    pub(crate) fn new(operator_url: &str, token: &str, tenant: &str) -> Self {
        Self { operator_url: operator_url.to_owned(), token: token.to_owned(), tenant: tenant.to_owned() }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/operator/v1/tenants/{}/changes", self.operator_url, self.tenant)
    }

    /// A valid request without a body.
    pub(crate) fn request(&self) -> HttpRequest {
        let bearer = format!("Bearer {}", self.token);
        HttpRequest::post(&self.url())
            .header("authorization", &bearer)
            .header("content-type", "application/x-ndjson")
    }

    #[track_caller]
    pub(crate) fn send(&self, body: impl Into<Bytes>) -> IngestResponse {
        IngestResponse::from_response(&self.request().body(body).send())
    }

    #[track_caller]
    pub(crate) fn send_lines(&self, lines: &[Value]) -> IngestResponse {
        self.send(ndjson(lines))
    }

    #[track_caller]
    pub(crate) fn send_with_idempotency_key(&self, key: &str, body: impl Into<Bytes>) -> IngestResponse {
        IngestResponse::from_response(&self.request().header("idempotency-key", key).body(body).send())
    }

    /// The head of the tenant's log, read with an empty body.
    #[track_caller]
    pub(crate) fn head(&self) -> u64 {
        self.send("").head()
    }

    /// A raw request whose head ends with these header lines.
    pub(crate) fn raw(&self, headers: &str) -> RawConnection {
        let path = format!("/operator/v1/tenants/{}/changes", self.tenant);
        let token = &self.token;
        RawConnection::open(
            &self.url(),
            &format!("POST {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\n{headers}"),
        )
    }
}
