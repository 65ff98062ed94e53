//! Constructors of the schemas that the document uses in many places.

use serde_json::Value;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{ObjectBuilder, Ref};

/// A reference to the schema with this name.
pub(super) fn schema_ref(name: &str) -> Ref {
    Ref::from_schema_name(name)
}

pub(super) fn text(description: &str, example: impl Into<Value>) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String).description(Some(description)).examples([example.into()])
}

pub(super) fn pattern(description: &str, pattern: &str, example: &str) -> ObjectBuilder {
    text(description, example).pattern(Some(pattern))
}

/// A text with a named format.
pub(super) fn formatted(description: &str, format: &str, example: &str) -> ObjectBuilder {
    text(description, example).format(Some(SchemaFormat::Custom(format.to_owned())))
}

pub(super) fn integer(description: &str, from: i64, to: i64, example: i64) -> ObjectBuilder {
    let object = ObjectBuilder::new().schema_type(Type::Integer).description(Some(description));
    object
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(number(from)))
        .maximum(Some(number(to)))
        .examples([example])
}

pub(super) fn number(value: i64) -> utoipa::Number {
    utoipa::Number::Int(isize::try_from(value).unwrap_or(isize::MAX))
}

/// A UTC time with this many fraction digits.
pub(super) fn date_time(description: &str, digits: u8, example: &str) -> ObjectBuilder {
    // Without a pattern: generated clients apply it to their own types of time.
    let description = format!("{description} {digits} fraction digits.");
    text(&description, example).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}

/// An object whose members are all required.
pub(super) fn object<const N: usize>(
    description: &str,
    members: [(&str, ObjectBuilder); N],
) -> ObjectBuilder {
    members.into_iter().fold(
        ObjectBuilder::new().schema_type(Type::Object).description(Some(description)),
        |object, (name, member)| object.property(name, member).required(name),
    )
}
