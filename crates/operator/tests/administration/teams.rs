//! Teams, developers and requests: the operator's API, and what developers do in their teams.

use axum::http::Method;
use domain::subscription::{Product, Products};
use domain::{AccountId, ClientId, OperatorRole, Realm, Ticks};
use operator::admin::{Admin, AdminError, ApprovalSettings, Authority, DeveloperAdmin};
use serde_json::{Value, json};
use store::{
    Account, Actor, AuditContext, AuditQuery, Consent, FIRST_REVISION, ListQuery, Pkce, RequestKind,
    RequestState, Status, TeamRole,
};

use super::fixture::Api;

async fn add_developer(api: &Api, name: &str) -> AccountId {
    let account = Account {
        id: AccountId::new(name),
        realm: Realm::Developers,
        email: format!("{name}@dev.example"),
        given_name: "Diego".into(),
        family_name: String::new(),
        lang: "es".into(),
        password_hash: String::new(),
        status: Status::Active,
        role: None,
        created_at: Ticks(638_000_000_000_000_000),
        updated_at: Ticks(638_000_000_000_000_000),
        revision: FIRST_REVISION,
    };
    api.store.add_account(&account, &[], &AuditContext::default()).await.unwrap();
    account.id
}

/// Two teams: panel with its owner ana and its member leo, and other with its owner eva.
pub(super) async fn teams() -> Api {
    let api = Api::new();
    for (team, members) in [("panel", &["ana", "leo"][..]), ("other", &["eva"])] {
        api.add("/teams", &json!({"name": team, "id": team})).await;
        for name in members {
            add_developer(&api, name).await;
            let role = if *name == "leo" { "member" } else { "owner" };
            let member = json!({"developer": format!("{name}@dev.example"), "role": role});
            api.add(&format!("/teams/{team}/members"), &member).await;
        }
    }
    api
}

pub(super) fn developer(api: &Api, name: &str) -> DeveloperAdmin {
    let context = AuditContext::default();
    DeveloperAdmin::new(&api.admin, AccountId::new(name), &context, ApprovalSettings::default())
}

/// An operator who may do everything.
pub(super) fn full_admin(api: &Api) -> Admin {
    let context = AuditContext { actor: Actor::Operator, ..AuditContext::default() };
    api.admin.acting(Authority::admin(context))
}

fn admin(api: &Api) -> Admin {
    let context = AuditContext { actor: Actor::Operator, ..AuditContext::default() };
    api.admin.acting(Authority::new(context, OperatorRole::Support))
}

fn new_client() -> RequestKind {
    RequestKind::Client {
        name: "Panel de ventas".into(),
        kind: domain::ClientKind::Web,
        redirect_uris: vec!["https://app.example/callback".into()],
        products: Products::from_iter([Product::Accounting]),
        pkce: Pkce::Required,
        is_sandbox: false,
    }
}

fn subscription(is_sandbox: bool) -> RequestKind {
    RequestKind::Subscription { name: "Clave".into(), product: Product::Payroll, is_sandbox }
}

#[track_caller]
fn code(reply: &(u16, Value)) -> (u16, &str) {
    (reply.0, reply.1["errors"][0]["code"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn teams_and_members_over_http() {
    let api = teams().await;
    assert_eq!(api.get("/teams").await["teams"][1]["id"], "other");
    let team = api.get("/teams/panel").await;
    assert_eq!(
        (&team["name"], &team["standing"], &team["revision"]),
        (&json!("panel"), &json!("active"), &json!(1))
    );
    let members = api.get("/teams/panel/members").await["members"].clone();
    assert_eq!((&members[0]["email"], &members[0]["role"]), (&json!("ana@dev.example"), &json!("owner")));
    assert_eq!(members.as_array().unwrap().len(), 2);
    let (status, renamed) = api.patch("/teams/panel", &json!({"name": "Ventas", "revision": 1})).await;
    assert_eq!((status, &renamed["name"]), (200, &json!("Ventas")));
    let stale = api.patch("/teams/panel", &json!({"standing": "disabled", "revision": 1})).await;
    assert_eq!(code(&stale), (409, "revision_conflict"));

    let leave =
        async |name: &str| api.call(Method::DELETE, &format!("/teams/panel/members/{name}"), None).await;
    assert_eq!(code(&leave("ana").await), (409, "last_owner"));
    let role = async |name: &str, role: &str| {
        api.patch(&format!("/teams/panel/members/{name}@dev.example"), &json!({"role": role})).await
    };
    assert_eq!(code(&role("ana", "member").await), (409, "last_owner"));
    assert_eq!(role("leo", "owner").await.0, 200);
    assert_eq!(leave("ana").await.0, 204);
    assert_eq!(code(&leave("ana").await), (404, "not_found"));
    for (path, body, expected) in [
        ("/teams", json!({"name": "x", "id": "panel"}), (409, "exists")),
        ("/teams/none/members", json!({"developer": "ana@dev.example"}), (404, "not_found")),
        ("/teams/panel/members", json!({"developer": "nobody@dev.example"}), (404, "not_found")),
        ("/teams/panel/members", json!({"developer": "leo@dev.example"}), (409, "exists")),
        (
            "/clients",
            json!({"name": "x", "redirectUris": ["https://a.example"], "team": "none"}),
            (404, "not_found"),
        ),
        ("/subscriptions", json!({"name": "x", "products": ["payroll"], "team": "none"}), (404, "not_found")),
    ] {
        let reply = api.call(Method::POST, path, Some(&body)).await;
        assert_eq!(code(&reply), expected, "{path} {body}");
    }
}

#[tokio::test]
async fn developers_over_http() {
    let api = teams().await;
    let listed = api.get("/developers").await;
    assert_eq!(listed["developers"].as_array().unwrap().len(), 3);
    assert_eq!(listed["developers"][0].get("teams"), None);
    let shown = api.get("/developers/leo@dev.example").await;
    assert_eq!(shown["teams"], json!([{"id": "panel", "name": "panel", "role": "member"}]));
    let change = json!({"givenName": "Leo", "lang": "en", "standing": "disabled", "revision": 1});
    let (status, changed) = api.patch("/developers/leo", &change).await;
    assert_eq!(
        (status, &changed["givenName"], &changed["standing"]),
        (200, &json!("Leo"), &json!("disabled"))
    );
    assert_eq!(code(&api.patch("/developers/leo", &change).await), (409, "revision_conflict"));
    assert_eq!(code(&api.patch("/developers/nobody", &change).await), (404, "not_found"));
    // A disabled developer can do nothing in the team.
    let refused = developer(&api, "leo").ask("panel", new_client(), "").await;
    assert!(matches!(refused, Err(AdminError::NotFound(_))), "{refused:?}");
}

#[tokio::test]
async fn clients_and_subscriptions_show_and_change_their_team() {
    let api = teams().await;
    let client = json!({"name": "x", "id": "erp", "redirectUris": ["https://a.example"], "team": "panel"});
    let added = api.add("/clients", &client).await["client"].clone();
    assert_eq!((&added["team"], &added["sandbox"]), (&json!("panel"), &json!(false)));
    let new = json!({"name": "x", "products": ["payroll"], "team": "panel"});
    let id = api.add("/subscriptions", &new).await["subscription"]["id"].as_str().unwrap().to_owned();
    for path in ["/clients/erp".to_owned(), format!("/subscriptions/{id}")] {
        assert_eq!(api.get(&path).await["team"], "panel");
        assert_eq!(code(&api.patch(&path, &json!({"team": "none"})).await), (404, "not_found"));
        assert_eq!(api.patch(&path, &json!({"team": "other"})).await.1["team"], "other");
        assert_eq!(api.patch(&path, &json!({"sandbox": true})).await.1["team"], "other");
        let (_, left) = api.patch(&path, &json!({"team": null, "sandbox": false})).await;
        assert_eq!((&left["team"], &left["sandbox"]), (&Value::Null, &json!(false)));
    }
}

#[tokio::test]
async fn request_is_approved_refused_or_withdrawn_once() {
    let api = teams().await;
    let leo = developer(&api, "leo");
    let ask = async || leo.ask("panel", new_client(), "por favor").await.unwrap().id.to_string();
    let (approved, refused, withdrawn) = (ask().await, ask().await, ask().await);
    let pending = api.get("/requests?state=pending&team=panel").await;
    assert_eq!(pending["requests"].as_array().unwrap().len(), 3);
    assert_eq!(pending["requests"][0]["asked"]["kind"], "client");
    assert_eq!(
        (&pending["requests"][0]["note"], &pending["requests"][0]["askedBy"]),
        (&json!("por favor"), &json!("leo"))
    );

    let post = async |id: &str, step: &str, body: &Value| {
        api.call(Method::POST, &format!("/requests/{id}/{step}"), Some(body)).await
    };
    let (status, request) = post(&approved, "approve", &json!({"revision": 1})).await;
    assert_eq!(
        (status, &request["state"], &request["decidedBy"]),
        (200, &json!("approved"), &json!("operator"))
    );
    let client = api.get(&format!("/clients/{}", request["result"].as_str().unwrap())).await;
    assert_eq!(
        (&client["team"], &client["consent"], &client["products"]),
        (&json!("panel"), &json!(true), &json!(["accounting"]))
    );
    assert_eq!(code(&post(&refused, "refuse", &json!({"reason": " "})).await).0, 400);
    assert_eq!(post(&refused, "refuse", &json!({"reason": "sin contrato"})).await.0, 200);
    assert_eq!(leo.request(&refused).await.unwrap().reason, "sin contrato", "the team sees why");
    assert_eq!(leo.withdraw(&withdrawn).await.unwrap().state, RequestState::Withdrawn);
    let states = [(&approved, "approved"), (&refused, "refused"), (&withdrawn, "withdrawn")];
    for (id, state) in states {
        for (step, body) in
            [("approve", json!({})), ("refuse", json!({"reason": "x"})), ("withdraw", Value::Null)]
        {
            let again = post(id, step, &body).await;
            assert_eq!(code(&again), (409, "not_pending"), "{step} of {state}");
        }
        assert!(leo.withdraw(id).await.is_err());
        assert_eq!(api.get(&format!("/requests/{id}")).await["state"], state);
    }
    assert_eq!(code(&post("none", "approve", &json!({})).await), (404, "not_found"));
    // Consent may be waived.
    let waived = ask().await;
    let (_, request) = post(&waived, "approve", &json!({"waiveConsent": true})).await;
    let client = api.store.find_client(&ClientId::new(request["result"].as_str().unwrap())).await.unwrap();
    assert_eq!(client.unwrap().consent, Consent::None);
}

#[tokio::test]
async fn operator_asks_for_a_developer() {
    let api = teams().await;
    let ask = |team: &str, member: &str, asked: Value| json!({"team": team, "developer": "leo@dev.example", member: asked});
    let key = json!({"name": "Clave", "product": "payroll"});
    let added = api.add("/requests", &ask("panel", "subscription", key.clone())).await;
    assert_eq!((&added["state"], &added["askedBy"]), (&json!("pending"), &json!("leo")));
    let (status, request) =
        api.call(Method::POST, &format!("/requests/{}/approve", added["id"].as_str().unwrap()), None).await;
    assert_eq!(status, 200, "{request}");
    let made = api.get(&format!("/subscriptions/{}", request["result"].as_str().unwrap())).await;
    assert_eq!((&made["team"], &made["products"]), (&json!("panel"), &json!(["payroll"])));
    let both = json!({"team": "panel", "developer": "leo@dev.example", "subscription": key,
        "redirectUri": {"client": "x", "uri": "https://a.example"}});
    for (body, status) in [
        (ask("other", "subscription", key.clone()), 404),
        (both, 400),
        (json!({"team": "panel", "developer": "leo@dev.example"}), 400),
        (ask("panel", "redirectUri", json!({"client": "none", "uri": "https://a.example"})), 404),
        (ask("panel", "redirectUri", json!({"client": "none", "uri": "http://a.example"})), 400),
    ] {
        assert_eq!(api.call(Method::POST, "/requests", Some(&body)).await.0, status, "{body}");
    }
}

#[tokio::test]
async fn developer_of_another_team_sees_nothing() {
    let api = teams().await;
    let request = developer(&api, "leo").ask("panel", new_client(), "").await.unwrap();
    let (eva, leo) = (developer(&api, "eva"), AccountId::new("leo"));
    let not_found = |what: &str, result: Result<(), AdminError>| {
        assert!(matches!(result, Err(AdminError::NotFound(_))), "{what}: {result:?}");
    };
    not_found("team", eva.team("panel").await.map(drop));
    not_found("members", eva.members("panel").await.map(drop));
    not_found("rename", eva.rename_team("panel", "x").await.map(drop));
    not_found("set_role", eva.set_role("panel", &leo, TeamRole::Owner).await.map(drop));
    not_found("remove_member", eva.remove_member("panel", &leo).await.map(drop));
    not_found("ask", eva.ask("panel", new_client(), "").await.map(drop));
    not_found("requests", eva.requests("panel", None, &ListQuery::default()).await.map(drop));
    not_found("request", eva.request(request.id.as_str()).await.map(drop));
    not_found("withdraw", eva.withdraw(request.id.as_str()).await.map(drop));
    let names: Vec<String> = eva.teams().await.unwrap().into_iter().map(|(team, _)| team.name).collect();
    assert_eq!(names, ["other"]);
    assert_eq!(api.get("/requests").await["requests"][0]["state"], "pending");
    // Nor can she ask for a redirect address of a client that is not her team's.
    let client = json!({"name": "x", "id": "erp", "redirectUris": ["https://a.example"], "team": "panel"});
    api.add("/clients", &client).await;
    let uri = RequestKind::RedirectUri { client: ClientId::new("erp"), uri: "https://eva.example".into() };
    not_found("redirect address", eva.ask("other", uri, "").await.map(drop));
}

#[tokio::test]
async fn only_owners_change_the_team() {
    let api = teams().await;
    let (ana, leo) = (developer(&api, "ana"), developer(&api, "leo"));
    let (ana_id, leo_id) = (AccountId::new("ana"), AccountId::new("leo"));
    let forbidden = |result: Result<(), AdminError>| {
        assert!(matches!(result, Err(AdminError::Forbidden(_))), "{result:?}");
    };
    forbidden(leo.rename_team("panel", "x").await.map(drop));
    forbidden(leo.set_role("panel", &leo_id, TeamRole::Owner).await.map(drop));
    forbidden(leo.remove_member("panel", &ana_id).await.map(drop));
    assert_eq!(ana.rename_team("panel", " Ventas ").await.unwrap().name, "Ventas");
    assert_eq!(leo.team("panel").await.unwrap().name, "Ventas");
    assert!(matches!(
        ana.remove_member("panel", &ana_id).await,
        Err(AdminError::Conflict { code: domain::ErrorCode::LastOwner, .. })
    ));
    assert_eq!(ana.set_role("panel", &leo_id, TeamRole::Owner).await.unwrap().role, TeamRole::Owner);
    assert_eq!(ana.members("panel").await.unwrap().len(), 2);
    // Everybody may leave.
    assert!(ana.remove_member("panel", &ana_id).await.is_ok());
    assert!(ana.team("panel").await.is_err());
    let query = AuditQuery { rows_max: 100, ..AuditQuery::default() };
    let actors: Vec<(String, &str)> = api
        .store
        .audit(&query)
        .await
        .unwrap()
        .iter()
        .map(|record| (record.entry.context.actor.to_string(), record.entry.kind.as_str()))
        .filter(|(actor, _)| actor == "developer:ana")
        .collect();
    let kinds: Vec<&str> = actors.iter().rev().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds.len(), 3, "{kinds:?}");
    for kind in ["team_changed", "team_member_changed", "team_member_removed"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[tokio::test]
async fn automatic_approval_opens_the_sandbox_alone() {
    let api = teams().await;
    let approval = ApprovalSettings { automatic: Products::from_iter([Product::Payroll]) };
    let leo = DeveloperAdmin::new(&api.admin, AccountId::new("leo"), &AuditContext::default(), approval);
    let real = leo.ask("panel", subscription(false), "").await.unwrap();
    assert_eq!(real.state, RequestState::Pending);
    let sandbox = leo.ask("panel", subscription(true), "").await.unwrap();
    assert_eq!((sandbox.state, sandbox.decided_by.as_deref()), (RequestState::Approved, Some("service")));
    let made = api.get(&format!("/subscriptions/{}", sandbox.result.unwrap())).await;
    assert_eq!((&made["sandbox"], &made["team"]), (&json!(true), &json!("panel")));
    let by_default = developer(&api, "leo").ask("panel", subscription(true), "").await.unwrap();
    assert_eq!(by_default.state, RequestState::Pending);
}

#[tokio::test]
async fn what_is_asked_for_is_checked() {
    let api = teams().await;
    let leo = developer(&api, "leo");
    let client = |name: &str, uris: &[&str], products: &[Product]| RequestKind::Client {
        name: name.into(),
        kind: domain::ClientKind::Web,
        redirect_uris: uris.iter().map(|&uri| uri.to_owned()).collect(),
        products: products.iter().copied().collect(),
        pkce: Pkce::IfSent,
        is_sandbox: false,
    };
    let good = "https://a.example/cb";
    for (kind, note) in [
        (client("", &[good], &Product::ALL), String::new()),
        (client("x", &[], &Product::ALL), String::new()),
        (client("x", &["http://a.example"], &Product::ALL), String::new()),
        (client("x", &[good; 21], &Product::ALL), String::new()),
        (client("x", &[good], &[]), String::new()),
        (client("x", &[good], &Product::ALL), "x".repeat(1001)),
        (client("x", &[good], &Product::ALL), "x\0".into()),
    ] {
        let refused = leo.ask("panel", kind.clone(), &note).await;
        assert!(matches!(refused, Err(AdminError::Invalid(_))), "{kind:?}: {refused:?}");
    }
    for _ in 0..store::PENDING_REQUESTS_MAX {
        leo.ask("panel", new_client(), "").await.unwrap();
    }
    let more = leo.ask("panel", new_client(), "").await;
    assert!(
        matches!(more, Err(AdminError::Conflict { code: domain::ErrorCode::TooManyRequests, .. })),
        "{more:?}"
    );
    let viewer = api.admin.acting(Authority::new(AuditContext::default(), OperatorRole::Viewer));
    let id = leo.requests("panel", None, &ListQuery::default()).await.unwrap().rows[0].id.to_string();
    assert!(matches!(viewer.approve_request(&id, false, None).await, Err(AdminError::Forbidden(_))));
    assert!(matches!(viewer.refuse_request(&id, "x", None).await, Err(AdminError::Forbidden(_))));
    assert!(admin(&api).refuse_request(&id, "x", None).await.is_ok(), "support decides on requests");
}
