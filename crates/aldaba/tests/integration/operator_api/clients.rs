//! Clients in the operator's API.

use serde_json::{Value, json};

use crate::harness::{
    CALLBACK, HttpResponse, OperatorApi, SignInFixture, TestApp, members, oauth_error, shared_fixture,
    shared_server,
};

/// Registers a client; returns it with the response.
#[track_caller]
fn new_client(id: &str) -> (TestApp, HttpResponse) {
    let response = OperatorApi(shared_server())
        .post("/clients", &json!({"name": "Panel", "id": id, "redirectUris": [CALLBACK]}));
    assert_eq!(response.status, 201, "{response:?}");
    let secret = response.json()["clientSecret"].as_str().unwrap().to_owned();
    (TestApp { id: id.to_owned(), secret }, response)
}

fn fixture_for(app: TestApp) -> SignInFixture<'static> {
    shared_fixture().with_app(app)
}

#[test]
fn a_created_client_signs_users_in() {
    let (app, response) = new_client("over-http");
    assert_eq!(response.header("location"), "/operator/v1/clients/over-http");
    assert_eq!(response.header("cache-control"), "no-store");
    let created = response.json();
    assert_eq!(members(&created), ["client", "clientSecret"]);
    let created_at = created["client"]["createdAt"].clone();
    assert_eq!(
        created["client"],
        json!({"id": "over-http", "name": "Panel", "kind": "web", "redirectUris": [CALLBACK], "postLogoutUris": [],
            "backchannelLogoutUri": null, "pkce": "if-sent", "consent": false, "callbackIdToken": "auto", "products": ["accounting", "payroll", "invoicing"],
            "team": null, "sandbox": false, "standing": "active", "createdAt": created_at, "revision": 1})
    );
    let fixture = fixture_for(app);
    assert_eq!(fixture.userinfo(fixture.tokens().access()).status, 200);
    let read_back = OperatorApi(shared_server()).get("/clients/over-http");
    assert_eq!(read_back.json(), created["client"], "the secret is returned once");
    assert!(
        OperatorApi(shared_server()).read_all_pages("/clients", "clients", 2).contains(&created["client"])
    );
}

#[test]
fn a_replaced_secret_stays_valid_during_the_overlap() {
    let (app, _) = new_client("with-new-secrets");
    let api = OperatorApi(shared_server());
    let replace = |body: &Value| {
        let response = api.post("/clients/with-new-secrets/secret", body);
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"), "{response:?}");
        assert_eq!(members(&response.json()), ["clientSecret", "oldValidUntil"]);
        TestApp { secret: response.json()["clientSecret"].as_str().unwrap().to_owned(), ..app.clone() }
    };
    // The token endpoint authenticates the client before it reads the refresh token.
    let is_authenticated = |app: &TestApp| match oauth_error_of(app).as_str() {
        "invalid_grant" => true,
        "invalid_client" => false,
        other => panic!("{other}"),
    };
    let second = replace(&json!({"overlap": "1h"}));
    assert_eq!([&app, &second].map(is_authenticated), [true, true]);
    let third = replace(&json!({"overlap": "0s"}));
    assert_eq!([&second, &third].map(is_authenticated), [false, true]);
    let bare = api.request(hyper::Method::POST, "/clients/with-new-secrets/secret").send();
    assert_eq!(bare.status, 200, "no body: the default overlap");
    assert!(is_authenticated(&third));
    for wrong in ["", "1", "1w", "-1h", "1000d", "24 h"] {
        let refused = api.post("/clients/with-new-secrets/secret", &json!({"overlap": wrong}));
        assert!(refused.problem(400).contains("is not a duration as in 24h"), "{refused:?}");
        assert_eq!(refused.problem_field(), "overlap");
    }
    api.post("/clients/nobody/secret", &json!({})).problem(404);
}

/// The token endpoint's error for this application and an unknown refresh token.
fn oauth_error_of(app: &TestApp) -> String {
    let response = fixture_for(app.clone()).refresh("no such token");
    let status = response.status;
    oauth_error(&response, status)
}

#[test]
fn a_patch_changes_only_the_sent_members() {
    let (app, response) = new_client("to-be-changed");
    let api = OperatorApi(shared_server());
    let before = response.json()["client"].clone();
    assert_eq!(api.patch("/clients/to-be-changed", &json!({})).json(), before);
    let change = json!({"name": "Otro", "redirectUris": [CALLBACK, "https://app.example/cb"],
        "postLogoutUris": ["https://app.example/bye"], "pkce": "required", "consent": true, "callbackIdToken": "never",
        "products": ["accounting", "invoicing"]});
    let mut expected = before.clone();
    expected.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    expected["revision"] = json!(2);
    let changed = api.patch("/clients/to-be-changed", &change);
    assert_eq!((changed.status, changed.json()), (200, expected.clone()));
    assert_eq!(api.get("/clients/to-be-changed/").json(), expected);
    assert_eq!(
        api.patch("/clients/to-be-changed", &json!({"postLogoutUris": []})).json()["postLogoutUris"],
        json!([])
    );
    for (sent, stored) in [(json!("always"), "always"), (json!(true), "auto"), (json!(false), "never")] {
        let changed = api.patch("/clients/to-be-changed", &json!({"callbackIdToken": sent}));
        assert_eq!(changed.json()["callbackIdToken"], stored, "the boolean of version 0.1 is accepted");
    }

    let fixture = fixture_for(app);
    let request = fixture.authorization_request();
    let refused = fixture.browser().start_authorization(&request);
    assert!(
        refused.params()["error_description"].contains("code_challenge"),
        "PKCE is required: {refused:?}"
    );
    api.patch("/clients/to-be-changed", &json!({"standing": "disabled"}));
    assert_eq!(
        fixture.browser().start_authorization(&request).status,
        400,
        "an error page: a disabled client gets no redirect"
    );
    assert_eq!(oauth_error(&fixture.refresh("x"), 401), "invalid_client");
}

#[test]
fn an_invalid_client_is_refused_with_the_field() {
    let api = OperatorApi(shared_server());
    for (field, body, message) in [
        ("redirectUris", json!({"name": "P", "redirectUris": vec![CALLBACK; 21]}), "must have 0 to 20"),
        (
            "kind",
            json!({"name": "P", "redirectUris": [CALLBACK], "kind": "spa"}),
            "expected one of `web`, `browser`",
        ),
        (
            "redirectUris[1]",
            json!({"name": "P", "redirectUris": [CALLBACK, "http://app.example/"]}),
            "must use https",
        ),
        ("redirectUris[0]", json!({"name": "P", "redirectUris": ["https://[0]/"]}), "not an IPv6 address"),
        (
            "postLogoutUris[0]",
            json!({"name": "P", "redirectUris": [CALLBACK], "postLogoutUris": ["urn:ietf:wg:oauth:2.0:oob"]}),
            "shows the code out of band",
        ),
        (
            "pkce",
            json!({"name": "P", "redirectUris": [CALLBACK], "pkce": "sometimes"}),
            "expected one of `required`, `if-sent`, `ignore`",
        ),
        (
            "callbackIdToken",
            json!({"name": "P", "redirectUris": [CALLBACK], "callbackIdToken": "sometimes"}),
            "expected one of `auto`, `always`, `never`",
        ),
        (
            "callbackIdToken",
            json!({"name": "P", "redirectUris": [CALLBACK], "callbackIdToken": 1}),
            "expected one of `auto`, `always`, `never`",
        ),
        ("products", json!({"name": "P", "redirectUris": [CALLBACK], "products": []}), "must have 1 to 3"),
        (
            "products[0]",
            json!({"name": "P", "redirectUris": [CALLBACK], "products": ["everything"]}),
            "expected one of `accounting`, `payroll`, `invoicing`",
        ),
        ("consent", json!({"name": "P", "redirectUris": [CALLBACK], "consent": "yes"}), "expected a boolean"),
        ("id", json!({"name": "P", "redirectUris": [CALLBACK], "id": ".."}), "begins with a letter or digit"),
    ] {
        let refused = api.post("/clients", &body);
        assert!(refused.problem(400).contains(message), "{field}: {refused:?}");
        assert_eq!(refused.problem_field(), field);
    }
    for body in [json!({"name": "P"}), json!({"name": "P", "redirectUris": []})] {
        let missing = api.post("/clients", &body);
        assert_eq!(missing.problem(400), "A client has 1 to 20 redirect addresses.");
    }
    new_client("only-once");
    let again = api.post("/clients", &json!({"name": "P", "id": "only-once", "redirectUris": [CALLBACK]}));
    assert_eq!(again.problem(409), "There is already a client \"only-once\".");
    api.get("/clients/nobody").problem(404);
    api.patch("/clients/nobody", &json!({"name": "P"})).problem(404);
}

#[test]
fn clients_are_found_by_the_beginning_of_their_id_and_by_their_standing() {
    let api = OperatorApi(shared_server());
    for id in ["searched-1", "searched-2", "searched-3"] {
        new_client(id);
    }
    let disabled = api.patch("/clients/searched-2", &json!({"standing": "disabled"}));
    assert_eq!(disabled.status, 200, "{disabled:?}");
    let found = |query: &str| {
        let page = api.get(&format!("/clients?{query}"));
        assert_eq!(page.status, 200, "{page:?}");
        let page = page.json();
        let ids =
            page["clients"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page["next"].clone())
    };
    assert_eq!(found("q=searched-").0, ["searched-1", "searched-2", "searched-3"]);
    assert_eq!(found("q=searched-&standing=disabled").0, ["searched-2"]);
    assert_eq!(found("q=searched-&standing=active").0, ["searched-1", "searched-3"]);
    let (first, next) = found("q=searched-&pageSize=2");
    assert_eq!(first, ["searched-1", "searched-2"]);
    assert_eq!(found(&format!("q=searched-&after={}", next.as_str().unwrap())).0, ["searched-3"]);
    assert_eq!(api.get("/clients?standing=unconfirmed").status, 400);
}
