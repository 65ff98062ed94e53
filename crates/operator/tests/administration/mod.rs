//! Administration over HTTP: updates by revision, users with their memberships, and lists in pages.

mod account_access;
mod developer;
mod fixture;
mod invitations;
mod roles;
mod sandboxes;
mod teams;

use axum::http::Method;
use domain::AccountId;
use fixture::Api;
use serde_json::{Value, json};
use store::ListQuery;

/// Two operators read the same object; the second one to write it is refused and changes nothing.
async fn check_lost_update(api: &Api, path: &str, first: &Value, second: &Value) {
    let with_revision = |change: &Value, revision: &Value| {
        let mut body = change.clone();
        body["revision"] = revision.clone();
        body
    };
    let read = api.get(path).await;
    assert_eq!(read["revision"], 1, "{path}");
    let (status, changed) = api.patch(path, &with_revision(first, &read["revision"])).await;
    assert_eq!((status, &changed["revision"]), (200, &json!(2)), "{path}: {changed}");

    let (status, refused) = api.patch(path, &with_revision(second, &read["revision"])).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (409, &json!("revision_conflict")), "{path}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("read it again and repeat"), "{message}");
    assert_eq!(api.get(path).await, changed, "nothing changed");
    // A change of nothing is compared too.
    assert_eq!(api.patch(path, &json!({"revision": 1})).await.0, 409);
    assert_eq!(api.patch(path, &json!({"revision": 2})).await, (200, changed.clone()));
    assert_eq!(api.patch(path, &json!({})).await, (200, changed), "an empty change is no update");

    // Read again and repeated, it succeeds; so does a change without a revision.
    let (status, changed) = api.patch(path, &with_revision(second, &json!(2))).await;
    assert_eq!((status, &changed["revision"]), (200, &json!(3)), "{path}: {changed}");
    let (status, changed) = api.patch(path, first).await;
    assert_eq!((status, &changed["revision"]), (200, &json!(4)), "{path}: {changed}");
}

#[tokio::test]
async fn stale_update_of_a_tenant_is_refused() {
    let api = Api::new();
    api.add("/tenants", &json!({"name": "Norte", "id": "norte"})).await;
    let (disable, enable) = (json!({"standing": "disabled"}), json!({"standing": "active"}));
    check_lost_update(&api, "/tenants/norte", &disable, &enable).await;
}

#[tokio::test]
async fn stale_update_of_a_user_is_refused() {
    let api = Api::new();
    let new = json!({"email": "maria@example.com", "givenName": "María", "password": "una bien larga"});
    let id = api.add("/users", &new).await["id"].as_str().unwrap().to_owned();
    let (password, disable) = (json!({"password": "otra larga"}), json!({"standing": "disabled"}));
    check_lost_update(&api, &format!("/users/{id}"), &disable, &password).await;
}

#[tokio::test]
async fn stale_update_of_a_client_is_refused() {
    let api = Api::new();
    let uris = json!(["https://app.example/callback"]);
    api.add("/clients", &json!({"name": "Panel", "id": "panel", "redirectUris": uris})).await;
    let (rename, require) = (json!({"name": "Ventas"}), json!({"pkce": "required", "consent": true}));
    check_lost_update(&api, "/clients/panel", &rename, &require).await;
    // A new secret is an update as well.
    assert_eq!(api.call(Method::POST, "/clients/panel/secret", None).await.0, 200);
    assert_eq!(api.get("/clients/panel").await["revision"], 5);
}

#[tokio::test]
async fn stale_update_of_a_subscription_is_refused() {
    let api = Api::new();
    let made = api.add("/subscriptions", &json!({"name": "Panel", "products": ["payroll"]})).await;
    let path = format!("/subscriptions/{}", made["subscription"]["id"].as_str().unwrap());
    let (suspend, quota) = (json!({"standing": "suspended"}), json!({"dailyQuota": 7}));
    check_lost_update(&api, &path, &suspend, &quota).await;
    assert_eq!(api.call(Method::POST, &format!("{path}/keys/primary"), None).await.0, 200);
    let (_, cancelled) = api.call(Method::POST, &format!("{path}/cancel"), None).await;
    assert_eq!(cancelled["revision"], 6);
    let (status, refused) = api.patch(&path, &json!({"standing": "active", "revision": 1})).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (409, &json!("cancelled")));
}

#[tokio::test]
async fn revision_is_a_positive_whole_number() {
    let api = Api::new();
    api.add("/tenants", &json!({"name": "Norte", "id": "norte"})).await;
    for wrong in [json!(0), json!(-1), json!(1.5), json!("1"), json!(9_007_199_254_740_992_u64)] {
        let (status, refused) = api.patch("/tenants/norte", &json!({"revision": wrong})).await;
        assert_eq!((status, &refused["errors"][0]["field"]), (400, &json!("revision")), "{refused}");
    }
    assert_eq!(api.patch("/tenants/norte", &json!({"revision": 1.0})).await.0, 200);
    assert_eq!(api.patch("/tenants/norte", &json!({"revision": null})).await.0, 200);
}

#[tokio::test]
async fn user_is_added_with_all_memberships_or_not_at_all() {
    let api = Api::new();
    for id in ["norte", "sur"] {
        api.add("/tenants", &json!({"name": id, "id": id})).await;
    }
    let new = |tenants: Value| json!({"email": "maria@example.com", "givenName": "María", "password": "una bien larga", "tenants": tenants});
    let (status, refused) = api.call(Method::POST, "/users", Some(&new(json!(["norte", "nowhere"])))).await;
    assert_eq!((status, &refused["errors"][0]["code"]), (404, &json!("not_found")), "{refused}");
    assert_eq!(api.get("/users").await["users"], json!([]));

    let user = api.add("/users", &new(json!(["sur", "norte", "sur"]))).await;
    let id = AccountId::new(user["id"].as_str().unwrap());
    let page = api.store.list_memberships(&id, &ListQuery::default()).await.unwrap();
    assert_eq!(page.rows.len(), 2);
}

#[tokio::test]
async fn lists_are_read_page_by_page() {
    let api = Api::new();
    let ids: Vec<String> = (1..=7).map(|number| format!("tenant-{number}")).collect();
    for id in &ids {
        api.add("/tenants", &json!({"name": id, "id": id})).await;
    }
    for size in [1, 2, 3, 7, 1000] {
        let (mut path, mut seen) = (format!("/tenants?pageSize={size}"), Vec::new());
        loop {
            let page = api.get(&path).await;
            let rows = page["tenants"].as_array().unwrap();
            assert!(rows.len() <= size);
            seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            path = format!("/tenants?pageSize={size}&after={next}");
        }
        assert_eq!(seen, ids, "pages of {size}");
    }
}
