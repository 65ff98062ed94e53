//! The error body, the same in every API.

use domain::ErrorCode;
use utoipa::openapi::schema::{ArrayBuilder, Type};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder};

use super::examples::{self, REQUEST_ID};
use super::schema_types::{integer, object, pattern, schema_ref, text};

pub(super) const ERROR: &str = "ApiError";
const FAULT: &str = "ApiFault";

pub(super) fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let message = "pageSize must be a whole number from 1 to 1000.";
    let error = object(
        "An error. Every error of the APIs has this body.",
        [
            ("statusCode", integer("The HTTP status code.", 400, 599, 400)),
            ("code", error_code()),
            ("message", text("A text for people: what is wrong and what to do.", message)),
            ("requestId", text("The same as the header `X-Request-Id`.", REQUEST_ID)),
        ],
    );
    let faults = ArrayBuilder::new().items(schema_ref(FAULT)).min_items(Some(1));
    let example = examples::error(ErrorCode::InvalidParameter, message, Some("pageSize"));
    let fault = example["errors"][0].clone();
    components
        .schema(ERROR, error.property("errors", faults).examples([example]))
        .schema(FAULT, self::fault(message).examples([fault]))
}

fn fault(message: &str) -> ObjectBuilder {
    let fault = object(
        "One fault of the request.",
        [("code", error_code()), ("message", text("A text for people.", message))],
    );
    fault.property(
        "field",
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The parameter or member at fault."))
            .examples(["pageSize"]),
    )
}

/// A text, not an enumeration: a later version may add codes, and generated clients must not stumble over them.
fn error_code() -> ObjectBuilder {
    let description = "What is wrong, for programs. A code never changes its meaning; treat one that you do not know by \
        `statusCode`. The page `/docs/errors` lists all codes with their causes and cures.";
    pattern(description, "^[a-z]+(_[a-z]+)*$", ErrorCode::InvalidParameter.as_str())
}
