//! Reading a JSON body: strict in what it says, kind in how. All that is wrong with it is told at once, each with its
//! member; members that nobody knows are passed over.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use axum::body::Body;
use domain::problem::Problem;
use domain::suggest::nearest;
use domain::{FieldError, Ticks};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use web::{ErrorResponse, drain_in_background};

use super::refusal::coded;

pub(super) const BODY_BYTES_MAX: usize = 64 * 1024;
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How much of a refused body is still read, so that its sender sees the answer.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;
const SECRET_BYTES_MAX: usize = 256;

/// The members of an object, and what was found to be wrong with them so far.
#[derive(Debug)]
pub(super) struct Members {
    given: Vec<(String, Value)>,
    faults: Vec<FieldError>,
}

impl Members {
    pub(super) async fn read(mut body: Body) -> Result<Self, ErrorResponse> {
        let reading = Limited::new(&mut body, BODY_BYTES_MAX).collect();
        match tokio::time::timeout(BODY_PATIENCE, reading).await {
            Ok(Ok(read)) => Self::parse(&read.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                drain_in_background(body, DRAIN_BYTES_MAX);
                let message = format!("The body may have {} KiB at most.", BODY_BYTES_MAX / 1024);
                Err(coded(413, "body_too_large", None, &message))
            }
            Ok(Err(_)) => Err(coded(400, "body_cut_off", None, "The body was cut off; send it again.")),
            Err(_) => {
                Err(coded(408, "body_too_slow", None, "The body took too long to come; send it again."))
            }
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ErrorResponse> {
        // Some clients write a byte order mark.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(coded(400, "invalid_json", None, "The body must be one JSON object."));
        }
        let Object(given) = serde_json::from_slice(bytes)
            .map_err(|error| coded(400, "invalid_json", None, &format!("The body is not JSON: {error}.")))?;
        let mut read = Self { given, faults: Vec::new() };
        let mut seen = HashSet::new();
        let twice = read.given.iter().find(|(name, _)| !seen.insert(name)).map(|(name, _)| name.clone());
        if let Some(name) = twice {
            let message = format!("{name} came twice; send it once.");
            read.faults.push(FieldError::new("duplicate_member", message).at(name));
        }
        // Null is as if it were not given.
        read.given.retain(|(_, value)| !value.is_null());
        Ok(read)
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.given.iter().position(|(given, _)| given == name)?;
        Some(self.given.swap_remove(place).1)
    }

    fn missing(&mut self, name: &'static str) {
        let others = self.given.iter().map(|(given, _)| given.as_str());
        let hint = nearest(name, others).map(|near| format!("; there is \"{near}\"")).unwrap_or_default();
        self.wrong(name, "missing_member", format!("{name} is missing{hint}."));
    }

    pub(super) fn wrong(&mut self, name: &'static str, code: &'static str, message: impl Into<String>) {
        self.faults.push(FieldError::new(code, message).at(name));
    }

    /// A value that is not what it must be.
    pub(super) fn invalid(&mut self, name: &'static str, message: impl Into<String>) {
        self.wrong(name, "invalid_member", message);
    }

    fn taken<T>(
        &mut self,
        name: &'static str,
        what: &str,
        read: impl FnOnce(Value) -> Option<T>,
    ) -> Option<T> {
        let read = read(self.take(name)?);
        if read.is_none() {
            self.invalid(name, format!("{name} must be {what}."));
        }
        read
    }

    fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| given == name)
    }

    pub(super) fn text_or_none(&mut self, name: &'static str, chars_max: usize) -> Option<String> {
        let text = self.taken(name, "a text", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })?;
        if text.chars().count() > chars_max {
            self.invalid(name, format!("{name} may have {chars_max} characters at most."));
            return None;
        }
        Some(text)
    }

    /// A text that must be there, with something in it.
    pub(super) fn text(&mut self, name: &'static str, chars_max: usize) -> Option<String> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        let text = self.text_or_none(name, chars_max)?;
        if text.trim().is_empty() {
            self.invalid(name, format!("{name} must not be empty."));
            return None;
        }
        Some(text)
    }

    /// With what deliveries are signed: 1 to 256 bytes.
    pub(super) fn secret(&mut self) -> Option<String> {
        const SECRET: &str = "secret";
        if !self.has(SECRET) {
            self.missing(SECRET);
            return None;
        }
        let secret = self.text_or_none(SECRET, usize::MAX)?;
        if secret.is_empty() || secret.len() > SECRET_BYTES_MAX {
            self.invalid(SECRET, format!("secret must have 1 to {SECRET_BYTES_MAX} bytes."));
            return None;
        }
        Some(secret)
    }

    pub(super) fn flag_or_none(&mut self, name: &'static str) -> Option<bool> {
        self.taken(name, "true or false", |value| value.as_bool())
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
        // To JSON `24.0` is a whole number, too.
        let whole = |value: Value| (from..=to).find(|number| value.as_f64() == Some(f64::from(*number)));
        self.taken(name, &what, whole)
    }

    pub(super) fn time_or_none(&mut self, name: &'static str) -> Option<Ticks> {
        self.taken(name, "a time as in 2026-11-15T08:30:00Z", |value| Ticks::parse_iso(value.as_str()?))
    }

    pub(super) fn time(&mut self, name: &'static str) -> Option<Ticks> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        self.time_or_none(name)
    }

    /// A list of texts that must be there, with at least one in it.
    pub(super) fn texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        if !self.has(name) {
            self.missing(name);
            return None;
        }
        let texts = self.taken(name, "a list of texts", |value| match value {
            Value::Array(items) => {
                items.into_iter().map(|item| item.as_str().map(ToOwned::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        })?;
        if texts.is_empty() {
            self.invalid(name, format!("{name} must not be empty."));
            return None;
        }
        Some(texts)
    }

    /// What was read, where nothing was wrong with it.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, ErrorResponse> {
        if let (Some(read), true) = (read, self.faults.is_empty()) {
            return Ok(read);
        }
        let message = self.faults.first().map_or("The body cannot be taken.", |one| &one.message);
        let mut problem = Problem::new(400, message);
        problem.errors = self.faults;
        Err(problem.into())
    }
}

/// All members of an object in their order, also those that came twice.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;

        impl<'de> Visitor<'de> for Seen {
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

        deserializer.deserialize_map(Seen)
    }
}
