//! Renders the bodies of notifications. A body is a pure function of a log entry and of webhook fields that never
//! change, so every attempt sends the same bytes.

use std::fmt::Write as _;

use crate::catalogue::Resource;
use crate::event::{APP_NAME, event_type, semantic_name};
use crate::ids::{AccountId, Guid, TenantId};
use crate::json::write_string;
use crate::log_entry::LogEntry;
use crate::time::Ticks;
use crate::webhook::{Family, WebhookId};

/// The current version of the envelope. Each log entry stores the version its notifications use.
pub const ENVELOPE_VERSION: i16 = 1;
const ACKNOWLEDGE: &str = "Acknowledge";

/// The fields of a webhook that its notification bodies contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeContext {
    pub webhook: WebhookId,
    pub tenant: TenantId,
    /// The user who created the subscription.
    pub user: AccountId,
    pub resource: Resource,
}

impl EnvelopeContext {
    /// The notification of a change.
    pub fn notification(&self, outgoing: Guid, entry: &LogEntry) -> String {
        match Family::of(entry.resource) {
            Family::Accounting => self.accounting(outgoing, entry),
            Family::Invoicing => self.invoicing(entry),
        }
    }

    /// The Acknowledge: the handshake that the receiver must accept before it gets notifications.
    pub fn acknowledge(&self, outgoing: Guid, conversation: Guid, at: Ticks) -> String {
        let domain = self.resource.area().domain().unwrap_or_default();
        let name = format!("{APP_NAME}.{domain}.{}.{ACKNOWLEDGE}", self.resource.plural());
        let mut body = self.begin_body(outgoing, conversation);
        body.push('}');
        self.event(&mut body, ACKNOWLEDGE, &name);
        self.finish_body(&mut body, at, "{\"Arguments\":\"Acknowledge\"}");
        body
    }

    fn accounting(&self, outgoing: Guid, entry: &LogEntry) -> String {
        let mut body = self.begin_body(outgoing, entry.conversation);
        member(&mut body, "", "PartitionClientId", &entry.company);
        member(&mut body, ",", "UserName", &entry.user);
        body.push('}');
        let kind = entry.kind;
        self.event(&mut body, &event_type(self.resource, kind), &semantic_name(self.resource, kind));
        let mut data = String::with_capacity(320);
        data.push('{');
        member(&mut data, "", "CorrelationId", &entry.correlation_id);
        member(&mut data, ",", "Version", &entry.version.us_date_time());
        let _ = write!(data, ",\"SequenceVersion\":\"{}\"", entry.sequence);
        member(&mut data, ",", "SvcSourceInterface", &entry.source_interface);
        let _ = write!(data, ",\"SvcProcessId\":\"{}\"", entry.process);
        member(&mut data, ",", "SvcSourceAction", &entry.source_action);
        data.push('}');
        self.finish_body(&mut body, entry.version, &data);
        body
    }

    /// Writes the body up to and including the opening brace of `ExtraPartitionInformation`.
    fn begin_body(&self, outgoing: Guid, conversation: Guid) -> String {
        let mut body = String::with_capacity(1024);
        let _ = write!(
            body,
            "{{\"WebhookId\":\"{}\",\"OutgoingId\":\"{outgoing}\",\"ConversationId\":\"{conversation}\"",
            self.webhook
        );
        member(&mut body, ",", "TenantId", self.tenant.as_str());
        body.push_str(",\"ExtraPartitionInformation\":{");
        body
    }

    fn event(&self, body: &mut String, event_type: &str, semantic_name: &str) {
        body.push_str(",\"EventType\":{");
        member(body, "", "AppName", APP_NAME);
        member(body, ",", "Domain", self.resource.area().domain().unwrap_or_default());
        member(body, ",", "Resource", self.resource.plural());
        member(body, ",", "EventType", event_type);
        member(body, ",", "SemanticName", semantic_name);
        body.push('}');
    }

    fn finish_body(&self, body: &mut String, at: Ticks, data: &str) {
        let _ = write!(body, ",\"Timestamp\":{}", at.0);
        member(body, ",", "JsonData", data);
        member(body, ",", "UserIdentifier", self.user.as_str());
        body.push('}');
    }

    fn invoicing(&self, entry: &LogEntry) -> String {
        let changes = entry.changes.as_deref().unwrap_or("[]");
        let mut body = String::with_capacity(256 + changes.len());
        body.push('{');
        member(&mut body, "", "Entity", entry.resource.as_str());
        member(&mut body, ",", "EntityId", &entry.correlation_id);
        member(&mut body, ",", "TenantId", self.tenant.as_str());
        member(&mut body, ",", "User", &entry.user);
        body.push_str(",\"Changes\":");
        body.push_str(changes);
        body.push('}');
        body
    }
}

fn member(out: &mut String, comma: &str, name: &str, value: &str) {
    out.push_str(comma);
    write_string(name, out);
    out.push(':');
    write_string(value, out);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::catalogue::Area;
    use crate::event::EventKind;

    fn guid(byte: u8) -> Guid {
        Guid::random_from([byte; 16])
    }

    fn envelope_context(resource: Resource) -> EnvelopeContext {
        let (tenant, user) = (TenantId::new("tenant \"7\""), AccountId::new("u-1"));
        EnvelopeContext { webhook: guid(1), tenant, user, resource }
    }

    fn entry(resource: Resource, kind: EventKind) -> LogEntry {
        LogEntry {
            sequence: 42,
            resource,
            kind,
            company: "company-1".into(),
            correlation_id: "c/ñ \"1\"".into(),
            version: Ticks(638_000_000_000_000_000),
            conversation: guid(3),
            process: guid(4),
            user: "maría".into(),
            source_interface: "ERP".into(),
            source_action: "Alta\n".into(),
            changes: None,
            envelope: ENVELOPE_VERSION,
        }
    }

    #[test]
    fn accounting_notification_has_exactly_the_contracts_members() {
        let customers = Resource::customers();
        let body = envelope_context(customers).notification(guid(2), &entry(customers, EventKind::Disabled));
        let whole: Value = serde_json::from_str(&body).unwrap();
        let data: Value = serde_json::from_str(whole["JsonData"].as_str().unwrap()).unwrap();
        assert_eq!(
            data,
            json!({
                "CorrelationId": "c/ñ \"1\"", "Version": "09/28/2022 22:13:20", "SequenceVersion": "42",
                "SvcSourceInterface": "ERP", "SvcProcessId": guid(4).to_string(), "SvcSourceAction": "Alta\n",
            })
        );
        assert_eq!(
            whole,
            json!({
                "WebhookId": guid(1).to_string(), "OutgoingId": guid(2).to_string(),
                "ConversationId": guid(3).to_string(), "TenantId": "tenant \"7\"",
                "ExtraPartitionInformation": { "PartitionClientId": "company-1", "UserName": "maría" },
                "EventType": {
                    "AppName": "Svc", "Domain": "ACC", "Resource": "Customers", "EventType": "CustomerDisabled",
                    "SemanticName": "Svc.ACC.Customers.CustomerDisabled",
                },
                "Timestamp": 638_000_000_000_000_000_i64,
                "JsonData": whole["JsonData"], "UserIdentifier": "u-1",
            })
        );
    }

    #[test]
    fn acknowledge_has_exactly_the_contracts_members() {
        let files = Resource::find(Area::Import, "integrationFiles").unwrap();
        let at = Ticks(638_000_000_000_000_000);
        let body = envelope_context(files).acknowledge(guid(2), guid(3), at);
        let whole: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            whole,
            json!({
                "WebhookId": guid(1).to_string(), "OutgoingId": guid(2).to_string(),
                "ConversationId": guid(3).to_string(), "TenantId": "tenant \"7\"",
                "ExtraPartitionInformation": {},
                "EventType": {
                    "AppName": "Svc", "Domain": "IMP", "Resource": "IntegrationFiles", "EventType": "Acknowledge",
                    "SemanticName": "Svc.IMP.IntegrationFiles.Acknowledge",
                },
                "Timestamp": 638_000_000_000_000_000_i64,
                "JsonData": "{\"Arguments\":\"Acknowledge\"}", "UserIdentifier": "u-1",
            })
        );
    }

    #[test]
    fn invoicing_notification_has_exactly_the_contracts_members() {
        let product = Resource::find(Area::Invoicing, "Product").unwrap();
        let changed = LogEntry {
            changes: Some(r#"[{"Name":"price","Value":"1.50"}]"#.into()),
            ..entry(product, EventKind::Updated)
        };
        let body = |entry: &LogEntry| envelope_context(product).notification(guid(2), entry);
        let whole: Value = serde_json::from_str(&body(&changed)).unwrap();
        assert_eq!(
            whole,
            json!({
                "Entity": "Product", "EntityId": "c/ñ \"1\"", "TenantId": "tenant \"7\"", "User": "maría",
                "Changes": [{ "Name": "price", "Value": "1.50" }],
            })
        );
        let whole: Value = serde_json::from_str(&body(&entry(product, EventKind::Deleted))).unwrap();
        assert_eq!(whole["Changes"], json!([]));
    }
}
