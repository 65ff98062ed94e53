//! The addresses of the management, one list: the gate's routes, the document and the tests iterate it.

use axum::http::Method;
use domain::{Area, Resource};

/// Whose webhooks are meant: those of one resource of the accounting family, or invoicing's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Of(Resource),
    Invoicing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Events,
    Subscribe,
    Unsubscribe,
    List,
    Record,
    /// Enable and disable; of an invoicing webhook, pause and resume.
    Status,
    Change,
    Delete,
    Secret,
    Deliveries,
    Delivery,
    ReplayOne,
    Replay,
    Test,
    Health,
}

const OF_A_RESOURCE: [Operation; 15] = [
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
    Operation::ReplayOne,
    Operation::Replay,
    Operation::Test,
    Operation::Health,
];

const OF_INVOICING: [Operation; 12] = [
    Operation::Subscribe,
    Operation::List,
    Operation::Record,
    Operation::Status,
    Operation::Delete,
    Operation::Secret,
    Operation::Deliveries,
    Operation::Delivery,
    Operation::ReplayOne,
    Operation::Replay,
    Operation::Test,
    Operation::Health,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    pub side: Side,
    pub operation: Operation,
}

impl Route {
    pub fn all() -> impl Iterator<Item = Self> {
        let family = Resource::accounting_family().flat_map(|resource| {
            OF_A_RESOURCE.into_iter().map(move |operation| Self { side: Side::Of(resource), operation })
        });
        let invoicing = OF_INVOICING.into_iter().map(|operation| Self { side: Side::Invoicing, operation });
        family.chain(invoicing)
    }

    pub fn area(self) -> Area {
        match self.side {
            Side::Of(resource) => resource.area(),
            Side::Invoicing => Area::Invoicing,
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
            | Operation::ReplayOne
            | Operation::Replay
            | Operation::Test => Method::POST,
            Operation::Status | Operation::Change | Operation::Secret => Method::PUT,
            Operation::Delete => Method::DELETE,
        }
    }

    /// Below the base address; names in braces stand for one segment each.
    pub fn path(self) -> String {
        match self.side {
            Side::Of(resource) => format!("{}/webhooks{}", resource.path(), self.accounting_tail()),
            Side::Invoicing => format!("{}/webhooks{}", Area::Invoicing.prefix(), self.invoicing_tail()),
        }
    }

    /// Whether it answers with an operation result, also where it refuses.
    pub(super) fn has_result(self) -> bool {
        let has = matches!(
            self.operation,
            Operation::Subscribe
                | Operation::Unsubscribe
                | Operation::Status
                | Operation::Change
                | Operation::Delete
        );
        has && self.side != Side::Invoicing
    }

    fn accounting_tail(self) -> &'static str {
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
            Operation::ReplayOne => "/{webhookId}/deliveries/{outgoingId}/replay",
            Operation::Replay => "/{webhookId}/replay",
            Operation::Test => "/{webhookId}/test",
            Operation::Health => "/{webhookId}/health",
        }
    }

    fn invoicing_tail(self) -> &'static str {
        match self.operation {
            Operation::Events | Operation::Unsubscribe | Operation::Change => "/none",
            Operation::Subscribe | Operation::List => "",
            Operation::Record | Operation::Status | Operation::Delete => "/{id}",
            Operation::Secret => "/{id}/secret",
            Operation::Deliveries => "/{id}/deliveries",
            Operation::Delivery => "/{id}/deliveries/{outgoingId}",
            Operation::ReplayOne => "/{id}/deliveries/{outgoingId}/replay",
            Operation::Replay => "/{id}/replay",
            Operation::Test => "/{id}/test",
            Operation::Health => "/{id}/health",
        }
    }
}
