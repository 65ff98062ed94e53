//! What the operator closes over HTTP is closed for the very next call, and what is opened is open.

use serde_json::{Value, json};

use crate::harness::{Api, OperatorApi, desk};

const COMPANIES: &str = "/accounting/api/companies";

fn status(api: &Api<'_>) -> u16 {
    api.get(COMPANIES).send().status
}

/// Somebody who has just been let in, twice, so that everything about them is known.
fn somebody() -> Api<'static> {
    let api = Api::new();
    assert_eq!([status(&api), status(&api)], [200, 200]);
    api
}

#[track_caller]
fn set(path: &str, standing: &str) {
    let reply = OperatorApi(desk()).patch(path, &json!({ "standing": standing }));
    assert_eq!((reply.status, &reply.json()["standing"]), (200, &Value::from(standing)), "{reply:?}");
}

#[track_caller]
fn closes_and_opens(api: &Api<'_>, path: &str) {
    for _ in 0..2 {
        set(path, "disabled");
        assert_eq!(status(api), 401, "{path}");
        set(path, "active");
        assert_eq!(status(api), 200, "{path}");
    }
}

#[test]
fn a_disabled_user() {
    let api = somebody();
    closes_and_opens(&api, &format!("/users/{}", api.office.email));
}

#[test]
fn a_disabled_client() {
    let api = somebody();
    closes_and_opens(&api, &format!("/clients/{}", api.office.app.id));
}

#[test]
fn a_disabled_tenant() {
    let api = somebody();
    closes_and_opens(&api, &format!("/tenants/{}", api.office.tenants[0]));
}

#[test]
fn a_user_who_is_taken_out_of_the_tenant() {
    let (api, other) = (somebody(), somebody());
    let place = format!("/users/{}/tenants/{}", api.office.email, api.office.tenants[0]);
    assert_eq!(OperatorApi(desk()).delete(&place).status, 204);
    assert_eq!([status(&api), status(&other)], [401, 200], "nobody else is meant");
}

#[test]
fn an_erased_tenant() {
    let api = somebody();
    let tenant = &api.office.tenants[0];
    assert_eq!(OperatorApi(desk()).delete(&format!("/tenants/{tenant}?confirm={tenant}")).status, 204);
    assert_eq!(status(&api), 401);
}
