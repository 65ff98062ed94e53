//! Two tenants and two teams, each with one thing of every kind that a path of the operator's API names.

use std::collections::BTreeMap;

use domain::{OperatorRole, Realm};
use serde_json::{Value, json};
use testserver::{Receiver, TestServer};

use crate::harness::{HttpRequest, company, customer, embedded_tokens, wait_for};
use crate::integration::operator_api::roles::{add_account, add_operator, add_token};

const CUSTOMERS: &str = "/accounting/api/customers/webhooks/subscribe";
/// The company of every record.
pub(super) const COMPANY: &str = "c";
/// The other company of each tenant, which has no records.
pub(super) const OTHER_COMPANY: &str = "d";

/// Ids by the names that parameters have in paths; `company` is one of the query.
pub(super) type Ids = BTreeMap<&'static str, String>;

/// Members that change without anybody's doing, and those that a request which is flushed later changes.
fn is_volatile(member: &str) -> bool {
    member.starts_with("last") || ["health", "stats"].contains(&member)
}

fn without_volatile(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !is_volatile(name));
            Value::Object(kept.map(|(name, member)| (name, without_volatile(member))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_volatile).collect()),
        other => other,
    }
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

pub(super) struct World {
    pub(super) server: TestServer,
    pub(super) north: Ids,
    pub(super) south: Ids,
    /// Things that exist and are below nothing: a tenant without users, a developer without a team.
    pub(super) apart: Ids,
    _receivers: [Receiver; 2],
}

impl World {
    pub(super) fn new() -> Self {
        let server = TestServer::start();
        let receivers = [Receiver::start(), Receiver::start()];
        // The tenants number their changes apart: the north has events with numbers that the south does not reach.
        let north = side(&server, "north", 4, &receivers[0]);
        let south = side(&server, "south", 1, &receivers[1]);
        add_account(&server, "apart-developer", Realm::Developers, None);
        let apart = Ids::from([
            ("tenant", server.add_tenant("Apart").id),
            ("developer", "apart-developer".to_owned()),
        ]);
        Self { server, north, south, apart, _receivers: receivers }
    }

    #[track_caller]
    fn read(&self, path: &str) -> Value {
        let found = self.server.operator_get(&format!("/operator/v1/{path}"));
        assert_eq!(found.status, 200, "{path}: {}", found.text());
        without_volatile(found.json())
    }

    /// Everything of both sides, as operators read it.
    pub(super) fn snapshot(&self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        for ids in [&self.north, &self.south] {
            let id = |name: &str| ids[name].as_str();
            let paths = [
                format!("tenants/{}", id("tenant")),
                format!("tenants/{}/users", id("tenant")),
                format!("tenants/{}/records/accounting/customers?company={COMPANY}", id("tenant")),
                format!("users/{}", id("user")),
                format!("users/{}/tenants", id("user")),
                format!("users/{}/authorizations", id("user")),
                format!("clients/{}", id("client")),
                format!("subscriptions/{}", id("subscription")),
                format!("teams/{}", id("team")),
                format!("teams/{}/members", id("team")),
                format!("developers/{}", id("developer")),
                format!("operators/{}", id("operator")),
                format!("tokens/{}", id("token")),
                format!("invitations/{}", id("invitation")),
                format!("requests/{}", id("request")),
                format!("webhooks/{}/replays", id("webhook")),
            ];
            all.extend(paths.map(|path| (path.clone(), self.read(&path))));
            let webhook = self.read(&format!("webhooks/{}", id("webhook")));
            all.push((format!("the status of {}", id("webhook")), webhook["status"].clone()));
        }
        all
    }
}

/// A tenant and a team of this name, with everything that can be below them; `customers`: how many records the tenant has.
fn side(server: &TestServer, name: &str, customers: usize, receiver: &Receiver) -> Ids {
    let tenant = server.add_tenant(name);
    server.apply_changes(&tenant, &json!([company(COMPANY), company(OTHER_COMPANY)]));
    let user = server.add_user(&[&tenant]);
    let client = server.add_client(name);
    let subscription = server.add_subscription(name);
    let tokens = embedded_tokens(server.base_url(), &client, &user);
    let body = json!({
        "thirdPartyApplicationName": name, "url": receiver.url("/"), "secret": "s3cret",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
    });
    let made = HttpRequest::post(&format!("{}{CUSTOMERS}", server.base_url()))
        .header("ocp-apim-subscription-key", &subscription.primary_key)
        .header("authorization", &format!("Bearer {}", text(&tokens["access_token"])))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send();
    assert_eq!(made.status, 200, "{made:?}");
    let webhook = text(&made.json()["webhookId"]);
    let read = |path: &str| server.operator_get(&format!("/operator/v1/webhooks/{path}")).json();
    wait_for("the receiver to accept", || (read(&webhook)["status"] == "active").then_some(()));
    let record = |number: usize| format!("{name}-record-{number}");
    let lines: Vec<Value> = (0..customers).map(|number| customer(COMPANY, &record(number), name)).collect();
    server.apply_changes(&tenant, &Value::Array(lines));
    let (sequence, delivery) = wait_for("the deliveries", || {
        let listed = read(&format!("{webhook}/deliveries"));
        let listed = listed["deliveries"].as_array()?.clone();
        let is_done = listed.len() == customers && listed.iter().all(|one| one["status"] == "delivered");
        let number = |one: &Value| text(&one["sequenceVersion"]).parse::<u64>().unwrap();
        let newest = listed.iter().filter(|_| is_done).max_by_key(|one| number(one))?;
        Some((number(newest).to_string(), text(&newest["outgoingId"])))
    });
    let team = format!("{name}-team");
    let developer = format!("{name}-developer");
    let email = format!("{developer}@developers.example");
    server.operator_post("teams", &json!({"name": name, "id": team}));
    add_account(server, &developer, Realm::Developers, None);
    server.operator_post(&format!("teams/{team}/members"), &json!({"developer": email, "role": "owner"}));
    let asked = json!({"name": name, "product": "payroll"});
    let request = json!({"team": team, "developer": email, "subscription": asked});
    let invited = json!({"realm": "developers", "email": format!("{name}@invited.example")});
    let operator = format!("{name}-operator");
    add_operator(server, &operator, OperatorRole::Admin);
    Ids::from([
        ("tenant", tenant.id),
        ("user", user.id),
        ("client", client.id),
        ("subscription", subscription.id),
        ("webhook", webhook),
        ("delivery", delivery),
        ("sequence", sequence),
        ("record", record(customers - 1)),
        ("team", team),
        ("developer", developer),
        ("operator", operator),
        ("token", add_token(server, &json!({"name": name, "role": "viewer"})).0),
        ("request", text(&server.operator_post("requests", &request)["id"])),
        ("invitation", text(&server.operator_post("invitations", &invited)["id"])),
        ("backup", "aldaba-20260101T000000Z.ndjson".to_owned()),
    ])
}
