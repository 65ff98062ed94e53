//! Parsing notifications as the service renders them: every resource, every kind.

use aldaba_client::receiver::{Event, EventName, InvalidNotification, Notification};
use aldaba_client::{Guid, Resource, Ticks};
use domain::envelope::{ENVELOPE_VERSION, EnvelopeContext};
use domain::event::{EventKind, semantic_name};
use domain::log_entry::LogEntry;
use domain::{AccountId, TenantId};
use http::HeaderMap;

fn guid(byte: u8) -> Guid {
    Guid::random_from([byte; 16])
}

fn envelope_context(resource: Resource) -> EnvelopeContext {
    EnvelopeContext { webhook: guid(1), tenant: TenantId::new("t 1"), user: AccountId::new("u"), resource }
}

fn entry(resource: Resource, kind: EventKind) -> LogEntry {
    LogEntry {
        sequence: u64::MAX / 2,
        resource,
        kind,
        company: "c".into(),
        correlation_id: "a/ñ\n".into(),
        version: Ticks(638_000_000_000_000_000),
        conversation: guid(3),
        process: guid(4),
        user: "maría".into(),
        source_interface: "ERP".into(),
        source_action: "Alta".into(),
        changes: Some(r#"[{"Name":"a","Value":"1"}]"#.into()),
        envelope: ENVELOPE_VERSION,
    }
}

#[test]
fn every_accounting_notification_is_parsed() {
    for resource in Resource::accounting_family() {
        for kind in resource.event_kinds() {
            let body = envelope_context(resource).notification(guid(2), &entry(resource, kind));
            let read = Notification::parse(&HeaderMap::new(), body.as_bytes()).unwrap();
            let Notification::Event(event) = read else { panic!("{read:?}") };
            assert_eq!(
                (event.outgoing_id(), event.tenant_id(), event.record_id()),
                (Some(guid(2)), "t 1", "a/ñ\n")
            );
            let Event::Accounting(change) = event else { panic!("{event:?}") };
            assert_eq!((change.event.resource, change.event.kind), (Some(resource), Some(kind)));
            assert_eq!(change.event.semantic_name, semantic_name(resource, kind));
            assert_eq!((change.sequence_version, change.company.as_str()), (u64::MAX / 2, "c"));
            assert_eq!((change.webhook_id, change.conversation_id), (guid(1), guid(3)));
            assert_eq!((change.process_id, change.user_name.as_str()), (guid(4).to_string(), "maría"));
        }
    }
}

#[test]
fn acknowledge_is_parsed() {
    for resource in Resource::accounting_family() {
        let body = envelope_context(resource).acknowledge(guid(2), guid(3), Ticks(1));
        let read = Notification::parse(&HeaderMap::new(), body.as_bytes()).unwrap();
        assert_eq!(read, Notification::Acknowledge { webhook_id: guid(1) });
    }
}

#[test]
fn outgoing_id_of_invoicing_comes_from_the_header() {
    let resource = Resource::invoicing().next().unwrap();
    let body = envelope_context(resource).notification(guid(2), &entry(resource, EventKind::Created));
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", guid(2).to_string().parse().unwrap());
    for (headers, id) in [(headers, Some(guid(2))), (HeaderMap::new(), None)] {
        let Ok(Notification::Event(Event::Invoicing(change))) =
            Notification::parse(&headers, body.as_bytes())
        else {
            panic!("{body}")
        };
        assert_eq!((change.outgoing_id, change.entity.as_str()), (id, "Customer"));
        assert_eq!(change.changes, [("a".to_owned(), "1".to_owned())]);
    }
}

#[test]
fn unknown_event_name_is_preserved() {
    let newer = EventName::parse("Svc.ACC.Customers.CustomerMerged");
    assert_eq!((newer.resource, newer.kind), (Some(Resource::customers()), None));
    assert_eq!(newer.event_type(), "CustomerMerged");
    assert_eq!(EventName::parse("Svc.ACC.Robots.RobotCreated").resource, None);
}

#[test]
fn other_bodies_are_refused() {
    for body in ["", "[]", "{}", r#"{"WebhookId":"x"}"#] {
        let result = Notification::parse(&HeaderMap::new(), body.as_bytes());
        assert!(matches!(result, Err(InvalidNotification(_))), "{body}: {result:?}");
    }
    let broken = envelope_context(Resource::customers())
        .notification(guid(2), &entry(Resource::customers(), EventKind::Created))
        .replace("SequenceVersion", "Sequence");
    assert!(Notification::parse(&HeaderMap::new(), broken.as_bytes()).is_err());
}
