//! Users and their memberships in the operator's API.

use serde_json::{Value, json};

use crate::harness::{
    OperatorApi, PASSWORD, SignInFixture, assert_within_seconds, is_guid, members, oauth_error, register_app,
    segment, shared_fixture, shared_server, texts,
};

/// Creates a user of these tenants over HTTP.
#[track_caller]
fn new_user(email: &str, tenants: &[&str]) -> Value {
    let body = json!({"email": email, "givenName": "Lucía", "password": PASSWORD, "tenants": tenants});
    OperatorApi(shared_server()).create("/users", &body)
}

/// A sign-in fixture for a user that was created over HTTP.
fn fixture_for(email: &str, tenant: &str) -> SignInFixture<'static> {
    let app = register_app(shared_server(), &[]);
    SignInFixture { server: shared_server(), tenants: vec![tenant.to_owned()], email: email.to_owned(), app }
}

#[test]
fn a_created_user_signs_in() {
    let tenant = shared_server().ingest_for_new_tenant().tenant;
    let api = OperatorApi(shared_server());
    let body = json!({"email": "Http.Lucia@Example.com", "givenName": "Lucía", "password": PASSWORD, "lang": "en",
        "tenants": [tenant, tenant]});
    let response = api.post("/users", &body);
    let created = response.json();
    let id = created["id"].as_str().unwrap();
    assert!(is_guid(id));
    assert_eq!((response.status, response.header("location")), (201, &*format!("/operator/v1/users/{id}")));
    assert_eq!(
        members(&created),
        ["createdAt", "email", "familyName", "givenName", "id", "lang", "revision", "standing"]
    );
    let values = ["email", "givenName", "lang", "standing"].map(|member| created[member].as_str().unwrap());
    assert_eq!(values, ["http.lucia@example.com", "Lucía", "en", "active"]);
    for name in [id, "http.lucia@example.com", "HTTP.lucia@example.com", "http.lucia%40example.com"] {
        assert_eq!(api.get(&format!("/users/{name}")).json(), created, "{name}");
    }
    let fixture = fixture_for("http.lucia@example.com", &tenant);
    assert_eq!(fixture.userinfo(fixture.tokens().access()).status, 200);
}

#[test]
fn duplicate_and_unknown_users_are_refused() {
    let api = OperatorApi(shared_server());
    let created = new_user("twice@example.com", &[]);
    let body = |email: &str, tenant: &str| json!({"email": email, "givenName": "Ana", "password": PASSWORD, "tenants": [tenant]});
    let again =
        api.post("/users", &json!({"email": "TWICE@example.com", "givenName": "Ana", "password": PASSWORD}));
    assert_eq!(again.problem(409), "There is already a user \"twice@example.com\".");
    let unknown_tenant = api.post("/users", &body("homeless@example.com", "nowhere"));
    assert_eq!(unknown_tenant.problem(404), "There is no tenant \"nowhere\".");
    api.get("/users/homeless@example.com").problem(404);
    for path in ["/users/nobody", "/users/nobody@example.com", "/users/nobody/tenants", "/users/a%00b"] {
        api.get(path).problem(404);
    }
    let id = created["id"].as_str().unwrap();
    api.put(&format!("/users/{id}/tenants/nowhere")).problem(404);
    api.delete(&format!("/users/{id}/tenants/nowhere")).problem(404);
    api.put(&format!("/users/nobody/tenants/{}", shared_server().ingest_for_new_tenant().tenant))
        .problem(404);
}

#[test]
fn an_invalid_user_is_refused_with_the_field() {
    let api = OperatorApi(shared_server());
    let long = "x".repeat(257);
    for (member, value, message) in [
        ("email", json!("nobody"), "is not an e-mail address"),
        ("email", json!(" a@example.com"), "spaces around it"),
        ("email", json!("a b@example.com"), "is not an e-mail address"),
        ("email", json!(7), "expected a string"),
        ("givenName", json!(" "), "a name has 1 to 200 characters"),
        ("givenName", json!("a\nb"), "none of them a control character"),
        ("familyName", json!("a\nb"), "none of them a control character"),
        ("password", json!("1234567"), "it has 7 characters and must have 10 to 256"),
        ("password", json!(long), "it has 257 characters and must have 10 to 256"),
        ("lang", json!("fr"), "expected `es` or `en`"),
        ("tenants", json!("one"), "expected a sequence"),
        ("tenants[1]", json!(["one", "../two"]), "begins with a letter or digit"),
        ("tenants", json!(vec!["one"; 101]), "it has 101 items and must have 0 to 100"),
    ] {
        let mut body = json!({"email": "odd@example.com", "givenName": "Ana", "password": PASSWORD});
        body[member.trim_end_matches("[1]")] = value;
        let refused = api.post("/users", &body);
        assert!(refused.problem(400).contains(message), "{member}: {refused:?}");
        assert_eq!(
            (refused.problem_code(), refused.problem_field()),
            ("invalid_member".into(), member.into())
        );
    }
    api.get("/users/odd@example.com").problem(404);
}

#[test]
fn a_family_name_is_set_changed_and_removed() {
    let api = OperatorApi(shared_server());
    let body = json!({"email": "named@example.com", "givenName": "Ana", "familyName": " Gil ", "password": PASSWORD});
    assert_eq!(api.post("/users", &body).json()["familyName"], "Gil");
    for name in ["Gil Ruiz", ""] {
        let changed = api.patch("/users/named@example.com", &json!({"familyName": name}));
        assert_eq!((changed.status, &changed.json()["familyName"]), (200, &json!(name)));
    }
    assert_eq!(api.patch("/users/named@example.com", &json!({"familyName": "a\u{0}"})).status, 400);
}

#[test]
fn a_patch_changes_password_and_standing() {
    let tenant = shared_server().ingest_for_new_tenant().tenant;
    new_user("changing@example.com", &[&tenant]);
    let fixture = fixture_for("changing@example.com", &tenant);
    let api = OperatorApi(shared_server());
    let tokens = fixture.tokens();
    let disabled = api.patch("/users/changing@example.com", &json!({"standing": "disabled"}));
    assert_eq!((disabled.status, &disabled.json()["standing"]), (200, &json!("disabled")));
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    assert_eq!(api.patch("/users/changing@example.com", &json!({"standing": "active"})).status, 200);

    let changed = api.patch("/users/changing@example.com", &json!({"password": "otra contraseña"}));
    assert_eq!(changed.status, 200);
    assert!(!changed.text().contains("contraseña"), "{changed:?}");
    let browser = fixture.browser();
    let form = browser.start_authorization(&fixture.authorization_request()).form("post");
    assert_eq!(fixture.try_password(&browser, &form, PASSWORD).status, 400);
    assert_ne!(fixture.try_password(&browser, &form, "otra contraseña").status, 400);
}

#[test]
fn adding_and_removing_a_membership_is_idempotent() {
    let tenants =
        [shared_server().ingest_for_new_tenant().tenant, shared_server().ingest_for_new_tenant().tenant];
    let id = new_user("joining@example.com", &[])["id"].as_str().unwrap().to_owned();
    let api = OperatorApi(shared_server());
    let list = || api.read_all_pages(&format!("/users/{id}/tenants"), "tenants", 1);
    assert!(list().is_empty());
    let membership = |tenant: &str| format!("/users/joining%40example.com/tenants/{}", segment(tenant));
    let first = api.put(&membership(&tenants[0]));
    assert_eq!(first.status, 201);
    assert_eq!(members(&first.json()), ["admin", "createdAt", "lastUsedAt", "modules", "tenant"]);
    let again = api.put(&membership(&tenants[0]));
    assert_eq!((again.status, again.json()), (200, first.json()), "nothing changed");
    assert_eq!(api.put(&membership(&tenants[1])).status, 201);
    for admin in [true, false] {
        let changed = api.patch(&membership(&tenants[1]), &json!({ "admin": admin }));
        assert_eq!((changed.status, &changed.json()["admin"]), (200, &json!(admin)), "{changed:?}");
    }
    api.patch(&membership(&tenants[1]), &json!({"owner": true})).problem(400);
    assert_eq!(texts(&list(), "tenant"), tenants);

    let fixture = fixture_for("joining@example.com", &tenants[0]);
    let tokens = fixture.tokens();
    for _ in 0..2 {
        assert_eq!(api.delete(&membership(&tenants[0])).status, 204);
    }
    assert_eq!(texts(&list(), "tenant"), tenants[1..]);
    assert_within_seconds(3, "the token to be refused", || fixture.userinfo(tokens.access()).status == 401);
}

#[test]
fn users_of_the_command_line_are_listed() {
    let api = OperatorApi(shared_fixture().server);
    let user = api.get(&format!("/users/{}", shared_fixture().email)).json();
    let listed = shared_fixture().find_listed("user", "email", &shared_fixture().email);
    assert_eq!(user["id"], listed["id"]);
    assert!(api.read_all_pages("/users", "users", 1000).contains(&user));
}
