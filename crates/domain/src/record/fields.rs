//! Reads typed fields from the `data` object; errors name the missing, invalid or unknown member.

use std::fmt::Write as _;

use crate::error_code::ErrorCode;
use crate::field_error::FieldError;
use crate::json::Object;
use crate::suggest::did_you_mean;

pub(super) const TEXT_CHARS_MAX: usize = 1000;

pub(super) struct Fields<'a> {
    data: &'a Object,
    known: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// Refuses unknown members, so that a misspelled one is not silently dropped.
    pub(super) fn of(data: &'a Object, known: &'static [&'static str]) -> Result<Self, FieldError> {
        for (name, _) in data.members() {
            if name != "correlationId" && !known.contains(&name) {
                let mut message = format!("data has an unknown member \"{name}\"");
                let _ = write!(
                    message,
                    "{}; known members are {}",
                    did_you_mean(name, known.iter().copied()),
                    known.join(", ")
                );
                return Err(FieldError::new(ErrorCode::UnknownMember, message).at(format!("data.{name}")));
            }
        }
        Ok(Self { data, known })
    }

    pub(super) fn text(&self, name: &'static str) -> Result<String, FieldError> {
        self.optional_text(name)?.ok_or_else(|| missing(name))
    }

    pub(super) fn text_or_empty(&self, name: &'static str) -> Result<String, FieldError> {
        Ok(self.optional_text(name)?.unwrap_or_default())
    }

    pub(super) fn optional_text(&self, name: &'static str) -> Result<Option<String>, FieldError> {
        debug_assert!(self.known.contains(&name));
        let Some(value) = self.data.get(name) else {
            return Ok(None);
        };
        let text: String = serde_json::from_str(value).map_err(|_| invalid(name, "must be a string"))?;
        if text.len() > TEXT_CHARS_MAX && text.chars().count() > TEXT_CHARS_MAX {
            return Err(invalid(name, "must have at most 1000 characters"));
        }
        Ok(Some(text))
    }

    pub(super) fn integer(&self, name: &'static str, from: i64, to: i64) -> Result<i64, FieldError> {
        debug_assert!(self.known.contains(&name));
        let value = self.data.get(name).ok_or_else(|| missing(name))?;
        let number: i64 = value.parse().map_err(|_| invalid(name, "must be an integer"))?;
        if (from..=to).contains(&number) {
            return Ok(number);
        }
        Err(invalid(name, &format!("must be from {from} to {to}")))
    }
}

fn missing(name: &'static str) -> FieldError {
    FieldError::new(
        ErrorCode::MissingMember,
        format!("data.{name} is missing; an upsert carries the whole record"),
    )
    .at(format!("data.{name}"))
}

pub(super) fn invalid(name: &'static str, why: &str) -> FieldError {
    FieldError::new(ErrorCode::InvalidMember, format!("data.{name} {why}")).at(format!("data.{name}"))
}
