//! Schemas of bodies whose members depend on each other: one object schema for each combination that is accepted.

use utoipa::PartialSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// One combination: the schema of a struct, with changed members.
pub(super) struct Variant(Object);

impl Variant {
    pub(super) fn of<T: PartialSchema>(title: &str) -> Self {
        let mut object = match T::schema() {
            RefOr::T(Schema::Object(object)) => object,
            _ => Object::new(),
        };
        object.title = Some(title.to_owned());
        Self(object)
    }

    /// The member is required and not null.
    pub(super) fn with(mut self, member: &str) -> Self {
        if let Some(schema) = self.0.properties.get_mut(member) {
            if let RefOr::T(Schema::OneOf(choices)) = schema
                && let Some(choice) = choices.items.iter().find(|choice| !is_null(choice))
            {
                *schema = choice.clone();
            }
            self.0.required.push(member.to_owned());
        }
        self
    }

    /// The member has this schema instead.
    pub(super) fn where_is(self, member: &str, schema: impl Into<Schema>) -> Self {
        self.replace(member, RefOr::T(schema.into()))
    }

    /// The member has the schema of this name instead.
    pub(super) fn where_is_named(self, member: &str, name: &str) -> Self {
        self.replace(member, Ref::from_schema_name(name).into())
    }

    fn replace(mut self, member: &str, schema: RefOr<Schema>) -> Self {
        if let Some(old) = self.0.properties.get_mut(member) {
            *old = schema;
        }
        self
    }

    /// The member is absent or null.
    pub(super) fn without(self, member: &str) -> Self {
        self.where_is(member, ObjectBuilder::new().schema_type(Type::Null).build())
    }
}

fn is_null(schema: &RefOr<Schema>) -> bool {
    matches!(schema, RefOr::T(Schema::Object(object)) if object.schema_type == SchemaType::Type(Type::Null))
}

/// Exactly one of the combinations.
pub(super) fn one_of(description: &str, variants: impl IntoIterator<Item = Variant>) -> RefOr<Schema> {
    let choices = OneOfBuilder::new().description(Some(description));
    let choices = variants.into_iter().fold(choices, |choices, variant| choices.item(variant.0));
    RefOr::T(Schema::OneOf(choices.build()))
}

/// A list without items, or null.
pub(super) fn empty_list() -> Array {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .max_items(Some(0))
        .build()
}

/// This one text.
pub(super) fn constant(text: &str) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some([text])).build()
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};
    use utoipa::ToSchema;

    use super::*;

    #[derive(ToSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Inner {
        size: u8,
    }

    #[derive(ToSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Sample {
        name: String,
        one: Option<Inner>,
        other: Option<Inner>,
        list: Option<Vec<String>>,
    }

    #[test]
    fn variant_requires_one_member_and_excludes_others() {
        let variant =
            Variant::of::<Sample>("One").with("one").without("other").where_is("list", empty_list());
        let schema = to_value(one_of("A sample.", [variant])).unwrap();
        assert_eq!(schema["description"], "A sample.");
        let object = &schema["oneOf"][0];
        assert_eq!((&object["title"], &object["required"]), (&json!("One"), &json!(["name", "one"])));
        let members = &object["properties"];
        assert_eq!(members["name"], json!({"type": "string"}));
        assert_eq!(members["one"], json!({"$ref": "#/components/schemas/Inner"}));
        assert_eq!(members["other"], json!({"type": "null"}));
        assert_eq!(
            (&members["list"]["type"], &members["list"]["maxItems"]),
            (&json!(["array", "null"]), &json!(0))
        );
    }
}
