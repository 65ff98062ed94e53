//! Every action of the console in every role, from the one list of actions: refused with 403 below the role that it needs,
//! and dangerous actions need, after an hour, a new proof of identity.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use console::{Action, console_actions, console_routes};
use domain::OperatorRole;
use serde_json::json;

use super::fixture::{Console, Operator};
use crate::harness::Page;

struct Fixture {
    console: Console,
    /// What stands for each part of a path.
    ids: HashMap<&'static str, String>,
}

impl Fixture {
    fn new() -> Self {
        let console = Console::new();
        let server = &console.server;
        let other = Operator::sign_in(server, OperatorRole::Support);
        let email = "ana@example.com";
        server.operator_post("tenants", &json!({"name": "Norte", "id": "norte"}));
        let user = json!({"email": email, "givenName": "Ana", "password": "cuatro palabras sin sentido", "tenants": ["norte"]});
        server.operator_post("users", &user);
        let developer = super::super::portal::fixture::Developer::sign_in(server, "equipo");
        let client = json!({"name": "Panel", "id": "panel", "redirectUris": ["https://panel.example/back"]});
        server.operator_post("clients", &client);
        let subscription = json!({"name": "Panel", "products": ["accounting"]});
        server.operator_post("subscriptions", &subscription);
        let client = json!({"name": "Otra", "redirectUris": ["https://otra.example/back"], "products": ["accounting"]});
        let request = json!({"team": "equipo", "developer": "equipo@developers.example", "client": client});
        let request = server.operator_post("requests", &request)["id"].as_str().unwrap().to_owned();
        let first = |list: &str| {
            let listed = server.operator_get(&format!("/operator/v1/{list}")).json();
            listed[list][0]["id"].as_str().unwrap().to_owned()
        };
        let (user, subscription) = (first("users"), first("subscriptions"));
        let ids = HashMap::from([
            ("tenant", "norte".to_owned()),
            ("user", user),
            ("developer", "equipo".to_owned()),
            ("operator", other.id),
            ("team", developer.team),
            ("client", "panel".to_owned()),
            ("subscription", subscription),
            ("request", request),
            ("webhook", "00000000-0000-4000-8000-000000000000".to_owned()),
            ("sequence", "1".to_owned()),
            ("area", "accounting".to_owned()),
            ("resource", "customers".to_owned()),
            ("record", "00000000-0000-4000-8000-000000000000".to_owned()),
            ("backup", "none".to_owned()),
        ]);
        Self { console, ids }
    }

    fn page(&self, action: Action) -> String {
        let segments = action.page.split('/').map(|segment| {
            let name = segment.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
            name.map_or(segment, |name| self.ids.get(name).unwrap_or_else(|| panic!("no id for {name}")))
        });
        segments.collect::<Vec<_>>().join("/")
    }

    fn attempt(&self, action: Action) -> Page {
        self.console.post(&self.page(action), &[("do", action.name), ("reason", "Prueba")])
    }
}

#[test]
fn every_action_is_refused_below_its_role_and_tried_above() {
    let fixture = Fixture::new();
    for action in console_actions().into_iter().filter(|action| action.is_dangerous) {
        fixture.console.clock.advance(Duration::from_secs(60 * 60));
        let page = fixture.attempt(action);
        fixture.console.clock.rewind(Duration::from_secs(60 * 60));
        assert!(page.location().contains("/console/login"), "{action:?} without a new proof: {page:?}");
    }
    for role in [OperatorRole::Viewer, OperatorRole::Support, OperatorRole::Admin] {
        fixture.console.act_as(role);
        for action in console_actions() {
            let page = fixture.attempt(action);
            let is_refused = page.status == 403;
            let is_permitted = action.permission.is_given_to(role);
            assert_eq!(is_refused, !is_permitted, "{role:?} {action:?}: {page:?}");
        }
    }
}

#[test]
fn every_page_with_forms_has_actions_and_refuses_others() {
    let fixture = Fixture::new();
    let listed: BTreeSet<&str> = console_actions().iter().map(|action| action.page).collect();
    let pages: BTreeSet<&str> =
        console_routes().into_iter().filter(|(_, takes_forms)| *takes_forms).map(|(path, _)| path).collect();
    assert_eq!(listed, pages);
    for action in console_actions() {
        let page = fixture.attempt(Action { name: "no_such_action", ..action });
        assert!([400, 404].contains(&page.status), "{action:?}: {page:?}");
    }
}
