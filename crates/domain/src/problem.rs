//! The error body that every API uses: `{"statusCode","code","message","requestId","errors"}`.

use serde::Serialize;

use crate::error_code::ErrorCode;
use crate::field_error::FieldError;

/// An error response, before the request id is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub code: ErrorCode,
    pub status: u16,
    pub message: String,
    pub errors: Vec<FieldError>,
}

/// The JSON body of an error response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProblemBody<'a> {
    pub status_code: u16,
    pub code: &'static str,
    pub message: &'a str,
    pub request_id: &'a str,
    #[serde(skip_serializing_if = "<[FieldError]>::is_empty")]
    pub errors: &'a [FieldError],
}

impl Problem {
    /// The code decides the status.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, status: code.status(), message: message.into(), errors: Vec::new() }
    }

    pub fn with(mut self, error: FieldError) -> Self {
        self.errors.push(error);
        self
    }

    pub fn body<'a>(&'a self, request_id: &'a str) -> ProblemBody<'a> {
        ProblemBody {
            status_code: self.status,
            code: self.code.as_str(),
            message: &self.message,
            request_id,
            errors: &self.errors,
        }
    }
}
