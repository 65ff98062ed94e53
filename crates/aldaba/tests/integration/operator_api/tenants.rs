//! Tenants over HTTP.

use serde_json::json;

use crate::harness::{
    Installation, OperatorApi, ServeProcess, SignInFixture, assert_within_seconds, bank, is_guid, ndjson,
    shared_server, texts,
};

#[test]
fn a_tenant_is_made_shown_and_takes_changes() {
    let api = OperatorApi(shared_server());
    let response =
        api.post("/tenants", &json!({"name": " Asesoría Peñalver ", "id": "over-http", "shortCode": "4101"}));
    assert_eq!((response.status, response.header("location")), (201, "/operator/v1/tenants/over-http"));
    let made = response.json();
    let created = made["createdAt"].as_str().unwrap();
    assert_eq!(
        made,
        json!({"id": "over-http", "name": "Asesoría Peñalver", "shortCode": "4101", "standing": "active", "createdAt": created, "revision": 1})
    );
    for path in ["/tenants/over-http", "/tenants/over-http/"] {
        assert_eq!(api.get(path).json(), made, "{path}");
    }
    let answer = shared_server().ingest_client("over-http").send(ndjson(&[bank("1", "a")]));
    assert_eq!(answer.counts(), (1, 0));
}

#[test]
fn an_id_and_a_code_are_made_where_none_is_given() {
    let made = OperatorApi(shared_server()).create("/tenants", &json!({"name": "Bodegas Güell"}));
    let id = made["id"].as_str().unwrap();
    assert!(is_guid(id));
    assert_eq!(made["shortCode"], id.split('-').next().unwrap());
}

#[test]
fn pages_leave_nothing_out_and_nothing_twice() {
    let server = ServeProcess::start(Installation::new(), &[]);
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
        "one that is gone"
    );
    assert_eq!(api.get("/tenants").json()["next"], json!(null));
}

#[test]
fn a_wrong_page_is_told() {
    let api = OperatorApi(shared_server());
    for list in ["/tenants", "/users", "/clients", "/subscriptions"] {
        for size in ["0", "1001", "-1", "many", ""] {
            let told = api.get(&format!("{list}?pageSize={size}"));
            assert!(told.problem(400).contains("must be a whole number from 1 to 1000"), "{told:?}");
            assert_eq!(told.problem_field(), "pageSize");
        }
        for mark in ["", "nonsense", "1", "1.", "01.a", "1.%00", "99999999999999999999.a"] {
            let told = api.get(&format!("{list}?after={mark}"));
            assert!(told.problem(400).contains("is not the next of an earlier page"), "{told:?}");
            assert_eq!(told.problem_field(), "after");
        }
        let told = api.get(&format!("{list}?pagesize=1"));
        assert!(told.problem(400).contains("did you mean \"pageSize\"?"), "{told:?}");
        assert_eq!(told.problem_code(), "unknown_parameter");
    }
}

#[test]
fn what_is_there_already_or_is_not_there_is_told() {
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
fn a_disabled_tenant_refuses_and_an_enabled_one_goes_on() {
    let fixture = SignInFixture::new();
    let api = OperatorApi(fixture.server);
    let tokens = fixture.tokens();
    let path = format!("/tenants/{}", fixture.tenants[0]);
    let disabled = api.patch(&path, &json!({"standing": "disabled"}));
    assert_eq!((disabled.status, &disabled.json()["standing"]), (200, &json!("disabled")));
    assert_eq!(fixture.refresh(tokens.refresh()).status, 400);
    assert_within_seconds(3, "the token to be refused", || fixture.userinfo(tokens.access()).status == 401);
    assert_eq!(api.patch(&path, &json!({})).json()["standing"], "disabled", "nothing asked, nothing changed");
    assert_eq!(api.patch(&path, &json!({"standing": "active"})).json()["standing"], "active");
    assert_within_seconds(3, "the token to be good", || fixture.userinfo(tokens.access()).status == 200);
}

#[test]
fn a_tenant_is_erased_only_when_it_is_confirmed() {
    let server = shared_server();
    let api = OperatorApi(server);
    let make = || api.create("/tenants", &json!({"name": "Efímera", "id": "to-be-erased"}));
    make();
    let ingest = server.ingest_client("to-be-erased");
    assert_eq!(ingest.send_lines(&[bank("1", "a"), bank("2", "b")]).counts(), (2, 0));
    let missing = api.delete("/tenants/to-be-erased");
    assert_eq!(missing.problem(400), "To erase this tenant for good, send ?confirm=to-be-erased.");
    assert_eq!(missing.problem_field(), "confirm");
    let wrong = api.delete("/tenants/to-be-erased?confirm=another");
    assert_eq!(wrong.problem(409), "To erase this tenant for good, send ?confirm=to-be-erased.");
    assert_eq!(wrong.problem_code(), "not_confirmed");
    assert_eq!(ingest.head(), 2, "it is still there");
    let gone = api.delete("/tenants/to-be-erased?confirm=to-be-erased");
    assert_eq!((gone.status, gone.text()), (204, ""));
    ingest.request().send().problem(404);
    api.get("/tenants/to-be-erased").problem(404);
    api.delete("/tenants/to-be-erased?confirm=to-be-erased").problem(404);
    make();
    assert_eq!(ingest.head(), 0, "one of the same name starts anew");
}
