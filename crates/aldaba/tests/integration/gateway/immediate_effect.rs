//! What the operator closes over HTTP is closed for the very next call, and what is opened is open.

use serde_json::{Value, json};

use crate::harness::{ApiFixture, OperatorApi, unlimited_server};

const COMPANIES: &str = "/accounting/api/companies";

fn status(api: &ApiFixture<'_>) -> u16 {
    api.get(COMPANIES).send().status
}

/// Somebody who has just been let in, twice, so that everything about them is known.
fn somebody() -> ApiFixture<'static> {
    let api = ApiFixture::new();
    assert_eq!([status(&api), status(&api)], [200, 200]);
    api
}

#[track_caller]
fn set(path: &str, standing: &str) {
    let response = OperatorApi(unlimited_server()).patch(path, &json!({ "standing": standing }));
    assert_eq!(
        (response.status, &response.json()["standing"]),
        (200, &Value::from(standing)),
        "{response:?}"
    );
}

#[track_caller]
fn closes_and_opens(api: &ApiFixture<'_>, path: &str) {
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
    closes_and_opens(&api, &format!("/users/{}", api.sign_in.email));
}

#[test]
fn a_disabled_client() {
    let api = somebody();
    closes_and_opens(&api, &format!("/clients/{}", api.sign_in.app.id));
}

#[test]
fn a_disabled_tenant() {
    let api = somebody();
    closes_and_opens(&api, &format!("/tenants/{}", api.sign_in.tenants[0]));
}

#[test]
fn a_user_who_is_taken_out_of_the_tenant() {
    let (api, other) = (somebody(), somebody());
    let place = format!("/users/{}/tenants/{}", api.sign_in.email, api.sign_in.tenants[0]);
    assert_eq!(OperatorApi(unlimited_server()).delete(&place).status, 204);
    assert_eq!([status(&api), status(&other)], [401, 200], "nobody else is meant");
}

#[test]
fn an_erased_tenant() {
    let api = somebody();
    let tenant = &api.sign_in.tenants[0];
    assert_eq!(
        OperatorApi(unlimited_server()).delete(&format!("/tenants/{tenant}?confirm={tenant}")).status,
        204
    );
    assert_eq!(status(&api), 401);
}
