//! Tenants in the operator's API.

use serde_json::json;

use crate::harness::{
    EmbeddedServer, Installation, OperatorApi, SignInFixture, assert_within_seconds, bank, is_guid, ndjson,
    shared_server, texts,
};

#[test]
fn a_created_tenant_is_readable_and_accepts_changes() {
    let api = OperatorApi(shared_server());
    let response =
        api.post("/tenants", &json!({"name": " Asesoría Peñalver ", "id": "over-http", "shortCode": "4101"}));
    assert_eq!((response.status, response.header("location")), (201, "/operator/v1/tenants/over-http"));
    let created = response.json();
    let created_at = created["createdAt"].as_str().unwrap();
    assert_eq!(
        created,
        json!({"id": "over-http", "name": "Asesoría Peñalver", "shortCode": "4101", "standing": "active", "createdAt": created_at, "revision": 1, "sandboxOf": null})
    );
    for path in ["/tenants/over-http", "/tenants/over-http/"] {
        assert_eq!(api.get(path).json(), created, "{path}");
    }
    let answer = shared_server().ingest_client("over-http").send(ndjson(&[bank("1", "a")]));
    assert_eq!(answer.counts(), (1, 0));
}

#[test]
fn id_and_short_code_are_generated_when_missing() {
    let created = OperatorApi(shared_server()).create("/tenants", &json!({"name": "Bodegas Güell"}));
    let id = created["id"].as_str().unwrap();
    assert!(is_guid(id));
    assert_eq!(created["shortCode"], id.split('-').next().unwrap());
}

#[test]
fn pages_return_every_tenant_once() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let api = OperatorApi(&server);
    let ids: Vec<String> = (1..=7).map(|number| format!("tenant-{number}")).collect();
    for id in &ids {
        api.create("/tenants", &json!({"name": "Asesoría", "id": id}));
    }
    for size in [1, 2, 3, 7, 1000] {
        assert_eq!(texts(&api.read_all_pages("/tenants", "tenants", size), "id"), ids, "in pages of {size}");
    }
    let first = api.get("/tenants?pageSize=2").json();
    api.delete("/tenants/tenant-2?confirm=tenant-2");
    let next = api.get(&format!("/tenants?pageSize=2&after={}", first["next"].as_str().unwrap())).json();
    assert_eq!(
        texts(next["tenants"].as_array().unwrap(), "id"),
        ["tenant-3", "tenant-4"],
        "a deletion does not move the next page"
    );
    assert_eq!(api.get("/tenants").json()["next"], json!(null));
}

#[test]
fn invalid_paging_parameters_are_refused() {
    let api = OperatorApi(shared_server());
    for list in ["/tenants", "/users", "/clients", "/subscriptions"] {
        for size in ["0", "1001", "-1", "many", ""] {
            let refused = api.get(&format!("{list}?pageSize={size}"));
            assert!(refused.problem(400).contains("must be a whole number from 1 to 1000"), "{refused:?}");
            assert_eq!(refused.problem_field(), "pageSize");
        }
        for cursor in ["", "nonsense", "1", "1.", "01.a", "1.%00", "99999999999999999999.a"] {
            let refused = api.get(&format!("{list}?after={cursor}"));
            assert!(refused.problem(400).contains("is not the next of an earlier page"), "{refused:?}");
            assert_eq!(refused.problem_field(), "after");
        }
        let refused = api.get(&format!("{list}?pagesize=1"));
        assert!(refused.problem(400).contains("did you mean \"pageSize\"?"), "{refused:?}");
        assert_eq!(refused.problem_code(), "unknown_parameter");
    }
}

#[test]
fn duplicate_and_unknown_tenants_are_refused() {
    let api = OperatorApi(shared_server());
    api.create("/tenants", &json!({"name": "Una", "id": "only-once"}));
    let again = api.post("/tenants", &json!({"name": "Otra", "id": "only-once"}));
    assert_eq!(again.problem(409), "There is already a tenant \"only-once\".");
    assert_eq!(again.problem_code(), "exists");
    for response in [
        api.get("/tenants/nobody"),
        api.patch("/tenants/nobody", &json!({"standing": "disabled"})),
        api.patch("/tenants/nobody", &json!({})),
        api.delete("/tenants/nobody?confirm=nobody"),
    ] {
        assert_eq!(response.problem(404), "There is no tenant \"nobody\".");
        assert_eq!(response.problem_code(), "not_found");
    }
    for odd in ["%00", "a%00b", "%F0%9F%9A%AA", &"x".repeat(3000)] {
        api.get(&format!("/tenants/{odd}")).problem(404);
    }
    api.get("/tenants/%ff").problem(400);
}

#[test]
fn disabling_a_tenant_refuses_its_tokens_until_it_is_enabled() {
    let fixture = SignInFixture::new();
    let api = OperatorApi(fixture.server);
    let tokens = fixture.tokens();
    let path = format!("/tenants/{}", fixture.tenants[0]);
    let disabled = api.patch(&path, &json!({"standing": "disabled"}));
    assert_eq!((disabled.status, &disabled.json()["standing"]), (200, &json!("disabled")));
    assert_eq!(fixture.refresh(tokens.refresh()).status, 400);
    assert_within_seconds(3, "the token to be refused", || fixture.userinfo(tokens.access()).status == 401);
    assert_eq!(api.patch(&path, &json!({})).json()["standing"], "disabled", "an empty patch changes nothing");
    assert_eq!(api.patch(&path, &json!({"standing": "active"})).json()["standing"], "active");
    assert_within_seconds(3, "the token to be accepted", || fixture.userinfo(tokens.access()).status == 200);
}

#[test]
fn erasing_a_tenant_requires_confirmation() {
    let server = shared_server();
    let api = OperatorApi(server);
    let create_tenant = || api.create("/tenants", &json!({"name": "Efímera", "id": "to-be-erased"}));
    create_tenant();
    let ingest = server.ingest_client("to-be-erased");
    assert_eq!(ingest.send_lines(&[bank("1", "a"), bank("2", "b")]).counts(), (2, 0));
    let missing = api.delete("/tenants/to-be-erased");
    assert_eq!(missing.problem(400), "To erase this tenant for good, send ?confirm=to-be-erased.");
    assert_eq!(missing.problem_field(), "confirm");
    let wrong = api.delete("/tenants/to-be-erased?confirm=another");
    assert_eq!(wrong.problem(409), "To erase this tenant for good, send ?confirm=to-be-erased.");
    assert_eq!(wrong.problem_code(), "not_confirmed");
    assert_eq!(ingest.head(), 2, "the tenant still exists");
    let gone = api.delete("/tenants/to-be-erased?confirm=to-be-erased");
    assert_eq!((gone.status, gone.text()), (204, ""));
    ingest.request().send().problem(404);
    api.get("/tenants/to-be-erased").problem(404);
    api.delete("/tenants/to-be-erased?confirm=to-be-erased").problem(404);
    create_tenant();
    assert_eq!(ingest.head(), 0, "a recreated tenant starts empty");
}
