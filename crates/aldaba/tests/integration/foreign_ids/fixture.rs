//! Two tenants and two clients, which make four callers; each has records, webhooks of every route group and deliveries.

use std::collections::BTreeMap;

use domain::catalogue::Owner;
use domain::{Area, Resource};
use hyper::Method;
use serde_json::{Value, json};
use testserver::{Receiver, TestClient, TestServer, TestTenant, TestUser};

use super::rows::Ids;
use crate::harness::{
    HttpRequest, HttpResponse, bank, company, context, embedded_code, embedded_tokens, post_as_client,
    wait_for,
};

pub(super) const INVOICING: &str = "/invoicing/api";
pub(super) const SECRET: &str = "s3cret";

/// A webhook and one of its deliveries.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnWebhook {
    pub(super) id: String,
    pub(super) outgoing: String,
}

/// What a tenant has: two companies, each with a record of every resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Estate {
    /// A word that every record of the tenant contains.
    pub(super) mark: String,
    pub(super) companies: [String; 2],
    pub(super) records: [String; 2],
}

impl Estate {
    /// All ids are of the same length, so that lengths tell nothing.
    fn new(mark: &str) -> Self {
        let two = |what: &str| [1, 2].map(|number| format!("{mark}-{what}-{number}"));
        Self { mark: mark.to_owned(), companies: two("company"), records: two("record") }
    }

    pub(super) fn ids_for_tests(&self, record: &str) -> Ids {
        Ids { record: record.to_owned(), mark: self.mark.clone(), ..Ids::default() }
    }

    fn changes(&self) -> Value {
        let mut lines = Vec::new();
        for (company_id, record) in self.companies.iter().zip(&self.records) {
            let mut line = company(company_id);
            line["data"]["vatName"] = json!(self.mark);
            lines.push(line);
            for resource in Resource::accounting_family().filter(|one| one.owner() == Owner::Company) {
                lines.push(self.record(resource, company_id, record));
            }
        }
        lines.push(json!({
            "area": "payroll", "resource": "companies", "action": "upsert",
            "data": {"companyCode": 1, "companyName": self.mark, "identifierNumber": ""}
        }));
        lines.push(bank(&self.records[0], &self.mark));
        Value::Array(lines)
    }

    fn record(&self, resource: Resource, company: &str, id: &str) -> Value {
        let data = match resource.as_str() {
            "customers" => {
                json!({"tradeName": self.mark, "accountCode": "430000001", "accountCodeCorrelationId": "a"})
            }
            "accounts" => json!({"code": "430000001", "description": self.mark}),
            _ => json!({ "name": self.mark }),
        };
        json!({
            "area": resource.area().as_str(), "resource": resource.as_str(), "company": company,
            "action": "upsert", "correlationId": id, "data": data, "user": self.mark
        })
    }
}

/// A client that acts for a user of a tenant.
pub(super) struct Caller {
    pub(super) name: &'static str,
    pub(super) base_url: String,
    pub(super) key: String,
    pub(super) client: TestClient,
    pub(super) user: TestUser,
    /// The response of the token endpoint.
    pub(super) tokens: Value,
    pub(super) estate: Estate,
    pub(super) receiver: Receiver,
    /// By the path of their route group.
    pub(super) webhooks: BTreeMap<String, OwnWebhook>,
}

impl Caller {
    pub(super) fn request(&self, method: Method, path: &str) -> HttpRequest {
        HttpRequest::new(method, &format!("{}{path}", self.base_url))
            .header("ocp-apim-subscription-key", &self.key)
            .header("authorization", &format!("Bearer {}", self.token("access_token")))
    }

    pub(super) fn token(&self, name: &str) -> &str {
        self.tokens[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.tokens))
    }

    #[track_caller]
    fn read(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path).send();
        assert_eq!(response.status, 200, "{path}: {response:?}");
        response.json()
    }

    #[track_caller]
    pub(super) fn post_json(&self, path: &str, body: &Value) -> HttpResponse {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        request.body(body.to_string()).send()
    }

    /// An authorization code of the caller's user for the caller's client.
    #[track_caller]
    pub(super) fn code(&self) -> String {
        embedded_code(&self.base_url, &self.client, &self.user)
    }

    #[track_caller]
    pub(super) fn post_form(&self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        post_as_client(&self.base_url, &self.client, path, fields)
    }

    /// The ids that are the caller's own in a route group.
    pub(super) fn ids(&self, group: &str) -> Ids {
        let webhook = self.webhooks.get(group).cloned().unwrap_or_default();
        Ids {
            whose: self.name,
            mark: self.estate.mark.clone(),
            company: self.estate.companies[0].clone(),
            record: self.estate.records[0].clone(),
            webhook: webhook.id,
            outgoing: webhook.outgoing,
            secret: SECRET.to_owned(),
        }
    }

    pub(super) fn subscription_body(&self, group: &str, secret: &str) -> Value {
        if group == INVOICING {
            return json!({
                "uri": self.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank",
                "action": "Created", "secret": secret, "applicationName": self.estate.mark,
            });
        }
        let names = self.read(&format!("{group}/webhooks/events"));
        json!({
            "thirdPartyApplicationName": self.estate.mark, "url": self.receiver.url(group), "secret": secret,
            "eventTypes": names,
        })
    }

    fn subscribe_to_all(&mut self) {
        let family = Resource::accounting_family().map(Resource::path);
        for group in family.chain([INVOICING.to_owned()]) {
            let path = if group == INVOICING { "/webhooks" } else { "/webhooks/subscribe" };
            let made = self.post_json(&format!("{group}{path}"), &self.subscription_body(&group, SECRET));
            assert_eq!(made.status, 200, "{group}: {made:?}");
            let made = made.json();
            let id = made["webhookId"].as_str().or(made["id"].as_str()).unwrap().to_owned();
            self.webhooks.insert(group, OwnWebhook { id, outgoing: String::new() });
        }
        for (group, webhook) in &self.webhooks {
            wait_for("the receiver to accept", || {
                let record = self.read(&format!("{group}/webhooks/{}", webhook.id));
                (record["isActive"] == true || record["status"] == "Effective").then_some(())
            });
        }
    }

    fn wait_for_deliveries(&mut self) {
        let mut webhooks = std::mem::take(&mut self.webhooks);
        for (group, webhook) in &mut webhooks {
            webhook.outgoing = wait_for("a delivery", || {
                let listed = self.read(&format!("{group}/webhooks/{}/deliveries", webhook.id));
                let first = listed.as_array().unwrap().first()?.clone();
                (first["status"] == "delivered").then(|| first["outgoingId"].as_str().unwrap().to_owned())
            });
        }
        self.webhooks = webhooks;
    }
}

pub(super) struct World {
    pub(super) server: TestServer,
    pub(super) victim: Caller,
    /// The same tenant, another client.
    pub(super) other_client: Caller,
    /// Another tenant, the same client.
    pub(super) other_tenant: Caller,
    /// Another tenant and another client.
    pub(super) stranger: Caller,
}

impl World {
    pub(super) fn new() -> Self {
        let server = TestServer::builder().set("delivery.webhooks_max", "100").start();
        let (victims, others) = (Estate::new("victims"), Estate::new("theirs_"));
        let tenants = [server.add_tenant("Uno"), server.add_tenant("Dos")];
        let clients = [server.add_client("Panel"), server.add_client("Otra")];
        let key = server.add_subscription("Clave").primary_key;
        let caller = |name, tenant: &TestTenant, client: &TestClient, estate: &Estate| {
            let user = server.add_user(&[tenant]);
            let tokens = embedded_tokens(server.base_url(), client, &user);
            let mut caller = Caller {
                name,
                base_url: server.base_url().to_owned(),
                key: key.clone(),
                client: client.clone(),
                user,
                tokens,
                estate: estate.clone(),
                receiver: Receiver::start(),
                webhooks: BTreeMap::new(),
            };
            caller.subscribe_to_all();
            caller
        };
        let mut callers = [
            caller("the victim", &tenants[0], &clients[0], &victims),
            caller("another client of the tenant", &tenants[0], &clients[1], &victims),
            caller("the client in another tenant", &tenants[1], &clients[0], &others),
            caller("another client in another tenant", &tenants[1], &clients[1], &others),
        ];
        server.apply_changes(&tenants[0], &victims.changes());
        server.apply_changes(&tenants[1], &others.changes());
        callers.iter_mut().for_each(Caller::wait_for_deliveries);
        let [victim, other_client, other_tenant, stranger] = callers;
        Self { server, victim, other_client, other_tenant, stranger }
    }

    /// Everybody but the victim.
    pub(super) fn others(&self) -> impl Iterator<Item = &Caller> {
        [&self.other_client, &self.other_tenant, &self.stranger].into_iter()
    }

    /// Callers of the other tenant: the victim's records and companies are foreign to them.
    pub(super) fn outsiders(&self) -> [&Caller; 2] {
        [&self.other_tenant, &self.stranger]
    }

    /// The victim's ids that a list must not show to this caller.
    pub(super) fn ids_not_of(&self, caller: &Caller, group: &str) -> Vec<String> {
        let victims = self.victim.ids(group);
        let mut foreign = vec![victims.webhook, victims.outgoing];
        if caller.estate.mark != self.victim.estate.mark {
            foreign.extend([victims.mark, victims.company, victims.record]);
        }
        foreign
    }

    /// The victim's webhooks, records and companies as the victim reads them.
    pub(super) fn snapshot(&self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        for (group, webhook) in &self.victim.webhooks {
            let path = format!("{group}/webhooks/{}", webhook.id);
            all.push((path.clone(), self.victim.read(&path)));
            let path = format!("{path}/deliveries");
            all.push((path.clone(), self.victim.read(&path)));
        }
        for company in &self.victim.estate.companies {
            for resource in Resource::accounting_family() {
                let request = self.victim.request(Method::GET, &resource.path());
                let listed = request.header("context", &context(company)).send();
                assert_eq!(listed.status, 200, "{resource:?}: {listed:?}");
                all.push((format!("{company}: {}", resource.path()), listed.json()));
            }
        }
        let payroll = format!("{}/companies", Area::Payroll.prefix());
        all.push((payroll.clone(), self.victim.read(&payroll)));
        all
    }
}
