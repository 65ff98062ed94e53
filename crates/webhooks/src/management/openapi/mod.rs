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
#[cfg(test)]
mod tests;

use utoipa::openapi::tag::TagBuilder;
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

const ACCOUNTING_TAG: &str = "Webhooks";
const INVOICING_TAG: &str = "Invoicing webhooks";

/// The document; some of its references point into the gateway's.
pub fn openapi() -> OpenApi {
    let mut paths: Paths = PathsBuilder::new().build();
    for route in Route::all() {
        paths.add_path_operation(route.path(), vec![method(route)], operations::operation(route));
    }
    let tags = [
        (
            ACCOUNTING_TAG,
            "Subscriptions to the resources of the accounting family, each under the path of its resource.",
        ),
        (INVOICING_TAG, "Subscriptions to the entities of invoicing."),
    ];
    let mut document = OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Aldaba").version(env!("CARGO_PKG_VERSION")))
        .tags(Some(tags.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .paths(paths)
        .components(Some(parts::responses(schemas(ComponentsBuilder::new())).build()))
        .build();
    document.webhooks = Some(notifications::webhooks());
    document
}

fn schemas(components: ComponentsBuilder) -> ComponentsBuilder {
    components
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
        .schema_from::<schema_types::WebhookSubscription>()
        .schema_from::<schema_types::WebhookStatus>()
        .schema_from::<schema_types::WebhookMove>()
        .schema_from::<schema_types::WebhookResult>()
        .schema_from::<schema_types::WebhookRefused>()
        .schema_from::<schema_types::WebhookFault>()
        .schema_from::<schema_types::InvoicingSubscription>()
        .schema_from::<schema_types::InvoicingEntity>()
        .schema_from::<schema_types::InvoicingAction>()
        .schema_from::<schema_types::InvoicingPause>()
        .schema_from::<schema_types::WebhookSecret>()
        .schema_from::<schema_types::WebhookReplaySpan>()
        .schema_from::<schema_types::Notification>()
        .schema_from::<schema_types::Partition>()
        .schema_from::<schema_types::NotificationEvent>()
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

fn tag(group: RouteGroup) -> &'static str {
    match group {
        RouteGroup::Resource(_) => ACCOUNTING_TAG,
        RouteGroup::Invoicing => INVOICING_TAG,
    }
}
