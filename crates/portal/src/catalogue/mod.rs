//! The events that webhooks can get, read once from the AsyncAPI document: it is the only list of them.

mod members;

use std::sync::LazyLock;

use domain::event::{EventKind, parse_semantic_name};
use domain::{Area, Resource};
use serde::Serialize;
use serde_json::Value;

pub(crate) use members::Member;

/// All events, by area and resource.
pub(crate) struct Catalogue(Vec<Event>);

/// One message of the document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    /// Names the event in the document and in URLs.
    pub(crate) id: String,
    /// As deliveries and subscriptions name it.
    pub(crate) name: String,
    pub(crate) area: String,
    pub(crate) resource: String,
    /// When it is sent and what to do with it, in English.
    pub(crate) description: String,
    /// What the receiver has to answer, in English.
    pub(crate) answer: String,
    pub(crate) members: Vec<Member>,
    pub(crate) headers: Vec<Member>,
    /// The body of an example, indented, its members in the order of a delivery.
    pub(crate) example: String,
    /// The JSON document that a member of the example contains as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inner_example: Option<InnerExample>,
    /// How to subscribe; none for a handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subscription: Option<SubscriptionCall>,
}

#[derive(Debug, Serialize)]
pub(crate) struct InnerExample {
    pub(crate) member: String,
    pub(crate) text: String,
}

/// The call that subscribes to an event.
#[derive(Debug, Serialize)]
pub(crate) struct SubscriptionCall {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::read(&webhooks::asyncapi()));

pub(crate) fn catalogue() -> &'static Catalogue {
    &CATALOGUE
}

impl Catalogue {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Event> {
        self.0.iter()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Event> {
        self.0.iter().find(|event| event.id == id)
    }

    /// The areas that have events, in the order of the catalogue of resources.
    pub(crate) fn areas(&self) -> Vec<&str> {
        let mut areas: Vec<&str> = self.0.iter().map(|event| event.area.as_str()).collect();
        areas.dedup();
        areas
    }

    fn read(document: &Value) -> Self {
        let mut events = Vec::new();
        for (channel_name, channel) in document["channels"].as_object().into_iter().flatten() {
            let answer = text(&document["operations"][format!("send.{channel_name}")]["description"]);
            for (id, message) in channel["messages"].as_object().into_iter().flatten() {
                let message = members::resolve(document, message);
                events.push(Event::read(document, (id, &text(&channel["title"]), &answer), message));
            }
        }
        let rank = |area: &str| Area::ALL.iter().position(|known| known.as_str() == area);
        events.sort_by_key(|event: &Event| rank(&event.area).unwrap_or(Area::ALL.len()));
        Self(events)
    }
}

impl Event {
    fn read(document: &Value, (id, resource, answer): (&str, &str, &str), message: &Value) -> Self {
        let mut members = members::of_schema(document, &message["payload"]);
        for member in &mut members {
            member.value = message["x-constants"][&member.name].as_str().map(ToOwned::to_owned);
        }
        let example = &message["examples"][0]["payload"];
        let inner = members.iter().filter(|member| member.is_text_of_json).find_map(|member| {
            let inner = serde_json::from_str(example[&member.name].as_str()?).ok()?;
            Some(InnerExample {
                member: member.name.clone(),
                text: members::pretty(&inner, &members, member.depth + 1),
            })
        });
        let headers = message["traits"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|one| members::of_schema(document, &members::resolve(document, one)["headers"]));
        Self {
            id: id.to_owned(),
            name: text(&message["name"]),
            area: text(&message["tags"][0]["name"]),
            resource: resource.to_owned(),
            description: text(&message["description"]),
            answer: answer.to_owned(),
            headers: headers.collect(),
            example: members::pretty(example, &members, 0),
            inner_example: inner,
            subscription: SubscriptionCall::read(&message["x-subscription"]),
            members,
        }
    }

    /// The event as webhooks subscribe to it; none for a handshake.
    pub(crate) fn subscribable(&self) -> Option<(Resource, EventKind)> {
        self.subscription.as_ref()?;
        let mut of_area = Resource::all().filter(|resource| resource.area().as_str() == self.area);
        of_area.find_map(|resource| Some((resource, parse_semantic_name(resource, &self.name)?)))
    }

    /// Whether a search for this text finds it; the case does not count.
    pub(crate) fn matches(&self, wanted: &str) -> bool {
        let wanted = wanted.to_lowercase();
        [&self.name, &self.resource, &self.description]
            .iter()
            .any(|text| text.to_lowercase().contains(&wanted))
    }

    /// The header with the contract's signature.
    pub(crate) fn signature_header(&self) -> &str {
        let contract = self
            .headers
            .iter()
            .find(|one| one.name.ends_with("-signature") && one.name != "webhook-signature");
        contract.map_or("webhook-signature", |header| &header.name)
    }
}

impl SubscriptionCall {
    fn read(call: &Value) -> Option<Self> {
        let headers = call["headers"].as_object()?.iter().map(|(name, value)| (name.clone(), text(value)));
        Some(Self {
            method: text(&call["method"]),
            path: text(&call["path"]),
            headers: headers.collect(),
            body: members::pretty(&call["body"], &[], 0),
        })
    }

    /// The call as a command for a shell, with the key and the token in variables.
    pub(crate) fn curl(&self, base_url: &str) -> String {
        let mut command = format!(
            "curl -sS -X {} {base_url}{} \\\n  -H \"Authorization: Bearer $ACCESS\" \\\n  -H \"Ocp-Apim-Subscription-Key: $KEY\" \\\n",
            self.method, self.path
        );
        for (name, value) in &self.headers {
            command.extend(["  -H '", name, ": ", value, "' \\\n"]);
        }
        // A quotation mark would end the text for the shell.
        let body = self.body.replace('\'', "'\\''");
        command.extend(["  -H 'content-type: application/json' \\\n  -d '", &body, "'"]);
        command
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_the_document_is_an_event() {
        let document = webhooks::asyncapi();
        let messages = document["components"]["messages"].as_object().unwrap();
        assert_eq!(catalogue().all().count(), messages.len());
        for (id, message) in messages {
            let event = catalogue().find(id).unwrap_or_else(|| panic!("no event {id}"));
            assert_eq!(event.name, message["name"].as_str().unwrap());
            assert!(
                !event.description.is_empty() && !event.answer.is_empty() && !event.area.is_empty(),
                "{id}"
            );
            assert_eq!(event.headers.len(), 4, "{id}");
            assert_eq!(event.subscribable().is_some(), !id.ends_with(".Acknowledge"), "{id}");
            assert!(event.signature_header().ends_with("-signature"), "{id}");
            let example: Value = serde_json::from_str(&event.example).unwrap();
            assert_eq!(&example, &message["examples"][0]["payload"], "{id}");
        }
        assert_eq!(catalogue().areas(), ["accounting", "core", "import", "invoicing"]);
    }

    #[test]
    fn members_are_in_the_order_of_a_delivery_with_nested_ones_below() {
        let event = catalogue().find("Svc.ACC.Customers.CustomerCreated").unwrap();
        let shown: Vec<(usize, &str)> =
            event.members.iter().map(|one| (one.depth, one.name.as_str())).collect();
        let expected = [
            (0, "WebhookId"),
            (0, "OutgoingId"),
            (0, "ConversationId"),
            (0, "TenantId"),
            (0, "ExtraPartitionInformation"),
            (1, "PartitionClientId"),
            (1, "UserName"),
            (0, "EventType"),
            (1, "AppName"),
            (1, "Domain"),
            (1, "Resource"),
            (1, "EventType"),
            (1, "SemanticName"),
            (0, "Timestamp"),
            (0, "JsonData"),
            (1, "CorrelationId"),
            (1, "Version"),
            (1, "SequenceVersion"),
            (1, "SvcSourceInterface"),
            (1, "SvcProcessId"),
            (1, "SvcSourceAction"),
            (0, "UserIdentifier"),
        ];
        assert_eq!(shown, expected);
        let semantic = event.members.iter().find(|one| one.name == "SemanticName").unwrap();
        assert_eq!(semantic.value.as_deref(), Some("Svc.ACC.Customers.CustomerCreated"));
        assert!(event.example.starts_with("{\n  \"WebhookId\""), "{}", event.example);
        assert!(event.example.contains("\"EventType\": {\n    \"AppName\""), "{}", event.example);
        assert!(
            event.inner_example.as_ref().is_some_and(|inner| inner.text.contains("\n  \"CorrelationId\""))
        );

        let invoicing = catalogue().find("Invoicing.SaleInvoice.Updated").unwrap();
        let shown: Vec<(usize, &str)> =
            invoicing.members.iter().map(|one| (one.depth, one.name.as_str())).collect();
        let expected = [
            (0, "Entity"),
            (0, "EntityId"),
            (0, "TenantId"),
            (0, "User"),
            (0, "Changes"),
            (1, "Name"),
            (1, "Value"),
        ];
        assert_eq!(shown, expected);
        assert_eq!(invoicing.signature_header(), "ms-signature");
        for member in event.members.iter().chain(&invoicing.members) {
            assert!(!member.description.is_empty() && !member.kind.is_empty(), "{member:?}");
        }
    }

    #[test]
    fn subscription_is_a_command_with_the_own_address() {
        let event = catalogue().find("Svc.ACC.Customers.CustomerCreated").unwrap();
        let command = event.subscription.as_ref().unwrap().curl("https://api.example");
        assert!(
            command.contains("https://api.example/accounting/api/customers/webhooks/subscribe"),
            "{command}"
        );
        assert!(command.contains("'context: none'") && command.contains(&event.name), "{command}");
        let handshake = catalogue().find("Svc.ACC.Customers.Acknowledge").unwrap();
        assert!(handshake.subscription.is_none());
    }
}
