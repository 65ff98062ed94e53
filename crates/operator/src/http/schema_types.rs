//! Types of request members: each is validated when it is deserialized and describes its own schema.

use std::time::Duration;

use domain::redirect_uri::OUT_OF_BAND;
use domain::{ClientKind, Ticks, parse_digits};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::checks::{
    check_backchannel_logout_uri, check_redirect, check_text, checked_email, checked_family_name, checked_id,
    checked_logout_uris, checked_name, in_chars,
};

type CheckResult = Result<(), String>;

/// Strings that are validated when they are deserialized. The pattern in the schema says what the check does.
macro_rules! checked_texts {
    ($($(#[doc = $doc:literal])* $name:ident { $min:literal to $max:literal, pattern: $pattern:expr, $(format: $format:expr,)? example: $example:literal, check: $check:expr })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(try_from = "String")]
        pub(super) struct $name(pub(super) String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> CheckResult = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let description = concat!($($doc),*).trim();
                let pattern: Option<String> = $pattern;
                ObjectBuilder::new()
                    .schema_type(SchemaType::new(Type::String))
                    .description(Some(description))
                    .min_length(Some($min))
                    .max_length(Some($max))
                    .pattern(pattern)
                    $(.format(Some(SchemaFormat::KnownFormat($format))))?
                    .examples([$example])
                    .build()
                    .into()
            }
        }

        impl ToSchema for $name {}
    )*};
}

pub(super) const ID_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]*$";
const NAME_PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
const FAMILY_NAME_PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// Line ends are the only control characters.
const TEXT_PATTERN: &str = r"^(\r\n|[^\x00-\x09\x0b-\x1f\x7f-\x9f])*$";
/// The same, and not blank.
const FILLED_TEXT_PATTERN: &str =
    r"^(\r\n|[^\x00-\x09\x0b-\x1f\x7f-\x9f])*[^\s\x00-\x1f\x7f-\x9f](\r\n|[^\x00-\x09\x0b-\x1f\x7f-\x9f])*$";
const EMAIL_PATTERN: &str = r"^[^@\s\x00-\x1f\x7f-\x9f]+@[^\s\x00-\x1f\x7f-\x9f]+$";
const PORT: &str = "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})";
/// A host name, or a full IPv6 address. Shortened ones are accepted too, but would make the pattern long.
const HOST: &str = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4}){7}\])";
/// The host and the rest of an address that the service dials.
const DIALLED: &str = concat!(
    r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?){1,2}",
    r"([/?][!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?"
);
/// A URI with a private-use scheme. One with `@` in its path is accepted too.
const PRIVATE_USE: &str = r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)+:/[!$-)+-;=?A-\[\]-_a-~]*";
const REST: &str = r"([/?][!$-)+-;=?-\[\]-_a-~]*)?";

fn address_pattern() -> String {
    let loopback = format!(r"http://(127\.0\.0\.1|\[::1\])(:{PORT})?");
    format!("((https://{HOST}(:{PORT})?|http://localhost:{PORT}|{loopback}|http://oob){REST}|{PRIVATE_USE})")
}

checked_texts! {
    /// An id of your choice: letters, digits, hyphens, dots and underscores; it begins with a letter or digit.
    ChosenId {
        1 to 100,
        pattern: Some(ID_PATTERN.into()),
        example: "asesoria-penalver",
        check: |text| checked_id("an id", text).map(drop).map_err(|why| why.to_string())
    }
    /// A display name, without control characters; surrounding spaces are trimmed.
    Name {
        1 to 200,
        pattern: Some(NAME_PATTERN.into()),
        example: "Asesoría Peñalver",
        check: |text| checked_name(text).map(drop).map_err(|why| why.to_string())
    }
    /// A family name, without control characters; surrounding spaces are trimmed. Empty: none.
    FamilyName {
        0 to 200,
        pattern: Some(FAMILY_NAME_PATTERN.into()),
        example: "Peñalver",
        check: |text| checked_family_name(text).map(drop).map_err(|why| why.to_string())
    }
    /// An e-mail address, stored in lower case; unique among users.
    Email {
        3 to 254,
        pattern: Some(EMAIL_PATTERN.into()),
        example: "lucia@example.com",
        check: check_email
    }
    /// A password: 10 to 256 characters. It is not a common one, no sequence, no number and no repetition, and contains
    /// neither the person's name nor a part of their address; the error says which of these rules it breaks.
    Password {
        10 to 256,
        pattern: None,
        format: KnownFormat::Password,
        example: "una contraseña larga",
        check: |text| in_chars(text, 10, 256)
    }
    /// The digest of a set of webhooks, as the selection gave it.
    SelectionDigest {
        64 to 64,
        pattern: Some("^[0-9a-f]{64}$".into()),
        example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        check: |text| {
            let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if text.len() == 64 && is_hex { Ok(()) } else { Err("it must be the digest of a selection".into()) }
        }
    }
    /// What the team says to the operator: line ends are its only control characters.
    Note {
        0 to 1000,
        pattern: Some(TEXT_PATTERN.into()),
        example: "Para nuestro panel de ventas.",
        check: |text| check_text(text, 0, 1000)
    }
    /// Why a request is refused, for the team: line ends are its only control characters.
    Reason {
        1 to 1000,
        pattern: Some(FILLED_TEXT_PATTERN.into()),
        example: "El contrato con su empresa no está firmado.",
        check: |text| check_text(text, 1, 1000)
    }
    /// Why a record is edited, for the audit: line ends are its only control characters.
    EditReason {
        1 to 500,
        pattern: Some(FILLED_TEXT_PATTERN.into()),
        example: "El nombre era incorrecto.",
        check: |text| check_text(text, 1, 500)
    }
    /// An address to which a user is redirected with a code: https, `http://localhost:<port>`, or an
    /// out-of-band address. It is compared character by character. Clients of the kind `native`, and no others, may besides
    /// have `http://127.0.0.1` and `http://[::1]`, whose port is ignored, and private-use schemes with a dot.
    RedirectUri {
        1 to 2048,
        pattern: Some(format!("^({}|{})$", OUT_OF_BAND.replace('.', r"\."), address_pattern())),
        example: "https://app.example/callback",
        check: |text| check_redirect(text, ClientKind::Native).map_err(|why| why.to_string())
    }
    /// An address to which a user is redirected after sign-out: https, or `http://localhost:<port>`; for clients of the kind
    /// `native` also loopback addresses and private-use schemes.
    LogoutUri {
        1 to 2048,
        pattern: Some(format!("^{}$", address_pattern())),
        example: "https://app.example/bye",
        check: |text| {
            let uris = checked_logout_uris(vec![text.to_owned()], ClientKind::Native);
            uris.map(drop).map_err(|why| why.to_string())
        }
    }
    /// Where the application is told that a session has ended (OpenID Connect Back-Channel Logout): https with the
    /// default port. A service that runs as `aldaba dev` also accepts http and any port on loopback hosts.
    BackchannelLogoutUri {
        1 to 2048,
        pattern: Some(format!("^https://{DIALLED}$")),
        example: "https://app.example/backchannel-logout",
        check: |text| check_backchannel_logout_uri(text, true).map_err(|why| why.to_string())
    }
}

fn check_email(text: &str) -> CheckResult {
    if text.trim() != text {
        return Err(format!("{text:?} has spaces around it; send it without"));
    }
    checked_email(text).map(drop).map_err(|why| why.to_string())
}

/// A list with a smallest and a largest length.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<T>", bound = "T: Deserialize<'de>")]
pub(super) struct BoundedList<T, const MIN: usize, const MAX: usize>(pub(super) Vec<T>);

impl<T, const MIN: usize, const MAX: usize> TryFrom<Vec<T>> for BoundedList<T, MIN, MAX> {
    type Error = String;

    fn try_from(list: Vec<T>) -> Result<Self, String> {
        if (MIN..=MAX).contains(&list.len()) {
            return Ok(Self(list));
        }
        Err(format!("it has {} items and must have {MIN} to {MAX}", list.len()))
    }
}

impl<T: PartialSchema, const MIN: usize, const MAX: usize> PartialSchema for BoundedList<T, MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(T::schema()).min_items(Some(MIN)).max_items(Some(MAX)).build().into()
    }
}

impl<T: ToSchema, const MIN: usize, const MAX: usize> ToSchema for BoundedList<T, MIN, MAX> {}

/// How long a replaced secret stays valid: digits and a unit, as in `24h`. A day by default.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Overlap(pub(super) Duration);

/// Units: the letter, its seconds, and the most digits before it.
const SPAN_UNITS: [(char, u64, usize); 4] = [('s', 1, 7), ('m', 60, 5), ('h', 3600, 4), ('d', 86_400, 3)];

impl Default for Overlap {
    fn default() -> Self {
        Self(Duration::from_secs(86_400))
    }
}

impl TryFrom<String> for Overlap {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_span(&text).map(Self).ok_or_else(|| {
            format!("{text:?} is not a duration as in 24h or 0s: up to 9999999s, 99999m, 9999h or 999d")
        })
    }
}

/// A duration of digits and a unit, as in `24h`.
pub(super) fn parse_span(text: &str) -> Option<Duration> {
    let (_, seconds, digits_max) = SPAN_UNITS.into_iter().find(|(unit, ..)| text.ends_with(*unit))?;
    let digits = &text[..text.len() - 1];
    let count: u64 = parse_digits(digits).filter(|_| digits.len() <= digits_max)?;
    Some(Duration::from_secs(count * seconds))
}

/// The pattern of what `parse_span` reads, with these first digits.
pub(super) fn span_pattern(first: &str) -> String {
    let unit = |(unit, _, digits): &(char, u64, usize)| format!("{first}[0-9]{{0,{}}}{unit}", digits - 1);
    format!("^({})$", SPAN_UNITS.iter().map(unit).collect::<Vec<_>>().join("|"))
}

impl PartialSchema for Overlap {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .description(Some(
                "How long the replaced secret or key stays valid: digits and a unit (s, m, h, d). 0s ends it at once.",
            ))
            .pattern(Some(span_pattern("[0-9]")))
            .default(Some("24h".into()))
            .examples(["24h"])
            .build()
            .into()
    }
}

impl ToSchema for Overlap {}

/// A date, or a date with a time. Offsets are accepted too, but would make the pattern long.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Timestamp(pub(super) Ticks);

impl TryFrom<String> for Timestamp {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let time = Ticks::parse_iso(&text).map(Self);
        time.ok_or_else(|| format!("{text:?} is not a time as in 2026-11-15T08:30:00Z"))
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let time = "T([01][0-9]|2[0-3])(:[0-5][0-9]){2}(\\.[0-9]{1,7})?Z";
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .description(Some("An ISO 8601 time; a date means its start (UTC)."))
            .pattern(Some(format!("^[12][0-9]{{3}}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])({time})?$")))
            .examples(["2026-11-15T08:30:00Z"])
            .build()
            .into()
    }
}

impl ToSchema for Timestamp {}

/// Whether the object may be used.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Standing)]
pub(super) enum Status {
    Active,
    Disabled,
    /// A user of a restored backup who has not signed in since. Nothing that the user had allowed stands until then.
    /// Cannot be set.
    #[serde(skip_deserializing)]
    Unconfirmed,
}

impl From<store::Status> for Status {
    fn from(status: store::Status) -> Self {
        match status {
            store::Status::Active => Self::Active,
            store::Status::Disabled => Self::Disabled,
            store::Status::Unconfirmed => Self::Unconfirmed,
        }
    }
}

impl From<Status> for store::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Disabled => Self::Disabled,
            Status::Unconfirmed => Self::Unconfirmed,
        }
    }
}

/// The largest integer that every JSON reader represents exactly.
pub(super) const WHOLE_MAX: u64 = 9_007_199_254_740_991;

/// The revision that a change is based on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub(super) struct Revision(pub(super) u64);

impl TryFrom<serde_json::Number> for Revision {
    type Error = String;

    fn try_from(number: serde_json::Number) -> Result<Self, String> {
        whole_number(&number, WHOLE_MAX).map(Self)
    }
}

impl PartialSchema for Revision {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some("The revision that a change is based on."))
            .minimum(Some(1))
            .maximum(Some(9_007_199_254_740_991_i64))
            .examples([1])
            .build()
            .into()
    }
}

impl ToSchema for Revision {}

/// A whole number from 1. JSON Schema counts 5.0 as an integer, so it is read as 5.
pub(super) fn whole_number(number: &serde_json::Number, max: u64) -> Result<u64, String> {
    let text = number.to_string();
    let whole = text.strip_suffix(".0").unwrap_or(&text).parse().ok();
    whole
        .filter(|whole| (1..=max).contains(whole))
        .ok_or_else(|| format!("it must be a whole number from 1 to {max}, not {number}"))
}

/// The longest id or e-mail address in a filter.
const FILTER_CHARS_MAX: usize = 254;

/// An id or e-mail address to filter by.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct NameFilter(pub(super) String);

impl TryFrom<String> for NameFilter {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains('\0') || text.chars().count() > FILTER_CHARS_MAX {
            return Err(format!("it may have {FILTER_CHARS_MAX} characters, none of them NUL"));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests;
