//! The routes of the management API, in one list that the gate, the OpenAPI document and the tests iterate.

use axum::http::Method;
use domain::{Area, Resource};

/// Which webhooks a route is about: those of one resource of the accounting family, or those of invoicing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouteGroup {
    Resource(Resource),
    Invoicing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Events,
    Subscribe,
    Unsubscribe,
    List,
    Record,
    /// Enable and disable; for invoicing, pause and resume.
    Status,
    Change,
    Delete,
    Secret,
    Deliveries,
    Delivery,
    ReplayDelivery,
    Replay,
    Test,
    Health,
}

const RESOURCE_OPERATIONS: [Operation; 15] = [
    Operation::Events,
    Operation::Subscribe,
    Operation::Unsubscribe,
    Operation::List,
    Operation::Record,
    Operation::Status,
    Operation::Change,
    Operation::Delete,
    Operation::Secret,
    Operation::Deliveries,
    Operation::Delivery,
    Operation::ReplayDelivery,
    Operation::Replay,
    Operation::Test,
    Operation::Health,
];

const INVOICING_OPERATIONS: [Operation; 12] = [
    Operation::Subscribe,
    Operation::List,
    Operation::Record,
    Operation::Status,
    Operation::Delete,
    Operation::Secret,
    Operation::Deliveries,
    Operation::Delivery,
    Operation::ReplayDelivery,
    Operation::Replay,
    Operation::Test,
    Operation::Health,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    pub group: RouteGroup,
    pub operation: Operation,
}

impl Route {
    pub fn all() -> impl Iterator<Item = Self> {
        let family = Resource::accounting_family().flat_map(|resource| {
            RESOURCE_OPERATIONS
                .into_iter()
                .map(move |operation| Self { group: RouteGroup::Resource(resource), operation })
        });
        let invoicing = INVOICING_OPERATIONS
            .into_iter()
            .map(|operation| Self { group: RouteGroup::Invoicing, operation });
        family.chain(invoicing)
    }

    pub fn area(self) -> Area {
        match self.group {
            RouteGroup::Resource(resource) => resource.area(),
            RouteGroup::Invoicing => Area::Invoicing,
        }
    }

    pub fn method(self) -> Method {
        match self.operation {
            Operation::Events
            | Operation::List
            | Operation::Record
            | Operation::Deliveries
            | Operation::Delivery
            | Operation::Health => Method::GET,
            Operation::Subscribe
            | Operation::Unsubscribe
            | Operation::ReplayDelivery
            | Operation::Replay
            | Operation::Test => Method::POST,
            Operation::Status | Operation::Change | Operation::Secret => Method::PUT,
            Operation::Delete => Method::DELETE,
        }
    }

    /// Below `base_url`; a name in braces is a parameter of one segment.
    pub fn path(self) -> String {
        match self.group {
            RouteGroup::Resource(resource) => {
                format!("{}/webhooks{}", resource.path(), self.resource_suffix())
            }
            RouteGroup::Invoicing => {
                format!("{}/webhooks{}", Area::Invoicing.prefix(), self.invoicing_suffix())
            }
        }
    }

    /// Whether the response is an operation result, in success and in failure.
    pub(super) fn has_result(self) -> bool {
        let has = matches!(
            self.operation,
            Operation::Subscribe
                | Operation::Unsubscribe
                | Operation::Status
                | Operation::Change
                | Operation::Delete
        );
        has && self.group != RouteGroup::Invoicing
    }

    fn resource_suffix(self) -> &'static str {
        match self.operation {
            Operation::Events => "/events",
            Operation::Subscribe => "/subscribe",
            Operation::Unsubscribe => "/unsubscribe",
            Operation::List => "",
            Operation::Record => "/{webhookId}",
            Operation::Status => "/status/{webhookId}",
            Operation::Change => "/change/{webhookId}",
            Operation::Delete => "/delete/{webhookId}",
            Operation::Secret => "/secret/{webhookId}",
            Operation::Deliveries => "/{webhookId}/deliveries",
            Operation::Delivery => "/{webhookId}/deliveries/{outgoingId}",
            Operation::ReplayDelivery => "/{webhookId}/deliveries/{outgoingId}/replay",
            Operation::Replay => "/{webhookId}/replay",
            Operation::Test => "/{webhookId}/test",
            Operation::Health => "/{webhookId}/health",
        }
    }

    fn invoicing_suffix(self) -> &'static str {
        match self.operation {
            Operation::Events | Operation::Unsubscribe | Operation::Change => "/none",
            Operation::Subscribe | Operation::List => "",
            Operation::Record | Operation::Status | Operation::Delete => "/{id}",
            Operation::Secret => "/{id}/secret",
            Operation::Deliveries => "/{id}/deliveries",
            Operation::Delivery => "/{id}/deliveries/{outgoingId}",
            Operation::ReplayDelivery => "/{id}/deliveries/{outgoingId}/replay",
            Operation::Replay => "/{id}/replay",
            Operation::Test => "/{id}/test",
            Operation::Health => "/{id}/health",
        }
    }
}
