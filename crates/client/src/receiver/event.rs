//! What a notification says, typed.

use std::fmt;

use domain::event::{APP_NAME, EventKind, event_type, semantic_name};
use domain::{Guid, Resource, Ticks};
use http::HeaderMap;
use serde::Deserialize;

const ACKNOWLEDGE: &str = "Acknowledge";

/// What a verified body turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is made")]
pub enum Notification {
    /// The service asks whether this address takes deliveries of this webhook. Answer 200.
    Acknowledge {
        webhook_id: Guid,
    },
    Event(Event),
}

/// Something that happened to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Accounting(AccountingChange),
    Invoicing(InvoicingChange),
}

/// A change of a record of the accounting family. It tells that and where, not what: read the record by its
/// [`correlation_id`](Self::correlation_id) in the context of its [`company`](Self::company).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountingChange {
    pub webhook_id: Guid,
    /// The same on every attempt: who has seen it has seen the event.
    pub outgoing_id: Guid,
    /// The same for all webhooks that are told of one change.
    pub conversation_id: Guid,
    pub tenant_id: String,
    /// The company that the record belongs to; for a company, itself.
    pub company: String,
    pub user_name: String,
    pub event: EventName,
    pub timestamp: Ticks,
    /// Who subscribed.
    pub user_identifier: String,
    pub correlation_id: String,
    /// `MM/dd/yyyy HH:mm:ss`, UTC.
    pub version: String,
    /// The place of the change in the tenant's log; equal to the record's own where it has not changed since.
    pub sequence_version: u64,
    pub source_interface: String,
    pub process_id: String,
    pub source_action: String,
}

/// A change of an invoicing entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoicingChange {
    /// From the header `webhook-id`: the same on every attempt. None where something on the way took it away.
    pub outgoing_id: Option<Guid>,
    pub entity: String,
    pub entity_id: String,
    pub tenant_id: String,
    pub user: String,
    /// Name and new value of what changed; empty for a deletion.
    pub changes: Vec<(String, String)>,
}

/// The name of a kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// `Svc.ACC.Customers.CustomerCreated`
    pub semantic_name: String,
    /// None for one that this version of the client does not know.
    pub resource: Option<Resource>,
    pub kind: Option<EventKind>,
}

impl EventName {
    /// Reads a semantic name of the accounting family.
    pub fn parse(name: &str) -> Self {
        let resource = Resource::accounting_family().find(|resource| {
            let start =
                format!("{APP_NAME}.{}.{}.", resource.area().domain().unwrap_or_default(), resource.plural());
            name.starts_with(&start)
        });
        let kinds = |resource: Resource| resource.event_kinds().into_iter().map(move |kind| (resource, kind));
        let kind = resource
            .into_iter()
            .flat_map(kinds)
            .find(|(resource, kind)| semantic_name(*resource, *kind) == name);
        Self { semantic_name: name.to_owned(), resource, kind: kind.map(|(_, kind)| kind) }
    }

    /// The last part: `CustomerCreated`.
    pub fn event_type(&self) -> String {
        match (self.resource, self.kind) {
            (Some(resource), Some(kind)) => event_type(resource, kind),
            _ => self.semantic_name.rsplit('.').next().unwrap_or_default().to_owned(),
        }
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.semantic_name)
    }
}

/// A body that is signed and yet no notification: a newer service, or another sender with the same secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is no notification: {0}")]
pub struct InvalidNotification(pub String);

impl Notification {
    /// Reads a body. Verify it before: this believes what it is told.
    ///
    /// ```
    /// use aldaba_client::receiver::{Event, Notification};
    /// use http::HeaderMap;
    ///
    /// let body = br#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;
    /// let Notification::Event(Event::Invoicing(change)) = Notification::parse(&HeaderMap::new(), body)? else {
    ///     unreachable!()
    /// };
    /// assert_eq!((change.entity.as_str(), change.entity_id.as_str()), ("Bank", "7"));
    /// # Ok::<(), aldaba_client::receiver::InvalidNotification>(())
    /// ```
    pub fn parse(headers: &HeaderMap, body: &[u8]) -> Result<Self, InvalidNotification> {
        let invalid = |error: serde_json::Error| InvalidNotification(error.to_string());
        match serde_json::from_slice(body).map_err(invalid)? {
            Body::Invoicing(body) => Ok(Self::Event(Event::Invoicing(body.change(headers)))),
            Body::Accounting(body) if body.event_type.event_type == ACKNOWLEDGE => {
                Ok(Self::Acknowledge { webhook_id: body.webhook_id })
            }
            Body::Accounting(body) => body.change().map(Event::Accounting).map(Self::Event).map_err(invalid),
        }
    }
}

impl Event {
    /// The same on every attempt and every replay of this event.
    pub fn outgoing_id(&self) -> Option<Guid> {
        match self {
            Self::Accounting(change) => Some(change.outgoing_id),
            Self::Invoicing(change) => change.outgoing_id,
        }
    }

    pub fn tenant_id(&self) -> &str {
        match self {
            Self::Accounting(change) => &change.tenant_id,
            Self::Invoicing(change) => &change.tenant_id,
        }
    }

    /// The id of the record that changed.
    pub fn record_id(&self) -> &str {
        match self {
            Self::Accounting(change) => &change.correlation_id,
            Self::Invoicing(change) => &change.entity_id,
        }
    }

    /// Whether the webhook's owner asked for it as a test: it is of no record.
    pub fn is_test(&self) -> bool {
        match self {
            Self::Accounting(change) => change.sequence_version == 0,
            Self::Invoicing(change) => Guid::parse(&change.entity_id) == Some(Guid::from_bytes([0; 16])),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "it has neither the members of the accounting family's nor of invoicing's")]
enum Body {
    Accounting(Box<AccountingBody>),
    Invoicing(InvoicingBody),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AccountingBody {
    webhook_id: Guid,
    outgoing_id: Guid,
    conversation_id: Guid,
    tenant_id: String,
    #[serde(default)]
    extra_partition_information: Partition,
    event_type: EventType,
    timestamp: i64,
    json_data: String,
    user_identifier: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Partition {
    partition_client_id: String,
    user_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EventType {
    event_type: String,
    semantic_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct JsonData {
    correlation_id: String,
    #[serde(default)]
    version: String,
    sequence_version: String,
    #[serde(default)]
    svc_source_interface: String,
    #[serde(default)]
    svc_process_id: String,
    #[serde(default)]
    svc_source_action: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InvoicingBody {
    entity: String,
    entity_id: String,
    tenant_id: String,
    user: String,
    changes: Vec<ChangedMember>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ChangedMember {
    name: String,
    value: String,
}

impl AccountingBody {
    fn change(self: Box<Self>) -> Result<AccountingChange, serde_json::Error> {
        let data: JsonData = serde_json::from_str(&self.json_data)?;
        let sequence_version = serde_json::from_str(&data.sequence_version)?;
        Ok(AccountingChange {
            webhook_id: self.webhook_id,
            outgoing_id: self.outgoing_id,
            conversation_id: self.conversation_id,
            tenant_id: self.tenant_id,
            company: self.extra_partition_information.partition_client_id,
            user_name: self.extra_partition_information.user_name,
            event: EventName::parse(&self.event_type.semantic_name),
            timestamp: Ticks(self.timestamp),
            user_identifier: self.user_identifier,
            correlation_id: data.correlation_id,
            version: data.version,
            sequence_version,
            source_interface: data.svc_source_interface,
            process_id: data.svc_process_id,
            source_action: data.svc_source_action,
        })
    }
}

impl InvoicingBody {
    fn change(self, headers: &HeaderMap) -> InvoicingChange {
        let id = headers.get(domain::signature::STANDARD_ID).and_then(|id| id.to_str().ok());
        InvoicingChange {
            outgoing_id: id.and_then(Guid::parse),
            entity: self.entity,
            entity_id: self.entity_id,
            tenant_id: self.tenant_id,
            user: self.user,
            changes: self.changes.into_iter().map(|one| (one.name, one.value)).collect(),
        }
    }
}
