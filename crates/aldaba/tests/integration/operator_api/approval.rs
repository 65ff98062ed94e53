//! `portal.approval`: which requests of teams are approved at once, and which wait for an operator.

use domain::{AccountId, Realm, Ticks};
use serde_json::{Value, json};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{Request, TestServer};

const EMAIL: &str = "diego@developers.example";
const CALLBACK: &str = "https://app.example/callback";

/// A server with the team "panel" and one developer in it.
struct Portal(TestServer);

impl Portal {
    fn start(settings: &[(&str, &str)]) -> Self {
        let builder = TestServer::builder();
        let server = settings.iter().fold(builder, |builder, (key, value)| builder.set(key, value)).start();
        let account = Account {
            id: AccountId::new("diego"),
            realm: Realm::Developers,
            email: EMAIL.into(),
            given_name: "Diego".into(),
            family_name: String::new(),
            lang: "es".into(),
            password_hash: String::new(),
            status: Status::Active,
            role: None,
            created_at: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            updated_at: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
            revision: FIRST_REVISION,
        };
        server.block_on(server.store().add_account(&account, &[], &AuditContext::default())).unwrap();
        server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
        server.operator_post("teams/panel/members", &json!({"developer": EMAIL, "role": "owner"}));
        Self(server)
    }

    /// Payroll and invoicing are approved automatically, accounting is not.
    fn automatic() -> Self {
        let keys = ["portal.approval.payroll", "portal.approval.invoicing"];
        Self::start(&keys.map(|key| (key, "automatic")))
    }

    /// The request as the response shows it.
    #[track_caller]
    fn ask(&self, kind: &str, asked: &Value) -> Value {
        self.0.operator_post("requests", &json!({"team": "panel", "developer": EMAIL, kind: asked}))
    }

    #[track_caller]
    fn ask_for_client(&self, products: &[&str], sandbox: bool) -> Value {
        let client =
            json!({"name": "Ventas", "redirectUris": [CALLBACK], "products": products, "sandbox": sandbox});
        self.ask("client", &client)
    }

    /// The state of a request for a redirect address of this client.
    #[track_caller]
    fn ask_for_address(&self, client: &str, uri: &str) -> Value {
        self.ask("redirectUri", &json!({"client": client, "uri": uri}))["state"].clone()
    }

    fn client(&self, id: &str) -> Value {
        self.0.operator_get(&format!("/operator/v1/clients/{id}")).expect_status(200).json()
    }

    #[track_caller]
    fn change_client(&self, id: &str, change: &Value) {
        let url = format!("{}/operator/v1/clients/{id}", self.0.operator_url());
        let request = Request::new("PATCH".parse().unwrap(), &url).bearer(self.0.operator_token());
        request.json(change).send().expect_status(200);
    }
}

#[track_caller]
fn result(request: &Value) -> &str {
    request["result"].as_str().unwrap_or_else(|| panic!("nothing was added: {request}"))
}

#[test]
fn only_the_sandbox_of_automatic_products_is_approved_at_once() {
    let portal = Portal::automatic();
    for (product, sandbox, state) in [
        ("payroll", true, "approved"),
        ("payroll", false, "pending"),
        ("accounting", true, "pending"),
        ("accounting", false, "pending"),
    ] {
        let asked = json!({"name": "Clave", "product": product, "sandbox": sandbox});
        let request = portal.ask("subscription", &asked);
        assert_eq!(request["state"], state, "{request}");
        assert_eq!(request["result"].is_string(), state == "approved", "{request}");
    }
    for (products, sandbox, state) in [
        (&["payroll", "invoicing"][..], true, "approved"),
        (&["payroll", "invoicing"], false, "pending"),
        (&["payroll", "accounting"], true, "pending"),
    ] {
        let request = portal.ask_for_client(products, sandbox);
        assert_eq!(request["state"], state, "{request}");
        if state == "approved" {
            assert_eq!(request["decidedBy"], "service");
            let client = portal.client(result(&request));
            let shown = [&client["sandbox"], &client["consent"], &client["team"]];
            assert_eq!(shown, [&json!(true), &json!(true), &json!("panel")], "{client}");
        }
    }
    let audit = portal.0.operator_get("/operator/v1/audit?kind=request_approved&pageSize=1000").json();
    let actors: Vec<&Value> = audit["records"].as_array().unwrap().iter().map(|one| &one["actor"]).collect();
    assert_eq!(actors, ["service", "service"]);
}

#[test]
fn address_is_approved_at_once_only_for_a_sandbox_client_with_consent() {
    let portal = Portal::automatic();
    let request = portal.ask_for_client(&["payroll"], true);
    let client = result(&request);
    assert_eq!(portal.ask_for_address(client, "https://app.example/1"), "approved");
    let addresses = [CALLBACK, "https://app.example/1"];
    assert_eq!(portal.client(client)["redirectUris"], json!(addresses));
    // Each of these makes the address one that an operator has to see.
    for (number, change) in [
        json!({"consent": false}),
        json!({"consent": true, "sandbox": false}),
        json!({"sandbox": true, "products": ["payroll", "accounting"]}),
    ]
    .iter()
    .enumerate()
    {
        portal.change_client(client, change);
        let uri = format!("https://app.example/changed-{number}");
        assert_eq!(portal.ask_for_address(client, &uri), "pending", "{change}");
        assert_eq!(portal.client(client)["redirectUris"], json!(addresses), "{change}");
    }
    portal.change_client(client, &json!({"products": ["payroll"]}));
    assert_eq!(portal.ask_for_address(client, "https://app.example/2"), "approved");

    // A client whose consent an operator has waived on approval.
    let request = portal.ask_for_client(&["accounting"], true);
    let path = format!("requests/{}/approve", request["id"].as_str().unwrap());
    let waived = portal.0.operator_post(&path, &json!({"waiveConsent": true}));
    portal.change_client(result(&waived), &json!({"products": ["payroll"]}));
    assert_eq!(portal.ask_for_address(result(&waived), "https://app.example/3"), "pending");
}

#[test]
fn operator_decides_on_everything_by_default() {
    let portal = Portal::start(&[]);
    assert_eq!(portal.ask_for_client(&["payroll"], true)["state"], "pending");
    let asked = json!({"name": "Clave", "product": "payroll", "sandbox": true});
    assert_eq!(portal.ask("subscription", &asked)["state"], "pending");
}
