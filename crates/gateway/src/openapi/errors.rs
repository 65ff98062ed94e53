//! The error body, the same in every API.

use utoipa::openapi::schema::{ArrayBuilder, Type};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder};

use super::examples::{self, REQUEST_ID};
use super::schema_types::{integer, object, schema_ref, text};

pub(super) fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let message = "pageSize must be a whole number from 1 to 1000.";
    let error = object(
        "An error.",
        [
            ("statusCode", integer("The HTTP status code.", 400, 599, 400)),
            ("message", text("A text for people: what is wrong and what to do.", message)),
            ("requestId", text("The same as the header `X-Request-Id`.", REQUEST_ID)),
        ],
    );
    let faults = ArrayBuilder::new().items(schema_ref("Fault")).min_items(Some(1));
    let example = examples::error(400, message, Some(("invalid_parameter", "pageSize")));
    let fault = example["errors"][0].clone();
    components
        .schema("Error", error.property("errors", faults).examples([example]))
        .schema("Fault", self::fault(message).examples([fault]))
}

fn fault(message: &str) -> ObjectBuilder {
    let fault = object(
        "One fault of the request.",
        [
            ("code", text("A stable code for programs.", "invalid_parameter")),
            ("message", text("A text for people.", message)),
        ],
    );
    fault.property(
        "field",
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The parameter or member at fault."))
            .examples(["pageSize"]),
    )
}
