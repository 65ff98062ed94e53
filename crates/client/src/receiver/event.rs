//! Typed notifications.

use std::fmt;

use domain::event::{APP_NAME, EventKind, event_type, semantic_name};
use domain::{Guid, Resource, Ticks};
use http::HeaderMap;
use serde::Deserialize;

const ACKNOWLEDGE: &str = "Acknowledge";

/// A parsed notification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "it is matched where it is created")]
pub enum Notification {
    /// The handshake of the accounting family: the service asks whether this URL accepts deliveries. Answer 200.
    Acknowledge {
        /// The webhook that asks for the handshake.
        webhook_id: Guid,
    },
    /// A change of a record.
    Event(Event),
}

/// A change of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A change in the accounting family.
    Accounting(AccountingChange),
    /// A change in invoicing.
    Invoicing(InvoicingChange),
}

/// A change of a record of the accounting family. It does not contain the record: read it by its
/// [`correlation_id`](Self::correlation_id) in the context of its [`company`](Self::company).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountingChange {
    /// The webhook that delivers the event.
    pub webhook_id: Guid,
    /// The id of the event for this webhook, the same in every attempt: use it to detect duplicates.
    pub outgoing_id: Guid,
    /// The id of the change, the same for all webhooks.
    pub conversation_id: Guid,
    /// The tenant that owns the record.
    pub tenant_id: String,
    /// The company that owns the record; for a company, its own id.
    pub company: String,
    /// The user who made the change.
    pub user_name: String,
    /// The kind of event.
    pub event: EventName,
    /// The time of the change.
    pub timestamp: Ticks,
    /// The user who created the subscription.
    pub user_identifier: String,
    /// The id of the record.
    pub correlation_id: String,
    /// The version of the record: `MM/dd/yyyy HH:mm:ss`, UTC.
    pub version: String,
    /// The log position of the change. It equals that of the record if the record has not changed since.
    pub sequence_version: u64,
    /// The interface that made the change, as its writer named it; may be empty.
    pub source_interface: String,
    /// The id of the write request that the change came with.
    pub process_id: String,
    /// The action that made the change, as its writer named it; may be empty.
    pub source_action: String,
}

/// A change of an invoicing entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoicingChange {
    /// The id of the event, from the header `webhook-id`; the same in every attempt. `None` if a proxy removed it.
    pub outgoing_id: Option<Guid>,
    /// The name of the entity, such as `SaleInvoice`.
    pub entity: String,
    /// The id of the record.
    pub entity_id: String,
    /// The tenant that owns the record.
    pub tenant_id: String,
    /// The user who made the change.
    pub user: String,
    /// The names and new values of the changed members; empty for a deletion.
    pub changes: Vec<(String, String)>,
}

/// The name of a kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// The whole name: `Svc.ACC.Customers.CustomerCreated`.
    pub semantic_name: String,
    /// The resource; `None` for one that this version of the client does not know.
    pub resource: Option<Resource>,
    /// The kind of event; `None` for one that this version of the client does not know.
    pub kind: Option<EventKind>,
}

impl EventName {
    /// Parses a semantic name of the accounting family.
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

/// A body that is not a notification, although its signature may be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not a notification: {0}")]
pub struct InvalidNotification(pub String);

impl Notification {
    /// Parses a body. Verify its signature first: this method does not.
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
    /// The id of the event, the same in every attempt and replay.
    pub fn outgoing_id(&self) -> Option<Guid> {
        match self {
            Self::Accounting(change) => Some(change.outgoing_id),
            Self::Invoicing(change) => change.outgoing_id,
        }
    }

    /// The tenant that owns the record.
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

    /// Whether it is a test event, requested by the owner of the webhook. It belongs to no record.
    pub fn is_test(&self) -> bool {
        match self {
            Self::Accounting(change) => change.sequence_version == 0,
            Self::Invoicing(change) => Guid::parse(&change.entity_id) == Some(Guid::from_bytes([0; 16])),
        }
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "it has neither the members of an accounting notification nor those of an invoicing one"
)]
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
            changes: self.changes.into_iter().map(|member| (member.name, member.value)).collect(),
        }
    }
}
