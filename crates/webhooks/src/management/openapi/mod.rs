//! The OpenAPI document of the management, from the one list of its addresses; and the notifications, as the document's
//! own section of webhooks. What every API has in common (keys, tokens, refusals of the gate) stands in the gateway's
//! document, which this one is put together with. Beside it stands the AsyncAPI document of the notifications alone.

mod asyncapi;
mod examples;
mod notifications;
mod operations;
mod parts;
#[cfg(test)]
mod tests;
mod words;

use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, Paths, PathsBuilder,
};

pub use asyncapi::asyncapi;

use super::history_json::{
    AttemptJson, AttemptTimesJson, DeliveryJson, DeliveryStatusSchema, HandshakeJson, HealthJson,
    LostEventsJson, ReplayJson,
};
use super::record::{AccountingRecord, EventDescriptor, InvoicingRecord};
use super::secret::Rotated;
use super::{Route, Side};

const ACCOUNTING_TAG: &str = "Webhooks";
const INVOICING_TAG: &str = "Invoicing webhooks";

/// The document; its references lead into the gateway's where they are not its own.
pub fn openapi() -> OpenApi {
    let mut paths: Paths = PathsBuilder::new().build();
    for route in Route::all() {
        paths.add_path_operation(route.path(), vec![method(route)], operations::operation(route));
    }
    let tags = [
        (
            ACCOUNTING_TAG,
            "Subscriptions to the resources of the accounting family: each under its resource's own address.",
        ),
        (INVOICING_TAG, "Subscriptions to the entities of invoicing."),
    ];
    let mut document = OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Aldaba").version(env!("CARGO_PKG_VERSION")))
        .tags(Some(tags.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .paths(paths)
        .components(Some(parts::responses(schemas(ComponentsBuilder::new())).build()))
        .build();
    document.webhooks = Some(notifications::all());
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
        .schema_from::<HandshakeJson>()
        .schema_from::<LostEventsJson>()
        .schema_from::<ReplayJson>()
        .schema_from::<Rotated>()
        .schema_from::<words::WebhookSubscription>()
        .schema_from::<words::WebhookStatus>()
        .schema_from::<words::WebhookMove>()
        .schema_from::<words::WebhookResult>()
        .schema_from::<words::WebhookRefused>()
        .schema_from::<words::WebhookFault>()
        .schema_from::<words::InvoicingSubscription>()
        .schema_from::<words::InvoicingEntity>()
        .schema_from::<words::InvoicingAction>()
        .schema_from::<words::InvoicingPause>()
        .schema_from::<words::WebhookSecret>()
        .schema_from::<words::WebhookReplaySpan>()
        .schema_from::<words::Notification>()
        .schema_from::<words::Partition>()
        .schema_from::<words::NotificationEvent>()
        .schema_from::<words::InvoicingNotification>()
        .schema_from::<words::InvoicingChange>()
}

fn method(route: Route) -> HttpMethod {
    match route.method().as_str() {
        "GET" => HttpMethod::Get,
        "PUT" => HttpMethod::Put,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Post,
    }
}

fn tag(side: Side) -> &'static str {
    match side {
        Side::Of(_) => ACCOUNTING_TAG,
        Side::Invoicing => INVOICING_TAG,
    }
}
