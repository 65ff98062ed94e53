//! Every mutating route of the operator's API leaves an audit entry: who, from where, in which request, what.

use domain::OperatorRole;
use serde_json::{Value, json};

use super::openapi::{document, operations};
use super::webhook_fixture::{Subscriber, fixture, operator};
use crate::harness::{CALLBACK, EmbeddedServer, HttpResponse, Installation, OperatorApi, PASSWORD, wait_for};

/// Routes that change something without an audit entry, and why.
const EXEMPT: [(&str, &str); 2] = [
    ("post /operator/v1/tenants/{tenant}/changes", "the change log is the audit of record changes"),
    ("post /operator/v1/teams/{team}/sandbox/events", "the change log is the audit of record changes"),
];
/// Kinds of entries that others accompany: an approval and what it adds, a sandbox and its parts, the end of an access and
/// its grants.
const ACCOMPANIED: [&str; 4] = ["request_approved", "sandbox_added", "sandbox_reset", "access_ended"];

/// The operations whose entry was found.
#[derive(Default)]
struct Audited(Vec<String>);

impl Audited {
    /// Expects success and one entry of this kind with the request's id.
    #[track_caller]
    fn check(&mut self, operation: &str, response: &HttpResponse, kind: &str) {
        self.check_at(&operator(), operation, response, kind);
    }

    /// The same at another server.
    #[track_caller]
    fn check_at(&mut self, api: &OperatorApi<'_>, operation: &str, response: &HttpResponse, kind: &str) {
        assert!((200..300).contains(&response.status), "{operation}: {response:?}");
        let request = response.header("x-request-id");
        let all = api.get("/audit?actor=operator&pageSize=1000").json();
        let of_request = |entry: &&Value| entry["requestId"] == request;
        let found: Vec<&Value> = all["records"].as_array().unwrap().iter().filter(of_request).collect();
        let found: Vec<&Value> =
            found.into_iter().filter(|one| !ACCOMPANIED.contains(&kind) || one["kind"] == kind).collect();
        let [entry] = found[..] else { panic!("{operation} left {} entries: {found:?}", found.len()) };
        assert_eq!((&entry["kind"], &entry["actor"]), (&json!(kind), &json!("operator")), "{entry}");
        assert_eq!(entry["address"], "127.0.0.1", "{entry}");
        let members = ["clientSecret", "primaryKey", "secondaryKey", "key", "secret", "link", "password"];
        let body = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
        let secrets = members.iter().filter_map(|member| body[*member].as_str()).chain([PASSWORD]);
        for secret in secrets {
            assert!(!entry.to_string().contains(secret), "{entry}");
        }
        self.0.push(operation.to_owned());
    }
}

fn directory(audited: &mut Audited) {
    let api = operator();
    let post = |path: &str, body: &Value| api.post(path, body);
    let tenant = json!({"name": "Auditada", "id": "audited"});
    audited.check("post /operator/v1/tenants", &post("/tenants", &tenant), "tenant_added");
    let disable = json!({"standing": "disabled"});
    let changed = api.patch("/tenants/audited", &disable);
    audited.check("patch /operator/v1/tenants/{tenant}", &changed, "tenant_changed");
    let user = json!({"email": "audited@example.com", "givenName": "Ana", "password": PASSWORD});
    audited.check("post /operator/v1/users", &post("/users", &user), "user_added");
    let changed = api.patch("/users/audited@example.com", &disable);
    audited.check("patch /operator/v1/users/{user}", &changed, "user_changed");
    let member = "/users/audited@example.com/tenants/audited";
    let path = "/operator/v1/users/{user}/tenants/{tenant}";
    audited.check(&format!("put {path}"), &api.put(member), "membership_added");
    let admin = api.patch(member, &json!({"admin": true}));
    audited.check(&format!("patch {path}"), &admin, "membership_changed");
    audited.check(&format!("delete {path}"), &api.delete(member), "membership_removed");
    let invitation = post("/invitations", &json!({"realm": "developers", "email": "audited@example.com"}));
    let id = invitation.json()["id"].as_str().unwrap().to_owned();
    audited.check("post /operator/v1/invitations", &invitation, "invitation_made");
    let path = "/operator/v1/invitations/{invitation}";
    let resent = post(&format!("/invitations/{id}/resend"), &json!({}));
    audited.check(&format!("post {path}/resend"), &resent, "invitation_resent");
    let revoked = api.delete(&format!("/invitations/{id}"));
    audited.check(&format!("delete {path}"), &revoked, "invitation_revoked");
    let erased = api.delete("/tenants/audited?confirm=audited");
    audited.check("delete /operator/v1/tenants/{tenant}", &erased, "tenant_erased");
}

fn clients_and_subscriptions(audited: &mut Audited) {
    let api = operator();
    let client = json!({"name": "Auditada", "id": "audited", "redirectUris": [CALLBACK]});
    audited.check("post /operator/v1/clients", &api.post("/clients", &client), "client_added");
    let renamed = api.patch("/clients/audited", &json!({"name": "Otra"}));
    audited.check("patch /operator/v1/clients/{client}", &renamed, "client_changed");
    let rotated = api.post("/clients/audited/secret", &json!({}));
    audited.check("post /operator/v1/clients/{client}/secret", &rotated, "client_secret_rotated");

    let added = api.post("/subscriptions", &json!({"name": "Auditada", "products": ["accounting"]}));
    let id = added.json()["subscription"]["id"].as_str().unwrap().to_owned();
    audited.check("post /operator/v1/subscriptions", &added, "subscription_added");
    let at = |tail: &str| format!("/subscriptions/{id}{tail}");
    let path = "/operator/v1/subscriptions/{subscription}";
    let changed = api.patch(&at(""), &json!({"dailyQuota": 5}));
    audited.check(&format!("patch {path}"), &changed, "subscription_changed");
    let rotated = api.post(&at("/keys/primary"), &json!({}));
    audited.check(&format!("post {path}/keys/{{slot}}"), &rotated, "subscription_key_rotated");
    let revealed = api.post(&at("/keys/primary/reveal"), &json!({}));
    assert_eq!(revealed.json()["key"], rotated.json()["key"]);
    audited.check(&format!("post {path}/keys/{{slot}}/reveal"), &revealed, "subscription_key_revealed");
    let cancelled = api.post(&at("/cancel"), &json!({}));
    audited.check(&format!("post {path}/cancel"), &cancelled, "subscription_cancelled");
}

fn teams_and_requests(audited: &mut Audited) {
    let api = operator();
    let team = json!({"name": "Auditada", "id": "audited"});
    audited.check("post /operator/v1/teams", &api.post("/teams", &team), "team_added");
    let renamed = api.patch("/teams/audited", &json!({"name": "Otra"}));
    audited.check("patch /operator/v1/teams/{team}", &renamed, "team_changed");
    let path = "/operator/v1/teams/{team}/sandbox";
    let made = api.post("/teams/audited/sandbox", &json!({}));
    audited.check(&format!("post {path}"), &made, "sandbox_added");
    let told = api.patch("/teams/audited/sandbox", &json!({"receiverMode": "fail"}));
    audited.check(&format!("patch {path}"), &told, "sandbox_receiver_changed");
    let reset = api.post("/teams/audited/sandbox/reset", &json!({}));
    audited.check(&format!("post {path}/reset"), &reset, "sandbox_reset");
    for id in ["audited", "audited-second"] {
        fixture().installation.add_developer(id);
    }
    let path = "/operator/v1/teams/{team}/members";
    for id in ["audited", "audited-second"] {
        let member = json!({"developer": format!("{id}@developers.example"), "role": "owner"});
        audited.check(
            &format!("post {path}"),
            &api.post("/teams/audited/members", &member),
            "team_member_added",
        );
    }
    let second = "/teams/audited/members/audited-second";
    let changed = api.patch(second, &json!({"role": "member"}));
    audited.check(&format!("patch {path}/{{developer}}"), &changed, "team_member_changed");
    audited.check(&format!("delete {path}/{{developer}}"), &api.delete(second), "team_member_removed");
    let renamed = api.patch("/developers/audited", &json!({"givenName": "Ana"}));
    audited.check("patch /operator/v1/developers/{developer}", &renamed, "developer_changed");

    let path = "/operator/v1/requests";
    for (step, body, kind) in [
        ("approve", json!({}), "request_approved"),
        ("refuse", json!({"reason": "no"}), "request_refused"),
        ("withdraw", json!({}), "request_withdrawn"),
    ] {
        let asked = json!({"name": "Auditada", "redirectUris": [CALLBACK], "products": ["payroll"]});
        let request = json!({"team": "audited", "developer": "audited@developers.example", "client": asked});
        let added = api.post("/requests", &request);
        audited.check(&format!("post {path}"), &added, "request_added");
        let id = added.json()["id"].as_str().unwrap().to_owned();
        let decided = api.post(&format!("/requests/{id}/{step}"), &body);
        audited.check(&format!("post {path}/{{request}}/{step}"), &decided, kind);
    }
}

fn operators_and_tokens(audited: &mut Audited) {
    let api = operator();
    fixture().installation.add_operator("audited-operator", OperatorRole::Viewer);
    let changed = api.patch("/operators/audited-operator", &json!({"role": "support"}));
    audited.check("patch /operator/v1/operators/{operator}", &changed, "operator_changed");
    for realm in domain::Realm::ALL {
        let (noun, id) = (realm.as_str(), format!("factors-{}", realm.as_str()));
        fixture().installation.add_account(
            &id,
            realm,
            (realm == domain::Realm::Operators).then_some(OperatorRole::Viewer),
        );
        fixture().installation.add_second_factor(realm, &id);
        let reset = api.post(&format!("/{noun}/{id}/reset-second-factors"), &json!({}));
        let path = format!("post /operator/v1/{noun}/{{{}}}/reset-second-factors", realm.person());
        audited.check(&path, &reset, "second_factor_reset");
        let noun_path = format!("post /operator/v1/{noun}/{{{}}}", realm.person());
        let sent = api.post(&format!("/{noun}/{id}/reset-password"), &json!({}));
        audited.check(&format!("{noun_path}/reset-password"), &sent, "password_reset_requested");
        fixture().installation.add_session(realm, &id);
        let ended = api.post(&format!("/{noun}/{id}/end-sessions"), &json!({}));
        assert_eq!(ended.json()["ended"], 1, "{ended:?}");
        audited.check(&format!("{noun_path}/end-sessions"), &ended, "sessions_ended");
    }
    let added = api.post("/tokens", &json!({"name": "audited", "role": "viewer", "expiresIn": "1d"}));
    let id = added.json()["token"]["id"].as_str().unwrap().to_owned();
    audited.check("post /operator/v1/tokens", &added, "operator_token_added");
    let revoked = api.delete(&format!("/tokens/{id}"));
    audited.check("delete /operator/v1/tokens/{token}", &revoked, "operator_token_revoked");
}

fn signing_keys(audited: &mut Audited) {
    // A server of its own: there is one next key at a time, and the test of the commands makes one.
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let api = OperatorApi(&server);
    let rotated = api.post("/signing-keys/rotate", &json!({}));
    audited.check_at(&api, "post /operator/v1/signing-keys/rotate", &rotated, "signing_key_rotated");
}

fn records(audited: &mut Audited) {
    let api = operator();
    assert_eq!(api.post("/tenants", &json!({"name": "Registros", "id": "audited-records"})).status, 201);
    let edit = json!({"action": "upsert", "data": {"name": "Caja"}, "reason": "a reason"});
    let edited = api.post("/tenants/audited-records/records/invoicing/Bank/b/edits", &edit);
    let path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/edits";
    audited.check(&format!("post {path}"), &edited, "record_edited");
}

fn webhooks(audited: &mut Audited) {
    let (api, subscriber) = (operator(), Subscriber::new());
    let sequence = subscriber.customer("audited");
    subscriber.delivery(sequence, "delivered");
    let post = |tail: &str, body: &Value| api.post(&subscriber.at(tail), body);
    let path = "/operator/v1/webhooks/{webhook}";
    let replayed = post(&format!("/deliveries/{sequence}/replay"), &json!({}));
    audited.check(&format!("post {path}/deliveries/{{delivery}}/replay"), &replayed, "webhook_replayed");
    let replayed = post("/replay", &json!({"from": "2020-01-01T00:00:00Z"}));
    audited.check(&format!("post {path}/replay"), &replayed, "webhook_replayed");
    audited.check(&format!("post {path}/test"), &post("/test", &json!({})), "webhook_changed");
    audited.check(&format!("post {path}/disable"), &post("/disable", &json!({})), "webhook_changed");
    audited.check(&format!("post {path}/enable"), &post("/enable", &json!({})), "webhook_changed");
    let bulk = |action: &str, mut body: Value| {
        let query = format!("tenant={}", subscriber.view()["tenant"].as_str().unwrap());
        body["digest"] = api.get(&format!("/webhooks/bulk?{query}")).json()["digest"].clone();
        api.post(&format!("/webhooks/bulk/{action}?{query}"), &body)
    };
    let path_of = |action: &str| format!("post /operator/v1/webhooks/bulk/{action}");
    let span = json!({"from": "2020-01-01T00:00:00Z"});
    audited.check(&path_of("disable"), &bulk("disable", json!({})), "webhook_changed");
    audited.check(&path_of("enable"), &bulk("enable", json!({})), "webhook_changed");
    audited.check(&path_of("replay"), &bulk("replay", span), "webhook_replayed");
    audited.check(&format!("delete {path}"), &api.delete(&subscriber.at("")), "webhook_deleted");

    let user = format!("/users/{}/authorizations", subscriber.api.sign_in.email);
    let one = api.get(&user).json()["authorizations"][0].clone();
    let path = format!("{user}/{}/{}", one["tenant"].as_str().unwrap(), one["client"].as_str().unwrap());
    let withdrawn = api.delete(&path);
    let operation = "delete /operator/v1/users/{user}/authorizations/{tenant}/{client}";
    audited.check(operation, &withdrawn, "access_ended");
    assert_eq!(api.get(&user).json()["authorizations"], json!([]));
    assert_eq!(api.delete(&path).status, 404);
}

fn backups(audited: &mut Audited) {
    let started = operator().post("/backups", &json!({}));
    audited.check("post /operator/v1/backups", &started, "backup_started");
    let name = wait_for("the backup is complete", || {
        let run = operator().get("/backups").json()["run"].clone();
        (run["phase"] == "done").then(|| run["name"].as_str().unwrap().to_owned())
    });
    let downloaded = operator().post(&format!("/backups/{name}/download"), &json!({}));
    let path = "post /operator/v1/backups/{backup}/download";
    audited.check(path, &downloaded, "backup_downloaded");
}

#[test]
fn every_mutating_route_leaves_an_audit_entry() {
    let mut audited = Audited::default();
    directory(&mut audited);
    clients_and_subscriptions(&mut audited);
    operators_and_tokens(&mut audited);
    teams_and_requests(&mut audited);
    signing_keys(&mut audited);
    webhooks(&mut audited);
    records(&mut audited);
    backups(&mut audited);
    let all = operations(&document()).into_iter().filter(|(_, verb, _)| *verb != "get");
    let mutating: Vec<String> = all.map(|(path, verb, _)| format!("{verb} {path}")).collect();
    let is_exempt = |operation: &&String| EXEMPT.iter().any(|(exempt, _)| *exempt == **operation);
    let missing: Vec<&String> =
        mutating.iter().filter(|one| !is_exempt(one) && !audited.0.contains(one)).collect();
    assert!(missing.is_empty(), "these routes are not in this test: {missing:?}");
    println!(
        "{} of {} mutating routes of the operator's API leave an audit entry; {} are exempt",
        audited.0.len(),
        mutating.len(),
        EXEMPT.len()
    );
}
