//! The one error body of every API: `{"statusCode","message","requestId","errors"}`.

use serde::Serialize;

use crate::field_error::FieldError;

/// What went wrong with a request, before it is given its request id and written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub status: u16,
    pub message: String,
    pub errors: Vec<FieldError>,
}

/// The body as it goes over the wire.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProblemBody<'a> {
    pub status_code: u16,
    pub message: &'a str,
    pub request_id: &'a str,
    #[serde(skip_serializing_if = "<[FieldError]>::is_empty")]
    pub errors: &'a [FieldError],
}

impl Problem {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), errors: Vec::new() }
    }

    pub fn with(mut self, fault: FieldError) -> Self {
        self.errors.push(fault);
        self
    }

    pub fn body<'a>(&'a self, request_id: &'a str) -> ProblemBody<'a> {
        ProblemBody { status_code: self.status, message: &self.message, request_id, errors: &self.errors }
    }
}
