//! The changes door of one tenant, as a writer sees it.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use super::{Call, Raw, Reply, ndjson};

#[derive(Clone, Debug)]
pub(crate) struct Door {
    operator_url: String,
    token: String,
    pub(crate) tenant: String,
}

/// The door's answer; a member that the design does not name fails the test.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) process_id: String,
    pub(crate) accepted: u64,
    pub(crate) rejected: u64,
    pub(crate) last_sequence_version: String,
    pub(crate) errors: Vec<LineFault>,
    #[serde(default)]
    pub(crate) warnings: Vec<LineFault>,
    pub(crate) ids: Vec<MadeId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineFault {
    pub(crate) line: u64,
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) field: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MadeId {
    pub(crate) line: u64,
    pub(crate) correlation_id: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn of(reply: &Reply) -> Self {
        assert_eq!(reply.status, 200, "{reply:?}");
        serde_json::from_value(reply.json()).unwrap_or_else(|error| panic!("{error}: {reply:?}"))
    }

    /// The log's head.
    pub(crate) fn head(&self) -> u64 {
        self.last_sequence_version.parse().unwrap()
    }

    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.accepted, self.rejected)
    }

    /// The lines that were refused, each with its code.
    pub(crate) fn refused(&self) -> Vec<(u64, &str)> {
        self.errors.iter().map(|error| (error.line, error.code.as_str())).collect()
    }

    /// The one error of an answer that has one.
    #[track_caller]
    pub(crate) fn only_error(&self) -> &LineFault {
        assert_eq!((self.rejected, self.errors.len()), (1, 1), "{self:?}");
        &self.errors[0]
    }
}

impl Door {
    pub(crate) fn new(operator_url: &str, token: &str, tenant: &str) -> Self {
        Self { operator_url: operator_url.to_owned(), token: token.to_owned(), tenant: tenant.to_owned() }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/operator/v1/tenants/{}/changes", self.operator_url, self.tenant)
    }

    /// A request with everything in order but a body.
    pub(crate) fn call(&self) -> Call {
        let bearer = format!("Bearer {}", self.token);
        Call::post(&self.url())
            .header("authorization", &bearer)
            .header("content-type", "application/x-ndjson")
    }

    #[track_caller]
    pub(crate) fn send(&self, body: impl Into<Bytes>) -> Answer {
        Answer::of(&self.call().body(body).send())
    }

    #[track_caller]
    pub(crate) fn send_lines(&self, lines: &[Value]) -> Answer {
        self.send(ndjson(lines))
    }

    #[track_caller]
    pub(crate) fn send_under(&self, key: &str, body: impl Into<Bytes>) -> Answer {
        Answer::of(&self.call().header("idempotency-key", key).body(body).send())
    }

    /// The log's head, as an empty body tells it.
    #[track_caller]
    pub(crate) fn head(&self) -> u64 {
        self.send("").head()
    }

    /// A request by hand, whose head ends with these lines.
    pub(crate) fn raw(&self, headers: &str) -> Raw {
        let path = format!("/operator/v1/tenants/{}/changes", self.tenant);
        let token = &self.token;
        Raw::open(&self.url(), &format!("POST {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\n{headers}"))
    }
}
