//! Changes that cause a wanted event: of `aldaba trigger`, and of the sandboxes' "make it happen".

use domain::event::{EventKind, event_type, semantic_name};
use domain::{Area, Resource};
use serde_json::{Value, json};

/// A record that changes for the sake of its event.
#[derive(Clone, Debug)]
pub struct EventLines {
    pub resource: Resource,
    /// The company that the record belongs to, where the resource has one.
    pub company: Option<String>,
    pub id: String,
    /// A text that differs each time, so that every upsert changes something.
    pub suffix: String,
    /// Who changes it, as the event names them.
    pub user: &'static str,
    /// The length of the company's account codes.
    pub account_digits: usize,
}

/// All events that webhooks can subscribe to, with their names: the contract's name first, the short name last.
pub fn known_events() -> impl Iterator<Item = (Resource, EventKind, [String; 3])> {
    Resource::all().flat_map(|resource| {
        resource.event_kinds().into_iter().map(move |kind| {
            let names = [
                semantic_name(resource, kind),
                format!("{}.{}", resource.plural(), event_type(resource, kind)),
                format!("{}.{}", resource.as_str(), kind.as_str()),
            ];
            (resource, kind, names)
        })
    })
}

/// The event with this name, in any case.
pub fn find_event(name: &str) -> Option<(Resource, EventKind)> {
    let matches = |names: &[String; 3]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    known_events().find(|(_, _, names)| matches(names)).map(|(resource, kind, _)| (resource, kind))
}

impl EventLines {
    /// The change that has this event, if the record exists; for the first event of a record: if it does not.
    pub fn change(&self, kind: EventKind) -> Value {
        match kind {
            _ if kind == self.resource.first_event() => self.upsert("Prueba"),
            EventKind::ErrorOccurred => self.line("fail", None),
            EventKind::Disabled => self.line("disable", None),
            EventKind::Deleted => self.line("delete", None),
            EventKind::Created | EventKind::Updated => self.upsert("Prueba cambiada"),
        }
    }

    /// Enables a disabled record: its event is `Updated`.
    pub fn enable(&self) -> Value {
        self.line("enable", None)
    }

    fn upsert(&self, name: &str) -> Value {
        self.line("upsert", Some(self.data(name)))
    }

    fn line(&self, action: &str, data: Option<Value>) -> Value {
        let mut line = json!({
            "area": self.resource.area().as_str(), "resource": self.resource.as_str(), "action": action,
            "correlationId": self.id, "user": self.user, "sourceInterface": "aldaba", "sourceAction": self.user,
        });
        if let Some(company) = &self.company {
            line["company"] = json!(company);
        }
        if let Some(data) = data {
            line["data"] = data;
        }
        line
    }

    /// The account of the customers that these changes make.
    pub fn account(&self) -> Value {
        let code = self.account_code("430");
        json!({
            "area": "accounting", "resource": "accounts", "company": self.company, "action": "upsert",
            "correlationId": format!("{}-{code}", self.user), "data": {"code": code, "description": "Prueba"},
            "user": self.user, "sourceInterface": "aldaba", "sourceAction": self.user,
        })
    }

    fn data(&self, name: &str) -> Value {
        let name = format!("{name} {}", self.suffix);
        match (self.resource.area(), self.resource.as_str()) {
            (Area::Accounting, "companies") => json!({
                "vatName": name, "vatNumber": "", "chartOfAccountId": 1, "accountLength": self.account_digits
            }),
            (Area::Accounting, "accounts") => json!({"code": self.account_code("572"), "description": name}),
            (Area::Accounting, "customers") => {
                json!({"tradeName": name, "accountCode": self.account_code("430")})
            }
            (Area::Accounting, "suppliers") => {
                json!({"tradeName": name, "accountCode": self.account_code("400")})
            }
            (Area::Invoicing, _) => json!({"name": name}),
            _ => json!({"description": name}),
        }
    }

    fn account_code(&self, group: &str) -> String {
        let digits = self.account_digits;
        format!("{group:0<digits$}").chars().take(digits).collect()
    }
}
