//! The OpenAPI document of the management API, made from the list of its routes, with the notifications in its `webhooks`
//! section; and the AsyncAPI document of the notifications. Keys, tokens and the gate's errors are in the gateway's document,
//! with which this one is merged.

mod asyncapi;
mod event_texts;
mod examples;
mod notifications;
mod operations;
mod parts;
mod schema_types;
mod subscriptions;
#[cfg(test)]
mod tests;

use domain::Resource;
use utoipa::openapi::{
    ComponentsBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, Paths, PathsBuilder,
};

pub use asyncapi::asyncapi;

use super::history_json::{
    AttemptJson, AttemptTimesJson, DeliveryJson, DeliveryStatusSchema, HandshakeJson, HealthJson,
    LostEventsJson, ReplayJson, SuspensionJson,
};
use super::record::{AccountingRecord, EventDescriptor, InvoicingRecord};
use super::secret::RotatedSecretJson;
use super::{Route, RouteGroup};

/// The document; some of its references point into the gateway's.
pub fn openapi() -> OpenApi {
    let mut paths: Paths = PathsBuilder::new().build();
    for route in Route::all() {
        paths.add_path_operation(route.path(), vec![method(route)], operations::operation(route));
    }
    let mut document = OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Aldaba").version(env!("CARGO_PKG_VERSION")))
        .paths(paths)
        .components(Some(parts::responses(schemas(ComponentsBuilder::new())).build()))
        .build();
    document.webhooks = Some(notifications::webhooks());
    document
}

fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    let subscriptions = Resource::accounting_family().map(subscriptions::schema);
    subscriptions
        .fold(components, |components, (name, schema)| components.schema(name, schema))
        .schema_from::<AccountingRecord<'_>>()
        .schema_from::<EventDescriptor>()
        .schema_from::<InvoicingRecord<'_>>()
        .schema_from::<DeliveryJson>()
        .schema_from::<DeliveryStatusSchema>()
        .schema_from::<AttemptJson>()
        .schema_from::<AttemptTimesJson>()
        .schema_from::<HealthJson>()
        .schema_from::<SuspensionJson>()
        .schema_from::<HandshakeJson>()
        .schema_from::<LostEventsJson>()
        .schema_from::<ReplayJson>()
        .schema_from::<RotatedSecretJson>()
        .schema_from::<schema_types::WebhookStatus>()
        .schema_from::<schema_types::WebhookMove>()
        .schema_from::<schema_types::WebhookResult>()
        .schema_from::<schema_types::WebhookRefused>()
        .schema_from::<schema_types::InvoicingSubscription>()
        .schema_from::<schema_types::InvoicingEntity>()
        .schema_from::<schema_types::InvoicingAction>()
        .schema_from::<schema_types::InvoicingPause>()
        .schema_from::<schema_types::WebhookSecret>()
        .schema_from::<schema_types::WebhookReplaySpan>()
        .schema_from::<schema_types::AccountingNotification>()
        .schema_from::<schema_types::NotificationPartition>()
        .schema_from::<schema_types::NotificationEventType>()
        .schema_from::<schema_types::InvoicingNotification>()
        .schema_from::<schema_types::InvoicingChange>()
}

fn method(route: Route) -> HttpMethod {
    match route.method().as_str() {
        "GET" => HttpMethod::Get,
        "PUT" => HttpMethod::Put,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Post,
    }
}

/// The tag of the resource, which the gateway's document describes.
fn tag(group: RouteGroup) -> &'static str {
    match group {
        RouteGroup::Resource(resource) => resource.plural(),
        RouteGroup::Invoicing => "Invoicing",
    }
}
