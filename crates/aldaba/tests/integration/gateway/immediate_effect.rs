//! Status changes over the operator's API take effect on the very next call.

use serde_json::{Value, json};

use crate::harness::{ApiFixture, OperatorApi, unlimited_server};

const COMPANIES: &str = "/accounting/api/companies";

fn status(api: &ApiFixture<'_>) -> u16 {
    api.get(COMPANIES).send().status
}

/// A user after two successful calls, so that the caches hold their authorization.
fn warm_api() -> ApiFixture<'static> {
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
fn assert_disable_and_enable(api: &ApiFixture<'_>, path: &str) {
    for _ in 0..2 {
        set(path, "disabled");
        assert_eq!(status(api), 401, "{path}");
        set(path, "active");
        assert_eq!(status(api), 200, "{path}");
    }
}

#[test]
fn disabling_a_user_takes_effect_at_once() {
    let api = warm_api();
    assert_disable_and_enable(&api, &format!("/users/{}", api.sign_in.email));
}

#[test]
fn disabling_a_client_takes_effect_at_once() {
    let api = warm_api();
    assert_disable_and_enable(&api, &format!("/clients/{}", api.sign_in.app.id));
}

#[test]
fn disabling_a_tenant_takes_effect_at_once() {
    let api = warm_api();
    assert_disable_and_enable(&api, &format!("/tenants/{}", api.sign_in.tenants[0]));
}

#[test]
fn removing_a_user_from_a_tenant_takes_effect_at_once() {
    let (api, other) = (warm_api(), warm_api());
    let membership = format!("/users/{}/tenants/{}", api.sign_in.email, api.sign_in.tenants[0]);
    assert_eq!(OperatorApi(unlimited_server()).delete(&membership).status, 204);
    assert_eq!([status(&api), status(&other)], [401, 200], "other users are not affected");
}

#[test]
fn erasing_a_tenant_takes_effect_at_once() {
    let api = warm_api();
    let tenant = &api.sign_in.tenants[0];
    assert_eq!(
        OperatorApi(unlimited_server()).delete(&format!("/tenants/{tenant}?confirm={tenant}")).status,
        204
    );
    assert_eq!(status(&api), 401);
}
