//! Roles over HTTP: for every documented operation, who may do it and who may not.

use domain::{AccountId, OperatorRole, Realm, Ticks};
use hyper::Method;
use serde_json::{Value, json};
use store::{Account, AuditContext, FIRST_REVISION, Status};
use testserver::{CALLBACK, PASSWORD, Request, Response, TestServer};

use super::openapi::operations;

/// An operation that is more than a read: the least role that may do it, and a valid request.
struct Change {
    operation: &'static str,
    least: OperatorRole,
    path: String,
    body: Value,
}

pub(super) fn add_operator(server: &TestServer, id: &str, role: OperatorRole) {
    add_account(server, id, Realm::Operators, Some(role));
}

pub(super) fn add_account(server: &TestServer, id: &str, realm: Realm, role: Option<OperatorRole>) {
    let account = Account {
        id: AccountId::new(id),
        realm,
        email: format!("{id}@{}.example", realm.as_str()),
        given_name: "Nuria".into(),
        family_name: String::new(),
        lang: "es".into(),
        password_hash: String::new(),
        status: Status::Active,
        role,
        created_at: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
        updated_at: Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap(),
        revision: FIRST_REVISION,
    };
    let store = server.store().clone();
    server.block_on(async { store.add_account(&account, &[], &AuditContext::default()).await }).unwrap();
}

/// A named token; returns its id and its secret.
#[track_caller]
pub(super) fn add_token(server: &TestServer, new: &Value) -> (String, String) {
    let added = server.operator_post("tokens", new);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&added["token"]["id"]), text(&added["secret"]))
}

#[track_caller]
pub(super) fn send(server: &TestServer, token: &str, verb: &str, path: &str, body: &Value) -> Response {
    let method = Method::from_bytes(verb.to_uppercase().as_bytes()).unwrap();
    let request = Request::new(method, &format!("{}/operator/v1{path}", server.operator_url())).bearer(token);
    if body.is_null() { request.send() } else { request.json(body).send() }
}

/// Every operation that is more than a read, on objects that exist.
fn changes(server: &TestServer) -> Vec<Change> {
    use OperatorRole::{Admin, Support};
    let tenant = server.add_tenant("Norte").id;
    let (user, client) = (server.add_user(&[]).id, server.add_client("Panel").id);
    let subscription = server.add_subscription("Panel").id;
    let token = add_token(server, &json!({"name": "other", "role": "viewer"})).0;
    let new_invitation = |email: &str| json!({"realm": "operators", "email": email});
    let invited = server.operator_post("invitations", &new_invitation("invited@example.com"));
    let invitation = format!("/invitations/{}", invited["id"].as_str().unwrap());
    add_operator(server, "nuria", Admin);
    let webhook = "/webhooks/0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11";
    let set = json!({"digest": "0".repeat(64)});
    let set_and_span = json!({"digest": "0".repeat(64), "from": "2026-11-15T08:30:00Z"});
    let member = format!("/users/{user}/tenants/{tenant}");
    let nothing = || Value::Null;
    let active = || json!({"standing": "active"});
    let new_user = json!({"email": "new@example.com", "givenName": "Ana", "password": PASSWORD});
    let new_client = json!({"name": "New", "redirectUris": [CALLBACK]});
    let new_subscription = json!({"name": "New", "products": ["payroll"]});
    let all = [
        ("post /operator/v1/tenants", Admin, "/tenants".into(), json!({"name": "Sur"})),
        ("patch /operator/v1/tenants/{tenant}", Admin, format!("/tenants/{tenant}"), active()),
        (
            "post /operator/v1/tenants/{tenant}/changes",
            Support,
            format!("/tenants/{tenant}/changes"),
            json!([]),
        ),
        ("post /operator/v1/users", Admin, "/users".into(), new_user),
        ("patch /operator/v1/users/{user}", Admin, format!("/users/{user}"), active()),
        ("put /operator/v1/users/{user}/tenants/{tenant}", Admin, member.clone(), nothing()),
        ("patch /operator/v1/users/{user}/tenants/{tenant}", Admin, member.clone(), json!({"admin": true})),
        ("delete /operator/v1/users/{user}/tenants/{tenant}", Admin, member, nothing()),
        ("patch /operator/v1/operators/{operator}", Admin, "/operators/nuria".into(), json!({"lang": "en"})),
        (
            "post /operator/v1/users/{user}/reset-second-factors",
            Admin,
            format!("/users/{user}/reset-second-factors"),
            nothing(),
        ),
        (
            "post /operator/v1/developers/{developer}/reset-second-factors",
            Admin,
            "/developers/nobody/reset-second-factors".into(),
            nothing(),
        ),
        (
            "post /operator/v1/operators/{operator}/reset-second-factors",
            Admin,
            "/operators/nuria/reset-second-factors".into(),
            nothing(),
        ),
        ("post /operator/v1/tokens", Admin, "/tokens".into(), json!({"name": "new", "role": "viewer"})),
        ("delete /operator/v1/tokens/{token}", Admin, format!("/tokens/{token}"), nothing()),
        ("post /operator/v1/invitations", Admin, "/invitations".into(), new_invitation("other@example.com")),
        (
            "post /operator/v1/invitations/{invitation}/resend",
            Admin,
            format!("{invitation}/resend"),
            nothing(),
        ),
        ("delete /operator/v1/invitations/{invitation}", Admin, invitation, nothing()),
        ("post /operator/v1/clients", Admin, "/clients".into(), new_client),
        ("patch /operator/v1/clients/{client}", Admin, format!("/clients/{client}"), json!({"name": "B"})),
        ("post /operator/v1/clients/{client}/secret", Admin, format!("/clients/{client}/secret"), nothing()),
        ("post /operator/v1/subscriptions", Admin, "/subscriptions".into(), new_subscription),
        (
            "patch /operator/v1/subscriptions/{subscription}",
            Admin,
            format!("/subscriptions/{subscription}"),
            json!({"dailyQuota": 5}),
        ),
        (
            "post /operator/v1/subscriptions/{subscription}/keys/{slot}",
            Admin,
            format!("/subscriptions/{subscription}/keys/primary"),
            nothing(),
        ),
        (
            "post /operator/v1/subscriptions/{subscription}/keys/{slot}/reveal",
            Admin,
            format!("/subscriptions/{subscription}/keys/primary/reveal"),
            nothing(),
        ),
        (
            "post /operator/v1/subscriptions/{subscription}/cancel",
            Admin,
            format!("/subscriptions/{subscription}/cancel"),
            nothing(),
        ),
        ("post /operator/v1/webhooks/{webhook}/enable", Support, format!("{webhook}/enable"), nothing()),
        ("post /operator/v1/webhooks/{webhook}/disable", Support, format!("{webhook}/disable"), nothing()),
        ("post /operator/v1/webhooks/{webhook}/test", Support, format!("{webhook}/test"), nothing()),
        (
            "post /operator/v1/webhooks/{webhook}/replay",
            Support,
            format!("{webhook}/replay"),
            json!({"from": "2026-01-01T00:00:00Z"}),
        ),
        (
            "post /operator/v1/webhooks/{webhook}/deliveries/{delivery}/replay",
            Support,
            format!("{webhook}/deliveries/7/replay"),
            nothing(),
        ),
        ("delete /operator/v1/webhooks/{webhook}", Support, webhook.into(), nothing()),
        ("post /operator/v1/webhooks/bulk/enable", Support, "/webhooks/bulk/enable".into(), set.clone()),
        ("post /operator/v1/webhooks/bulk/disable", Support, "/webhooks/bulk/disable".into(), set),
        ("post /operator/v1/webhooks/bulk/replay", Support, "/webhooks/bulk/replay".into(), set_and_span),
        // Last, because the others need the tenant.
        (
            "delete /operator/v1/tenants/{tenant}",
            Admin,
            format!("/tenants/{tenant}?confirm={tenant}"),
            nothing(),
        ),
    ];
    all.map(|(operation, least, path, body)| Change { operation, least, path, body }).into()
}

/// The operations on sessions, passwords, second factors and authorizations.
fn access_changes(server: &TestServer) -> Vec<Change> {
    let (tenant, user) = (server.add_tenant("Sur").id, server.add_user(&[]).id);
    add_operator(server, "olga", OperatorRole::Viewer);
    let of_user = |tail: &str| format!("/users/{user}/{tail}");
    let all = [
        ("post /operator/v1/users/{user}/reset-password", of_user("reset-password")),
        ("post /operator/v1/users/{user}/end-sessions", of_user("end-sessions")),
        (
            "post /operator/v1/developers/{developer}/reset-password",
            "/developers/nobody/reset-password".into(),
        ),
        ("post /operator/v1/developers/{developer}/end-sessions", "/developers/nobody/end-sessions".into()),
        ("post /operator/v1/operators/{operator}/reset-password", "/operators/olga/reset-password".into()),
        ("post /operator/v1/operators/{operator}/end-sessions", "/operators/olga/end-sessions".into()),
        (
            "delete /operator/v1/users/{user}/authorizations/{tenant}/{client}",
            of_user(&format!("authorizations/{tenant}/nothing")),
        ),
    ];
    let change =
        |(operation, path)| Change { operation, least: OperatorRole::Admin, path, body: Value::Null };
    all.map(change).into()
}

/// The operations on teams, developers and requests.
fn team_changes(server: &TestServer) -> Vec<Change> {
    use OperatorRole::{Admin, Support};
    server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
    for id in ["diego", "elisa", "fermin"] {
        add_account(server, id, Realm::Developers, None);
    }
    let member = |id: &str| json!({"developer": format!("{id}@developers.example"), "role": "owner"});
    for id in ["diego", "elisa"] {
        server.operator_post("teams/panel/members", &member(id));
    }
    let asked = json!({"name": "Clave", "product": "payroll"});
    let ask = json!({"team": "panel", "developer": "diego@developers.example", "subscription": asked});
    let [approve, refuse, withdraw] = ["approve", "refuse", "withdraw"].map(|step| {
        let id = server.operator_post("requests", &ask)["id"].as_str().unwrap().to_owned();
        format!("/requests/{id}/{step}")
    });
    let sandbox = |rest: &str| format!("/teams/panel/sandbox{rest}");
    let all = [
        ("post /operator/v1/teams", Admin, "/teams".to_owned(), json!({"name": "Otra"})),
        ("patch /operator/v1/teams/{team}", Admin, "/teams/panel".into(), json!({"name": "B"})),
        ("post /operator/v1/teams/{team}/members", Admin, "/teams/panel/members".into(), member("fermin")),
        (
            "patch /operator/v1/teams/{team}/members/{developer}",
            Admin,
            "/teams/panel/members/elisa".into(),
            json!({"role": "member"}),
        ),
        (
            "delete /operator/v1/teams/{team}/members/{developer}",
            Admin,
            "/teams/panel/members/elisa".into(),
            Value::Null,
        ),
        ("post /operator/v1/teams/{team}/sandbox", Admin, sandbox(""), Value::Null),
        ("patch /operator/v1/teams/{team}/sandbox", Admin, sandbox(""), json!({"receiverMode": "fail"})),
        ("post /operator/v1/teams/{team}/sandbox/reset", Admin, sandbox("/reset"), Value::Null),
        (
            "post /operator/v1/teams/{team}/sandbox/events",
            Admin,
            sandbox("/events"),
            json!({"event": "Bank.Created"}),
        ),
        (
            "patch /operator/v1/developers/{developer}",
            Admin,
            "/developers/diego".into(),
            json!({"lang": "en"}),
        ),
        ("post /operator/v1/requests", Admin, "/requests".into(), ask),
        ("post /operator/v1/requests/{request}/approve", Support, approve, Value::Null),
        ("post /operator/v1/requests/{request}/refuse", Support, refuse, json!({"reason": "no"})),
        ("post /operator/v1/requests/{request}/withdraw", Support, withdraw, Value::Null),
    ];
    all.map(|(operation, least, path, body)| Change { operation, least, path, body }).into()
}

/// The operations on the service itself.
fn service_changes() -> Vec<Change> {
    let download = "/backups/aldaba-20260101T000000Z.ndjson/download";
    let all = [
        ("post /operator/v1/signing-keys/rotate", "/signing-keys/rotate", json!({})),
        ("post /operator/v1/backups", "/backups", Value::Null),
        ("post /operator/v1/backups/{backup}/download", download, Value::Null),
    ];
    let change = |(operation, path, body): (_, &str, _)| Change {
        operation,
        least: OperatorRole::Admin,
        path: path.to_owned(),
        body,
    };
    all.map(change).into()
}

/// The edit of a record.
fn record_change(server: &TestServer) -> Change {
    let tenant = server.add_tenant("Este").id;
    Change {
        operation: "post /operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/edits",
        least: OperatorRole::Support,
        path: format!("/tenants/{tenant}/records/invoicing/Bank/b/edits"),
        body: json!({"action": "upsert", "data": {"name": "Caja"}, "reason": "a reason"}),
    }
}

/// The path with a slash at its end.
fn slashed(path: &str) -> String {
    path.split_once('?').map_or_else(|| format!("{path}/"), |(path, query)| format!("{path}/?{query}"))
}

#[track_caller]
fn assert_forbidden(response: &Response, role: OperatorRole, operation: &str) {
    assert_eq!(response.status, 403, "{operation} as {role:?}: {}", response.text());
    let problem = response.json();
    assert_eq!(problem["errors"][0]["code"], "insufficient_role", "{operation}: {problem}");
    let message = problem["message"].as_str().unwrap();
    let has_role = format!("you have the role {}", role.as_str());
    assert!(message.contains(&has_role) && message.contains("admin"), "{operation}: {message}");
}

#[test]
fn every_operation_is_refused_to_the_roles_below_it() {
    let server = TestServer::start();
    let document = server.operator_get("/operator/v1/openapi.json").json();
    let operations = operations(&document);
    // Those on teams first: the last one of the others erases the tenant.
    let first = team_changes(&server)
        .into_iter()
        .chain(access_changes(&server))
        .chain([record_change(&server)])
        .chain(service_changes());
    let changes: Vec<Change> = first.chain(changes(&server)).collect();
    let name = |(path, verb, _): &(String, &str, Value)| format!("{verb} {path}");
    let mutating: Vec<String> = operations.iter().filter(|one| one.1 != "get").map(name).collect();
    let missing: Vec<&String> =
        mutating.iter().filter(|one| changes.iter().all(|change| change.operation != **one)).collect();
    assert!(missing.is_empty(), "these operations are not in this test: {missing:?}");
    for role in OperatorRole::ALL {
        let token = add_token(&server, &json!({"name": role.as_str(), "role": role.as_str()})).1;
        for (path, _, operation) in operations.iter().filter(|one| one.1 == "get") {
            let path = path.replace("/operator/v1", "").replace(['{', '}'], "");
            let response = send(&server, &token, "get", &path, &Value::Null);
            let documented = &operation["responses"][response.status.to_string()];
            assert!(![401, 403].contains(&response.status), "get {path} as {role:?}: {}", response.text());
            assert!(documented.is_object(), "get {path} as {role:?}: {}", response.text());
        }
        for change in &changes {
            let verb = change.operation.split(' ').next().unwrap();
            for path in [slashed(&change.path), change.path.clone()] {
                let response = send(&server, &token, verb, &path, &change.body);
                if role < change.least {
                    assert_forbidden(&response, role, change.operation);
                } else {
                    let is_admitted = ![401, 403].contains(&response.status) && response.status < 500;
                    assert!(is_admitted, "{} as {role:?}: {}", change.operation, response.text());
                }
            }
        }
        let done = server.operator_get(&format!("/operator/v1/audit?actor=token:{}", role.as_str())).json();
        let is_viewer = role == OperatorRole::Viewer;
        assert_eq!(done["records"].as_array().unwrap().is_empty(), is_viewer, "{role:?}: {done}");
    }
    println!("{} operations, {} of them changes, as three roles", operations.len(), changes.len());
}

#[test]
fn last_admin_cannot_be_disabled_or_lowered() {
    let server = TestServer::start();
    add_operator(&server, "nuria", OperatorRole::Admin);
    let change = |name: &str, body: &Value| send(&server, server.operator_token(), "patch", name, body);
    for body in [json!({"standing": "disabled"}), json!({"role": "support"}), json!({"role": "viewer"})] {
        let refused = change("/operators/nuria", &body).expect_status(409).json();
        assert_eq!(refused["errors"][0]["code"], "last_admin", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("nuria@operators.example"), "{refused}");
    }
    add_operator(&server, "otto", OperatorRole::Support);
    let page = server.operator_get("/operator/v1/operators").json();
    assert_eq!(page["operators"].as_array().unwrap().len(), 2, "{page}");
    let raised = change("/operators/OTTO@operators.example", &json!({"role": "admin", "revision": 1}));
    assert_eq!(raised.expect_status(200).json()["role"], "admin");
    let stale =
        change("/operators/otto", &json!({"role": "viewer", "revision": 1})).expect_status(409).json();
    assert_eq!(stale["errors"][0]["code"], "revision_conflict", "{stale}");
    let body = json!({"standing": "disabled", "role": "viewer", "givenName": "Núria", "lang": "en"});
    let lowered = change("/operators/nuria", &body).expect_status(200).json();
    let expected = ["disabled", "viewer", "Núria", "en"].map(|text| json!(text));
    assert_eq!(["standing", "role", "givenName", "lang"].map(|member| lowered[member].clone()), expected);
    let shown = server.operator_get("/operator/v1/operators/nuria").json();
    assert_eq!(shown, lowered);
    change("/operators/otto", &json!({"role": "viewer"})).expect_status(409);
    // A user is no operator.
    let user = server.add_user(&[]).id;
    change(&format!("/operators/{user}"), &json!({"role": "admin"})).expect_status(404);
}
