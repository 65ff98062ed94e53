//! Keys of teams: a subscription that belongs to a team opens for that team's clients alone.

use serde_json::{Value, json};

use crate::harness::{ApiFixture, HttpResponse, OperatorApi, oauth_error, unlimited_server};

const PATHS: [&str; 4] = [
    "/accounting/api/companies",
    "/payroll/api/companies",
    "/invoicing/api/changes",
    "/accounting/api/customers/webhooks/events",
];

fn operator() -> OperatorApi<'static> {
    OperatorApi(unlimited_server())
}

/// A subscription of this team; returns its path and its primary key.
fn key_of(team: Option<&str>) -> (String, String) {
    let products = ["accounting", "payroll", "invoicing"];
    let body = json!({"name": "Clave", "products": products, "team": team});
    let made = operator().create("/subscriptions", &body);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (format!("/subscriptions/{}", text(&made["subscription"]["id"])), text(&made["primaryKey"]))
}

fn call(api: &ApiFixture<'_>, key: &str, path: &str) -> HttpResponse {
    api.get(path).header("ocp-apim-subscription-key", key).send()
}

#[track_caller]
fn patch(path: &str, body: &Value) {
    let response = operator().patch(path, body);
    assert_eq!(response.status, 200, "{path} {body}: {response:?}");
}

/// The response is exactly that to a key that nobody has.
#[track_caller]
fn assert_invalid_key(api: &ApiFixture<'_>, key: &str, path: &str) {
    let (refused, unknown) = (call(api, key, path), call(api, "nobody-has-this-key", path));
    let without_id = |response: &HttpResponse| {
        let mut body = response.json();
        body["requestId"] = Value::Null;
        (response.status, response.header("www-authenticate").to_owned(), body)
    };
    assert_eq!(without_id(&refused), without_id(&unknown), "{path}");
    assert!(refused.problem(401).contains("invalid subscription key"));
}

fn new_team(name: &str) -> String {
    operator().create("/teams", &json!({"name": name}))["id"].as_str().unwrap().to_owned()
}

#[test]
fn key_of_a_team_opens_for_its_clients_alone() {
    let (a, b) = (new_team("A"), new_team("B"));
    let clients = [(ApiFixture::new(), Some(&a)), (ApiFixture::new(), Some(&b)), (ApiFixture::new(), None)];
    for (api, team) in &clients {
        patch(&format!("/clients/{}", api.sign_in.app.id), &json!({"team": team}));
    }
    let keys = [Some(&a), Some(&b), None].map(|team| (key_of(team.map(String::as_str)).1, team));
    for path in PATHS {
        for (api, client_team) in &clients {
            for (key, key_team) in &keys {
                if key_team.is_none() || key_team == client_team {
                    let status = call(api, key, path).status;
                    assert_eq!(status, 200, "{path}: key of {key_team:?}, client of {client_team:?}");
                } else {
                    assert_invalid_key(api, key, path);
                }
            }
        }
    }
    // The key is checked before the token, and the token before the team.
    let (key, foreign) = (&keys[0].0, &clients[1].0);
    let no_token =
        foreign.get(PATHS[0]).header("ocp-apim-subscription-key", key).header("authorization", "Bearer x");
    assert!(no_token.send().header("www-authenticate").contains("invalid_token"));
    let narrow = foreign.tokens("openid SVC.ES.EquipoContex").access().to_owned();
    let refused = foreign.get(PATHS[0]).header("ocp-apim-subscription-key", key);
    let refused = refused.header("authorization", &format!("Bearer {narrow}")).send();
    assert!(refused.problem(401).contains("invalid subscription key"), "and the team before the scope");
}

#[test]
fn changes_of_a_team_count_at_once() {
    let (api, team, other) = (ApiFixture::new(), new_team("Panel"), new_team("Otra"));
    let (client, (subscription, key)) = (format!("/clients/{}", api.sign_in.app.id), key_of(Some(&team)));
    let (path, opens) = (PATHS[0], |expected: bool| {
        if expected {
            assert_eq!(call(&api, &key, PATHS[0]).status, 200);
        } else {
            assert_invalid_key(&api, &key, PATHS[0]);
        }
    });
    opens(false);
    patch(&client, &json!({"team": team}));
    opens(true);
    patch(&format!("/teams/{team}"), &json!({"standing": "disabled"}));
    opens(false);
    patch(&format!("/teams/{team}"), &json!({"standing": "active"}));
    opens(true);
    patch(&subscription, &json!({"team": other}));
    opens(false);
    patch(&subscription, &json!({"team": null}));
    opens(true);
    // The tenant is no sandbox: neither a key nor a client for sandboxes opens it.
    for one in [&subscription, &client] {
        patch(one, &json!({"sandbox": true}));
        opens(false);
        patch(one, &json!({"sandbox": false}));
        opens(true);
    }
    assert_eq!(call(&api, &api.key, path).status, 200, "a key without a team opens for every client");
}

#[test]
fn client_of_the_sandbox_signs_no_ordinary_user_in() {
    let api = ApiFixture::new();
    let code = api.sign_in.code(&api.sign_in.authorization_request());
    patch(&format!("/clients/{}", api.sign_in.app.id), &json!({"sandbox": true}));
    assert_eq!(oauth_error(&api.sign_in.exchange(&code), 400), "invalid_grant");
    let page = api.sign_in.authorize(&api.sign_in.browser(), &api.sign_in.authorization_request());
    let params = page.params();
    assert_eq!((params["error"].as_str(), params.get("code")), ("access_denied", None));
}
