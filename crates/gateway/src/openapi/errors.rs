//! The one error body of every API.

use utoipa::openapi::schema::{ArrayBuilder, Type};
use utoipa::openapi::{ComponentsBuilder, ObjectBuilder};

use super::examples::{self, REQUEST_ID};
use super::schema_types::{integer, object, schema_ref, text};

pub(super) fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let message = "pageSize must be a whole number from 1 to 1000.";
    let error = object(
        "What went wrong.",
        [
            ("statusCode", integer("The answer's status again.", 400, 599, 400)),
            ("message", text("For people: what is wrong and what to do.", message)),
            ("requestId", text("The answer's `X-Request-Id` again.", REQUEST_ID)),
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
        "One thing that was refused.",
        [
            ("code", text("For programs; never changes.", "invalid_parameter")),
            ("message", text("For people.", message)),
        ],
    );
    fault.property(
        "field",
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Which parameter or member it is about."))
            .examples(["pageSize"]),
    )
}
