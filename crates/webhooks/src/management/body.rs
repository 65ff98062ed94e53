//! Reads JSON request bodies. Every fault is collected with its member, so that one response names them all; unknown
//! members are ignored.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use axum::body::Body;
use domain::problem::Problem;
use domain::suggest::nearest;
use domain::{ErrorCode, FieldError, Ticks};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use web::{ErrorResponse, drain_in_background};

use super::SECRET_BYTES_MAX;
use super::errors::error_with_code;

pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How much of a refused body is still read, so that the client sees the response.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The members of a JSON object that are not read yet, and the faults found so far.
#[derive(Debug)]
pub(super) struct JsonBody {
    members: Vec<(String, Value)>,
    faults: Vec<FieldError>,
}

impl JsonBody {
    pub(super) async fn read(mut body: Body) -> Result<Self, ErrorResponse> {
        let reading = Limited::new(&mut body, BODY_BYTES_MAX).collect();
        match tokio::time::timeout(BODY_TIMEOUT, reading).await {
            Ok(Ok(read)) => Self::parse(&read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                drain_in_background(body, DRAIN_BYTES_MAX);
                let message = format!("The body may have {} KiB at most.", BODY_BYTES_MAX / 1024);
                Err(error_with_code(ErrorCode::BodyTooLarge, None, &message))
            }
            Ok(Err(error)) if !web::is_body_stalled(&*error) => {
                Err(error_with_code(ErrorCode::BodyCutOff, None, "The body was cut off; send it again."))
            }
            Ok(Err(_)) | Err(_) => Err(error_with_code(
                ErrorCode::BodyTooSlow,
                None,
                "The body took too long to arrive; send it again.",
            )),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ErrorResponse> {
        // Some clients write a byte order mark.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(error_with_code(ErrorCode::InvalidJson, None, "The body must be one JSON object."));
        }
        let Object(members) = serde_json::from_slice(bytes).map_err(|error| {
            error_with_code(ErrorCode::InvalidJson, None, &format!("The body is not JSON: {error}."))
        })?;
        let mut body = Self { members, faults: Vec::new() };
        let mut names = HashSet::new();
        let twice = body.members.iter().find(|(name, _)| !names.insert(name)).map(|(name, _)| name.clone());
        if let Some(name) = twice {
            let message = format!("{name} was sent twice; send it once.");
            body.faults.push(FieldError::new(ErrorCode::DuplicateMember, message).at(name));
        }
        // Null means the same as an absent member.
        body.members.retain(|(_, value)| !value.is_null());
        Ok(body)
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let index = self.members.iter().position(|(member, _)| member == name)?;
        Some(self.members.swap_remove(index).1)
    }

    /// Takes the only remaining member that begins with `prefix` for `name`, where that one is absent and this one is a
    /// text. To be called when all members with other names are read.
    pub(super) fn rename_similar(&mut self, name: &'static str, prefix: &str) {
        let mut similar = self.members.iter_mut().filter(|(member, _)| member.starts_with(prefix));
        if let (Some((member, Value::String(_))), None) = (similar.next(), similar.next()) {
            name.clone_into(member);
        }
    }

    fn missing(&mut self, name: &'static str) {
        let others = self.members.iter().map(|(member, _)| member.as_str());
        let hint = nearest(name, others).map(|near| format!("; there is \"{near}\"")).unwrap_or_default();
        self.add_fault(name, ErrorCode::MissingMember, format!("{name} is missing{hint}."));
    }

    pub(super) fn add_fault(&mut self, name: &'static str, code: ErrorCode, message: impl Into<String>) {
        self.faults.push(FieldError::new(code, message).at(name));
    }

    /// A fault of a member whose value is not valid.
    pub(super) fn add_invalid(&mut self, name: &'static str, message: impl Into<String>) {
        self.add_fault(name, ErrorCode::InvalidMember, message);
    }

    fn take_as<T>(
        &mut self,
        name: &'static str,
        what: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Option<T> {
        let read = read(self.take(name)?);
        if read.is_none() {
            self.add_invalid(name, format!("{name} must be {what}."));
        }
        read
    }

    fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(member, _)| member == name)
    }

    fn any_text(&mut self, name: &'static str) -> Option<String> {
        self.take_as(name, "a text", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    pub(super) fn text_or_none(&mut self, name: &'static str, chars_max: usize) -> Option<String> {
        let text = self.any_text(name)?;
        if text.chars().count() > chars_max {
            self.add_invalid(name, format!("{name} may have {chars_max} characters at most."));
            return None;
        }
        // Not every store can keep it.
        if text.contains('\0') {
            self.add_invalid(name, format!("{name} must not contain a NUL character."));
            return None;
        }
        Some(text)
    }

    /// A required text that is not blank.
    pub(super) fn text(&mut self, name: &'static str, chars_max: usize) -> Option<String> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        let text = self.text_or_none(name, chars_max)?;
        if text.trim().is_empty() {
            self.add_invalid(name, format!("{name} must not be empty."));
            return None;
        }
        Some(text)
    }

    /// The required secret that signs deliveries: 1 to 256 bytes.
    pub(super) fn secret(&mut self) -> Option<String> {
        const SECRET: &str = "secret";
        if !self.has(SECRET) {
            self.missing(SECRET);
            return None;
        }
        let secret = self.any_text(SECRET)?;
        if secret.is_empty() || secret.len() > SECRET_BYTES_MAX {
            self.add_invalid(SECRET, format!("secret must have 1 to {SECRET_BYTES_MAX} bytes."));
            return None;
        }
        Some(secret)
    }

    pub(super) fn flag_or_none(&mut self, name: &'static str) -> Option<bool> {
        self.take_as(name, "true or false", |value| value.as_bool())
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        self.flag_or_none(name)
    }

    pub(super) fn number_or_none(&mut self, name: &'static str, from: u32, to: u32) -> Option<u32> {
        let what = format!("a whole number from {from} to {to}");
        // In JSON `24.0` is a whole number too.
        let whole = |value: Value| (from..=to).find(|number| value.as_f64() == Some(f64::from(*number)));
        self.take_as(name, &what, whole)
    }

    pub(super) fn time_or_none(&mut self, name: &'static str) -> Option<Ticks> {
        self.take_as(name, "a time as in 2026-11-15T08:30:00Z", |value| Ticks::parse_iso(value.as_str()?))
    }

    pub(super) fn time(&mut self, name: &'static str) -> Option<Ticks> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        self.time_or_none(name)
    }

    /// A required list with at least one text.
    pub(super) fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        let texts = self.take_as(name, "a list of strings", |value| match value {
            Value::Array(items) => {
                items.into_iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        })?;
        if texts.is_empty() {
            self.add_invalid(name, format!("{name} must not be empty."));
            return None;
        }
        Some(texts)
    }

    /// The parsed value, or all faults.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, ErrorResponse> {
        if let (Some(read), true) = (read, self.faults.is_empty()) {
            return Ok(read);
        }
        let first = self.faults.first();
        let message = first.map_or("The body is not valid.", |one| &one.message);
        // All codes of a body's faults have the status 400.
        let code = first.and_then(|one| ErrorCode::from_name(&one.code)).unwrap_or(ErrorCode::InvalidMember);
        let mut problem = Problem::new(code, message);
        problem.errors = self.faults;
        Err(problem.into())
    }
}

/// All members of an object in their order, duplicates included.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}
