//! Searches, links that set a new password, sessions, and changes of name, over HTTP.

use std::time::Duration;

use axum::http::Method;
use domain::{AccountId, Guid, Realm, Secret, TenantId};
use operator::audit::{AuditRequest, long_page, page};
use serde_json::{Value, json};
use store::{AuditContext, AuditEntry, AuditKind, Session};

use super::fixture::Api;

async fn add_user(api: &Api, email: &str, name: &str) -> String {
    let new = json!({"email": email, "givenName": name, "password": "una bien larga"});
    api.add("/users", &new).await["id"].as_str().unwrap().to_owned()
}

fn column(page: &Value, list: &str, member: &str) -> Vec<String> {
    let rows = page[list].as_array().unwrap();
    rows.iter().map(|row| row[member].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn lists_are_searched_and_filtered() {
    let api = Api::new();
    for (email, name) in [("ana@example.com", "Zoe"), ("leo@example.com", "Ana"), ("eva@example.com", "Eva")]
    {
        add_user(&api, email, name).await;
    }
    api.patch("/users/leo@example.com", &json!({"standing": "disabled"})).await;
    let emails = async |query: &str| column(&api.get(&format!("/users?{query}")).await, "users", "email");
    assert_eq!(emails("q=ana").await, ["ana@example.com", "leo@example.com"]);
    assert_eq!(emails("q=ANA&standing=disabled").await, ["leo@example.com"]);
    assert_eq!(emails("standing=active").await, ["ana@example.com", "eva@example.com"]);
    assert_eq!(emails("q=").await.len(), 3, "nothing to search for");
    assert!(emails("q=nobody").await.is_empty());
    let first = api.get("/users?q=ana&pageSize=1").await;
    let next = first["next"].as_str().unwrap();
    assert_eq!(emails(&format!("q=ana&pageSize=1&after={next}")).await, ["leo@example.com"]);
    assert_eq!(api.call(Method::GET, "/users?standing=unknown", None).await.0, 400);

    api.add("/tenants", &json!({"name": "Norte", "id": "n"})).await;
    assert_eq!(column(&api.get("/tenants?q=nor").await, "tenants", "id"), ["n"]);
    api.call(Method::PUT, "/users/eva@example.com/tenants/n", None).await;
    assert_eq!(column(&api.get("/tenants/n/users").await, "users", "email"), ["eva@example.com"]);
    for realm in ["developers", "operators"] {
        assert!(column(&api.get(&format!("/{realm}?q=a")).await, realm, "id").is_empty());
    }
    let invited = json!({"realm": "developers", "email": "ana@example.com"});
    api.add("/invitations", &invited).await;
    assert_eq!(column(&api.get("/invitations?q=AN").await, "invitations", "email"), ["ana@example.com"]);
    assert!(column(&api.get("/invitations?q=x").await, "invitations", "email").is_empty());
}

#[tokio::test]
async fn link_of_a_password_reset_is_shown_once_where_no_mail_is_sent() {
    for is_mailed in [false, true] {
        let api = Api::with_mail(is_mailed);
        let id = add_user(&api, "ana@example.com", "Ana").await;
        let (status, sent) = api.call(Method::POST, &format!("/users/{id}/reset-password"), None).await;
        assert_eq!((status, &sent["email"]), (200, &json!("ana@example.com")), "{sent}");
        let now = api.admin.clock.now();
        let mails = api.store.due_mails(now, Duration::from_secs(60), 10).await.unwrap();
        assert_eq!((mails.len() == 1, sent["link"].is_null()), (is_mailed, is_mailed), "{sent}");
        let link = match mails.first() {
            Some(mail) => mail.mail.content.text.reveal().to_owned(),
            None => sent["link"].as_str().unwrap().to_owned(),
        };
        assert!(link.starts_with("https://users.example/reset?token="), "{link}");
        let token = Secret::new(link.split_once("token=").unwrap().1);
        let found = api.store.find_password_reset(Realm::Users, &token, now).await.unwrap();
        assert_eq!(found.map(|account| account.id), Some(AccountId::new(&*id)));

        api.patch(&format!("/users/{id}"), &json!({"standing": "disabled"})).await;
        let (status, refused) = api.call(Method::POST, &format!("/users/{id}/reset-password"), None).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("enable the account first"), "{refused}");
        assert_eq!(api.call(Method::POST, "/developers/nobody/reset-password", None).await.0, 404);
    }
}

#[tokio::test]
async fn sessions_are_ended_and_names_changed() {
    let api = Api::new();
    let id = add_user(&api, "ana@example.com", "Ana").await;
    let (now, context) = (api.admin.clock.now(), AuditContext::default());
    for number in [1, 2] {
        let session = Session {
            id: Guid::from_bytes([number; 16]),
            realm: Realm::Users,
            account: AccountId::new(&*id),
            authenticated_at: now,
            methods: "pwd".into(),
            expires_at: now + Duration::from_secs(60),
            address: String::new(),
            user_agent: String::new(),
        };
        let entry = AuditEntry::new(AuditKind::SignedIn, now, &context);
        let cookie = Secret::new(number.to_string());
        api.store.begin_session(&cookie, &session, None, None, &entry).await.unwrap();
    }
    let end = async || api.call(Method::POST, &format!("/users/{id}/end-sessions"), None).await;
    assert_eq!(end().await, (200, json!({"ended": 2})));
    assert_eq!(end().await, (200, json!({"ended": 0})));
    assert_eq!(api.call(Method::POST, &format!("/operators/{id}/end-sessions"), None).await.0, 404);

    let (status, changed) =
        api.patch(&format!("/users/{id}"), &json!({"givenName": "Eva", "lang": "en"})).await;
    assert_eq!((status, &changed["givenName"], &changed["lang"]), (200, &json!("Eva"), &json!("en")));
    assert_eq!(api.patch(&format!("/users/{id}"), &json!({"givenName": " "})).await.0, 400);
}

/// A page looks at a bounded number of records: one without any that matches is not the last.
#[tokio::test]
async fn audit_continues_after_a_page_without_records() {
    let api = Api::new();
    let kinds =
        [AuditKind::TenantChanged, AuditKind::SignedIn, AuditKind::SignedIn, AuditKind::TenantChanged];
    for kind in kinds.into_iter().chain([AuditKind::SignedIn; 4]) {
        let entry = AuditEntry::new(kind, api.admin.clock.now(), &AuditContext::default());
        api.store.record(&entry.tenant(&TenantId::new("erased"))).await.unwrap();
    }
    let request = AuditRequest {
        tenant: Some("erased".into()),
        kind: Some("tenant_changed".into()),
        rows_max: Some(5),
        looks_max: Some(3),
        ..AuditRequest::default()
    };
    let first = page(&*api.store, &request).await.unwrap();
    assert_eq!((first.records.len(), first.next.is_some()), (0, true));
    let second = page(&*api.store, &AuditRequest { before: first.next, ..request.clone() }).await.unwrap();
    assert_eq!((second.records.len(), second.next.is_some()), (1, true));
    let all = long_page(&*api.store, request.clone(), 20).await.unwrap();
    assert_eq!((all.records.len(), all.next), (2, None));
    let short = long_page(&*api.store, request.clone(), 2).await.unwrap();
    assert_eq!((short.records.len(), short.next), (1, second.next));
    let full = long_page(&*api.store, AuditRequest { rows_max: Some(1), ..request }, 20).await.unwrap();
    assert_eq!(full.records[0].id, second.records[0].id);
    assert_eq!((full.records.len(), full.next.is_some()), (1, true));
}
