//! One entry of an error response: a stable code, a message for people and the name of the field.

use std::borrow::Cow;

use crate::error_code::ErrorCode;
use serde::{Deserialize, Serialize};

/// One error in a request. `code` is for programs and never changes; `message` says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    pub code: Cow<'static, str>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<Cow<'static, str>>,
}

impl FieldError {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code.as_str()), message: message.into(), field: None }
    }

    /// Names the field that the error is about.
    pub fn at(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(field.into());
        self
    }
}
