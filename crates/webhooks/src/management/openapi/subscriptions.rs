//! The bodies of subscriptions: one schema for each resource, because each offers its own events. Not an `allOf` of a common
//! schema, which generators of clients cannot merge.

use domain::Resource;
use domain::event::semantic_name;
use utoipa::PartialSchema as _;
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};

use super::schema_types::{WebhookSubscription, one_of};

/// The name of a resource's schema.
pub(super) fn name(resource: Resource) -> String {
    format!("{}Subscription", resource.plural())
}

/// A resource's schema with its name.
pub(super) fn schema(resource: Resource) -> (String, RefOr<Schema>) {
    let mut schema = WebhookSubscription::schema();
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let offered = resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind));
        let event_types = ArrayBuilder::new()
            .description(Some("Semantic names, as `GET …/webhooks/events` lists them."))
            .items(one_of("An event of this resource.", offered))
            .min_items(Some(1));
        object.properties.insert("eventTypes".to_owned(), event_types.into());
        object.description = Some(format!(
            "The body of a subscription to {}; unsubscribing takes the same.",
            resource.plural()
        ));
    }
    (name(resource), schema)
}
