//! When each event is sent, and what a receiver does with it: the descriptions of the AsyncAPI document.

use domain::Resource;
use domain::catalogue::Owner;
use domain::event::EventKind;

/// `None`: the Acknowledge.
pub(super) fn description(resource: Resource, kind: Option<EventKind>) -> String {
    match kind {
        None => "Sent after a subscription, after a change of the url, and when a webhook is enabled that was never \
            accepted: the receiver accepts by answering exactly 200, and gets nothing else before it has. It comes with \
            every subscription and cannot be subscribed to."
            .to_owned(),
        Some(kind) if resource.is_accounting_family() => accounting(resource, kind),
        Some(kind) => invoicing(resource, kind).to_owned(),
    }
}

fn accounting(resource: Resource, kind: EventKind) -> String {
    match kind {
        EventKind::Created => {
            let how = "Sent when a record has been created, in the application or through the API.";
            format!("{how} {}", read(resource))
        }
        EventKind::Updated => {
            let also = match (resource.has_state(), resource.disabled_event()) {
                (true, EventKind::Disabled) => ", or has been enabled again",
                (true, _) => ", or has been disabled or enabled",
                (false, _) => "",
            };
            let how =
                format!("Sent when a record has changed{also}; a write that changes nothing sends nothing.");
            format!("{how} {}", read(resource))
        }
        EventKind::Deleted => {
            "Sent when a record has been deleted. From then on, reading it answers 404.".to_owned()
        }
        EventKind::Disabled => {
            "Sent when a record has been disabled. Records of this resource are never deleted: it can \
            still be read, with the state `Disabled`."
                .to_owned()
        }
        EventKind::ErrorOccurred => {
            "Sent when another system has failed to process a record. The record has not changed.".to_owned()
        }
    }
}

/// How to read the record.
fn read(resource: Resource) -> String {
    let place = format!("`{}/<CorrelationId>`", resource.path());
    match resource.owner() {
        Owner::Company => format!(
            "The event has no data of the record: read it at {place}, with the header `context` set to \
             `{{\"clientId\":\"<PartitionClientId>\"}}`."
        ),
        Owner::Tenant => format!("The event has no data of the record: read it at {place}."),
    }
}

fn invoicing(resource: Resource, kind: EventKind) -> &'static str {
    match kind {
        EventKind::Created => "Sent when a record has been created. `Changes` lists all its members.",
        EventKind::Deleted => "Sent when a record has been deleted. `Changes` is empty.",
        _ if resource.first_event() == EventKind::Updated => {
            "Sent when the tenant's only record of this kind has been set or has changed. `Changes` lists the members that \
             changed, with their new values."
        }
        _ => {
            "Sent when a record has changed. `Changes` lists the members that changed, with their new values."
        }
    }
}
