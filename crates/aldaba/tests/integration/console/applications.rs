//! Requests, teams, applications, subscriptions and tokens in the console: who may do what, and what comes of it.

use std::time::Duration;

use domain::{Clock as _, OperatorRole, Secret, TeamId};
use serde_json::{Value, json};
use store::{Consent, Status};
use testserver::Request;

use super::fixture::{Console, shown_once};
use crate::integration::portal::fixture::Developer;

/// A team "ana" with its owner of that name.
fn fixture() -> Console {
    let console = Console::new();
    Developer::sign_in(&console.server, "ana");
    console
}

/// A request of the team for a client.
fn ask(console: &Console, name: &str) -> String {
    let client =
        json!({"name": name, "redirectUris": ["https://panel.example/back"], "products": ["accounting"]});
    let body = json!({"team": "ana", "developer": "ana@developers.example", "client": client, "note": "Para\nventas"});
    console.server.operator_post("requests", &body)["id"].as_str().unwrap().to_owned()
}

fn ids(page: &Value, list: &str) -> Vec<String> {
    page[list].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

const CLIENT: &[(&str, &str)] = &[
    ("do", "add"),
    ("name", "Panel"),
    ("id", "panel"),
    ("redirect_uris", "https://panel.example/back\r\nhttp://localhost:8765/callback"),
    ("product", "accounting"),
    ("consent", "true"),
    ("pkce", "if-sent"),
    ("team", "ana"),
];

#[test]
fn every_action_needs_its_role() {
    let fixture = fixture();
    let (request, other) = (ask(&fixture, "Uno"), ask(&fixture, "Dos"));
    let client = fixture.server.add_client("Panel").id;
    let subscription = fixture.server.add_subscription("Panel").id;
    let made = json!({"name": "nightly", "role": "viewer"});
    let made = fixture.server.operator_post("tokens", &made);
    let token = made["token"]["id"].as_str().unwrap();
    let (client, subscription) = (format!("clients/{client}"), format!("subscriptions/{subscription}"));
    let requests = [
        (format!("requests/{request}"), vec![("do", "approve")]),
        (format!("requests/{other}"), vec![("do", "refuse"), ("reason", "No")]),
    ];
    let ana = ("member", "ana");
    let team = |fields: &[(&'static str, &'static str)]| ("teams/ana".to_owned(), fields.to_vec());
    let keys = vec![
        ("teams".to_owned(), vec![("do", "add"), ("name", "Sur"), ("id", "sur")]),
        team(&[("do", "rename"), ("name", "Norte")]),
        team(&[("do", "disable")]),
        team(&[("do", "enable")]),
        team(&[("do", "add_member"), ana]),
        team(&[("do", "set_role"), ana, ("role", "member")]),
        team(&[("do", "remove_member"), ana]),
        team(&[("do", "close_sandbox")]),
        team(&[("do", "open_sandbox")]),
        ("clients".to_owned(), CLIENT.to_vec()),
        (client.clone(), [&[("do", "change")], &CLIENT[1..]].concat()),
        (client.clone(), vec![("do", "rotate"), ("overlap", "day")]),
        (client.clone(), vec![("do", "disable")]),
        (client, vec![("do", "enable")]),
        ("subscriptions".to_owned(), vec![("do", "add"), ("name", "X"), ("product", "payroll")]),
        (subscription.clone(), vec![("do", "change"), ("quota", "7")]),
        (subscription.clone(), vec![("do", "regenerate"), ("slot", "primary")]),
        (subscription.clone(), vec![("do", "suspend")]),
        (subscription.clone(), vec![("do", "resume")]),
        (subscription.clone(), vec![("do", "cancel"), ("confirm", &subscription["subscriptions/".len()..])]),
        ("tokens".to_owned(), vec![("do", "add"), ("name", "x"), ("role", "admin")]),
        ("tokens".to_owned(), vec![("do", "revoke"), ("token_id", token), ("confirm", "nightly")]),
    ];
    let audit = || fixture.server.operator_get("/operator/v1/audit?pageSize=1").json();
    for role in [OperatorRole::Viewer, OperatorRole::Support] {
        fixture.act_as(role);
        let before = audit();
        let forbidden = keys.iter().chain(requests.iter().filter(|_| role == OperatorRole::Viewer));
        for (page, fields) in forbidden {
            let answer = fixture.post(page, fields);
            assert_eq!(answer.status, 403, "{role:?} {page} {fields:?}: {answer:?}");
            let shown = fixture.operator.get_in("en", page);
            let button = format!("name=\"do\" value=\"{}\"", fields[0].1);
            assert!(!shown.contains(&button), "{role:?} {page}: {button}");
        }
        assert_eq!(audit(), before, "{role:?}: nothing was changed");
    }
    // Support decides on requests.
    for ((page, fields), code) in requests.iter().zip(["request_approved", "request_refused"]) {
        assert!(
            fixture.operator.get_in("en", page).contains(&format!("value=\"{}\"", fields[0].1)),
            "{page}"
        );
        fixture.done(page, fields, code);
    }
}

#[test]
fn what_gives_or_ends_access_needs_a_fresh_sign_in() {
    let fixture = fixture();
    let request = format!("requests/{}", ask(&fixture, "Uno"));
    let client = format!("clients/{}", fixture.server.add_client("Panel").id);
    let subscription = fixture.server.add_subscription("Panel").id;
    let subscription_page = format!("subscriptions/{subscription}");
    // Longer than a sign-in counts as fresh, and shorter than a session.
    fixture.clock.advance(Duration::from_secs(60 * 60));
    let member = ("member", "ana");
    let guarded: [(&str, &[(&str, &str)]); 15] = [
        (&request, &[("do", "approve")]),
        ("teams/ana", &[("do", "disable")]),
        ("teams/ana", &[("do", "add_member"), member]),
        ("teams/ana", &[("do", "set_role"), member, ("role", "member")]),
        ("teams/ana", &[("do", "remove_member"), member]),
        ("teams/ana", &[("do", "close_sandbox")]),
        ("clients", CLIENT),
        (&client, &[("do", "change")]),
        (&client, &[("do", "rotate")]),
        (&client, &[("do", "disable")]),
        ("subscriptions", &[("do", "add"), ("name", "X"), ("product", "payroll")]),
        (&subscription_page, &[("do", "regenerate"), ("slot", "primary")]),
        (&subscription_page, &[("do", "suspend")]),
        (&subscription_page, &[("do", "cancel"), ("confirm", &subscription)]),
        ("tokens", &[("do", "add"), ("name", "x")]),
    ];
    for (page, fields) in guarded {
        let asked = fixture.post(page, fields);
        assert!(asked.status == 302 || asked.status == 303, "{page} {fields:?}: {asked:?}");
        assert!(asked.location().contains("/console/login"), "{page} {fields:?}: {asked:?}");
    }
    assert_eq!(fixture.operator.json(&subscription_page)["status"], "active");
    assert_eq!(fixture.operator.json("tokens")["tokens"], json!([]));
    // The rest works without.
    fixture.done("teams/ana", &[("do", "rename"), ("name", "Norte")], "team_renamed");
    fixture.done(&request, &[("do", "refuse"), ("reason", "No")], "request_refused");
}

#[test]
fn requests_are_approved_with_or_without_consent_and_refused_with_a_reason() {
    let fixture = fixture();
    let store = fixture.server.store();
    let consents = [("required", Consent::Required), ("none", Consent::None)];
    for (choice, expected) in consents {
        let page = format!("requests/{}", ask(&fixture, &format!("Panel <{choice}>")));
        let shown = fixture.operator.get_in("es", &page);
        for part in ["https://panel.example/back", "Para", "ana@developers.example", "Contabilidad", "&lt;"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(
            fixture.operator.get("").text().contains("<span class=\"badge\">1</span>"),
            "the navigation counts it"
        );
        let revision = fixture.operator.json(&page)["revision"].to_string();
        fixture.done(
            &page,
            &[("do", "approve"), ("consent", choice), ("revision", &revision)],
            "request_approved",
        );
        let result = fixture.operator.json(&page)["result"].as_str().unwrap().to_owned();
        let made = fixture
            .server
            .block_on(store.find_client(&domain::ClientId::new(result.as_str())))
            .unwrap()
            .unwrap();
        assert_eq!((made.consent, made.team), (expected, Some(TeamId::new("ana"))));
        // Decided once.
        assert!(fixture.refused(&page, &[("do", "approve")]).contains("already"), "{page}");
        assert!(fixture.operator.get_in("en", &page).contains(&format!("/console/clients/{result}")));
    }
    let page = format!("requests/{}", ask(&fixture, "Tres"));
    assert!(fixture.refused(&page, &[("do", "refuse"), ("reason", " ")]).contains("needs a reason"));
    fixture.done(&page, &[("do", "refuse"), ("reason", "Falta el NIF")], "request_refused");
    let listed = |query: &str| ids(&fixture.operator.json(&format!("requests?{query}")), "requests").len();
    assert_eq!([listed(""), listed("state=all"), listed("state=refused&team=ana")], [0, 3, 1]);
    assert_eq!([listed("state=approved&team=ana"), listed("state=all&team=other")], [2, 0]);
    let csv = fixture.operator.get("requests?state=refused&format=csv").text().to_owned();
    assert!(csv.lines().count() == 2 && csv.contains("Falta el NIF"), "{csv}");
}

#[test]
fn team_is_made_and_its_members_are_changed() {
    let fixture = fixture();
    fixture.done("teams", &[("do", "add"), ("name", "Sur"), ("id", "sur")], "team_made");
    assert!(fixture.refused("teams", &[("do", "add"), ("name", "Sur"), ("id", "sur")]).contains("already"));
    assert_eq!(fixture.operator.get("teams/nobody").status, 404);
    assert_eq!(fixture.post("teams/nobody", &[("do", "disable")]).status, 404);
    let unknown = [("do", "add_member"), ("member", "nobody@developers.example")];
    assert!(fixture.refused("teams/sur", &unknown).contains("nobody@developers.example"));
    fixture.done(
        "teams/sur",
        &[("do", "add_member"), ("member", "ana@developers.example"), ("role", "owner")],
        "team_member_added",
    );
    let last = fixture.refused("teams/sur", &[("do", "remove_member"), ("member", "ana")]);
    assert!(last.contains("last owner"), "{last}");
    assert_eq!(fixture.operator.json("teams/sur")["members"][0]["role"], "owner");
    Developer::sign_in(&fixture.server, "leo");
    fixture.done(
        "teams/sur",
        &[("do", "add_member"), ("member", "leo"), ("role", "owner")],
        "team_member_added",
    );
    fixture.done(
        "teams/sur",
        &[("do", "set_role"), ("member", "ana"), ("role", "member")],
        "team_role_changed",
    );
    fixture.done("teams/sur", &[("do", "remove_member"), ("member", "ana")], "team_member_removed");
    fixture.done("teams/sur", &[("do", "disable")], "team_disabled");
    let team = fixture.operator.json("teams/sur");
    assert_eq!((&team["team"]["isActive"], ids(&team, "members")), (&json!(false), vec!["leo".to_owned()]));
    fixture.done("teams/sur", &[("do", "enable")], "team_enabled");
}

#[test]
fn team_shows_its_sandbox_and_closes_it() {
    let fixture = fixture();
    assert_eq!(fixture.operator.json("teams/ana")["sandbox"], Value::Null);
    assert_eq!(fixture.post("teams/ana", &[("do", "close_sandbox")]).status, 404);
    let url = format!("{}/operator/v1/teams/ana/sandbox", fixture.server.operator_url());
    let made = Request::post(&url).bearer(fixture.server.operator_token()).send().json();
    let password = made["password"].as_str().unwrap();
    let page = fixture.operator.get_in("en", "teams/ana");
    assert!(page.contains(made["email"].as_str().unwrap()) && !page.contains(password), "{page}");
    for (action, code, state) in
        [("close_sandbox", "team_sandbox_closed", "closed"), ("open_sandbox", "team_sandbox_opened", "open")]
    {
        fixture.done("teams/ana", &[("do", action)], code);
        assert_eq!(fixture.operator.json("teams/ana")["sandbox"]["state"], state);
    }
}

#[test]
fn client_secret_is_shown_once_and_rotated_with_an_overlap() {
    let fixture = fixture();
    let first = shown_once(&fixture.post("clients", CLIENT), "clientSecret");
    let client = fixture.operator.json("clients/panel");
    assert_eq!(
        client["redirectUris"],
        json!(["https://panel.example/back", "http://localhost:8765/callback"])
    );
    assert_eq!((&client["team"]["id"], &client["products"]), (&json!("ana"), &json!(["accounting"])));
    assert_eq!((&client["pkce"], &client["hasConsent"]), (&json!("if-sent"), &json!(true)));
    let second =
        shown_once(&fixture.post("clients/panel", &[("do", "rotate"), ("overlap", "hour")]), "clientSecret");
    for secret in [&first, &second] {
        assert!(!fixture.operator.get("clients/panel").text().contains(secret.as_str()));
    }
    assert_eq!(fixture.operator.json("clients/panel")["secrets"].as_array().unwrap().len(), 2);
    let (store, id) = (fixture.server.store(), domain::ClientId::new("panel"));
    let works = |secret: &str| {
        let (secret, now) = (Secret::new(secret), fixture.clock.now());
        fixture.server.block_on(store.client_secret_matches(&id, &secret, now)).unwrap()
    };
    assert_eq!([works(&first), works(&second)], [true, true]);
    fixture.clock.advance(Duration::from_secs(60 * 60));
    assert_eq!([works(&first), works(&second)], [false, true]);
    assert_eq!(fixture.operator.json("clients/panel")["secrets"].as_array().unwrap().len(), 1);
}

#[test]
fn kinds_of_clients_are_chosen_and_shown() {
    let fixture = fixture();
    let form = |kind: &'static str, id: &'static str, uris: &'static str| {
        let fields = [("do", "add"), ("name", "App"), ("id", id), ("kind", kind), ("redirect_uris", uris)];
        [&fields[..], &[("product", "accounting"), ("pkce", "ignore")]].concat()
    };
    fixture.done("clients", &form("browser", "spa", "https://spa.example/"), "client_added");
    fixture.done(
        "clients",
        &form("native", "app", "com.example.app:/cb\r\nhttp://127.0.0.1/cb"),
        "client_added",
    );
    shown_once(&fixture.post("clients", &form("resource_server", "api", "")), "clientSecret");
    for (id, kind, word) in [
        ("spa", "browser", "Browser application"),
        ("app", "native", "Native application"),
        ("api", "resource_server", "Resource server"),
    ] {
        let page = format!("clients/{id}");
        let client = fixture.operator.json(&page);
        assert_eq!(client["kind"], kind);
        assert_eq!(client["pkce"], if id == "api" { "ignore" } else { "required" });
        let shown = fixture.operator.get_in("en", &page);
        assert!(shown.contains(word) && fixture.operator.get_in("en", "clients").contains(word), "{shown}");
        assert_eq!(shown.contains("value=\"rotate\""), id == "api", "{shown}");
        let rotated = fixture.post(&page, &[("do", "rotate"), ("overlap", "hour")]);
        assert_eq!(rotated.status, if id == "api" { 200 } else { 400 }, "{rotated:?}");
    }
    assert!(fixture.refused("clients", &form("web", "no", "com.example.app:/cb")).contains("https"));
    assert!(
        fixture
            .refused("clients", &form("resource_server", "no", "https://api.example/"))
            .contains("resource server has no redirect")
    );
    let change = [&[("do", "change")], &form("web", "x", "https://spa.example/new")[1..]].concat();
    fixture.done("clients/spa", &change, "client_changed");
    assert_eq!(fixture.operator.json("clients/spa")["kind"], "browser", "a kind never changes");
    assert_eq!(fixture.operator.json("clients/spa")["pkce"], "required");
}

#[test]
fn client_is_changed_disabled_and_enabled() {
    let fixture = fixture();
    shown_once(&fixture.post("clients", CLIENT), "clientSecret");
    fixture.operator.get_in("en", "");
    assert!(fixture.refused("clients", CLIENT).contains("already"));
    let change = |fields: &[(&'static str, &'static str)]| {
        let kept = CLIENT[1..].iter().filter(|(name, _)| !fields.iter().any(|(other, _)| other == name));
        [&[("do", "change")], fields].concat().into_iter().chain(kept.copied()).collect::<Vec<_>>()
    };
    fixture.done(
        "clients/panel",
        &change(&[
            ("name", "Otro"),
            ("redirect_uris", "https://otro.example/"),
            ("team", ""),
            ("pkce", "required"),
        ]),
        "client_changed",
    );
    let client = fixture.operator.json("clients/panel");
    assert_eq!(
        (&client["name"], &client["team"], &client["pkce"]),
        (&json!("Otro"), &Value::Null, &json!("required"))
    );
    assert_eq!(client["redirectUris"], json!(["https://otro.example/"]));
    for (wrong, why) in [
        ([("redirect_uris", "ftp://otro.example/")], "ftp://otro.example/"),
        ([("redirect_uris", "")], "1 to 20"),
        ([("product", "")], "one product"),
        ([("team", "nobody")], "nobody"),
        ([("revision", "1")], "another revision"),
    ] {
        let refused = fixture.refused("clients/panel", &change(&wrong));
        assert!(refused.contains(why), "{why}: {refused}");
    }
    assert_eq!(fixture.operator.json("clients/panel")["redirectUris"], json!(["https://otro.example/"]));
    fixture.done("clients/panel", &[("do", "disable")], "client_disabled");
    let find = || {
        let id = domain::ClientId::new("panel");
        fixture.server.block_on(fixture.server.store().find_client(&id)).unwrap().unwrap().status
    };
    assert_eq!(find(), Status::Disabled);
    fixture.done("clients/panel", &[("do", "enable")], "client_enabled");
    assert_eq!(find(), Status::Active);
}

#[test]
fn refused_forms_keep_what_was_sent() {
    let fixture = fixture();
    let sent = [
        ("do", "add"),
        ("name", "Panel"),
        ("id", "panel"),
        ("product", "payroll"),
        ("pkce", "ignore"),
        ("redirect_uris", "ftp://panel.example/"),
    ];
    let page = fixture.refused("clients", &sent);
    let is_checked = |page: &str, name: &str, value: &str| {
        let input = format!("name=\"{name}\" value=\"{value}\"");
        page.split(&input).nth(1).unwrap_or_else(|| panic!("no {input}")).starts_with(" checked")
    };
    let boxes = [("product", "accounting"), ("product", "payroll"), ("consent", "true")];
    assert_eq!(boxes.map(|(name, value)| is_checked(&page, name, value)), [false, true, false]);
    assert!(page.contains("ftp://panel.example/") && page.contains("value=\"ignore\" selected"), "{page}");

    fixture.post("clients", CLIENT);
    let stale = [&[("do", "change"), ("revision", "7")], &CLIENT[1..]].concat();
    let page = fixture.refused("clients/panel", &stale);
    assert!(
        page.contains("name=\"revision\" value=\"7\""),
        "sending it again changes nothing either: {page}"
    );
}

#[test]
fn subscription_is_made_limited_suspended_and_cancelled() {
    let fixture = fixture();
    let fields =
        [("do", "add"), ("name", "Panel"), ("product", "accounting"), ("quota", "500"), ("team", "ana")];
    let made = fixture.post("subscriptions", &fields);
    let (primary, secondary) = (shown_once(&made, "primaryKey"), shown_once(&made, "secondaryKey"));
    let id = ids(&fixture.operator.json("subscriptions?q=pan"), "subscriptions")[0].clone();
    let page = format!("subscriptions/{id}");
    assert_eq!(fixture.operator.json(&page)["dailyQuota"], 500);
    let regenerated = shown_once(
        &fixture.post(&page, &[("do", "regenerate"), ("slot", "primary"), ("overlap", "none")]),
        "key",
    );
    for key in [&primary, &secondary, &regenerated] {
        assert!(!fixture.operator.get(&page).text().contains(key.as_str()));
    }
    let store = fixture.server.store();
    let opens = |key: &str| {
        let (key, now) = (Secret::new(key), fixture.clock.now());
        let found = fixture.server.block_on(store.find_subscription_by_key(&key, now)).unwrap();
        found.is_some_and(|found| found.status == Status::Active)
    };
    assert_eq!([opens(&primary), opens(&secondary), opens(&regenerated)], [false, true, true]);
    fixture.operator.get_in("en", "");
    assert!(fixture.refused(&page, &[("do", "change"), ("quota", "many")]).contains("whole number"));
    fixture.done(&page, &[("do", "change"), ("quota", ""), ("team", "ana")], "subscription_changed");
    assert_eq!(fixture.operator.json(&page)["dailyQuota"], Value::Null);
    fixture.done(&page, &[("do", "suspend")], "subscription_suspended");
    assert!(!opens(&secondary));
    fixture.done(&page, &[("do", "resume")], "subscription_resumed");
    assert!(opens(&secondary));
    for confirm in ["", "x"] {
        assert!(fixture.refused(&page, &[("do", "cancel"), ("confirm", confirm)]).contains(&id));
    }
    assert!(opens(&secondary), "nothing was cancelled");
    fixture.done(&page, &[("do", "cancel"), ("confirm", &id)], "subscription_cancelled");
    assert!(!opens(&secondary));
    assert!(!fixture.operator.get(&page).text().contains("value=\"resume\""), "it is final");
}

#[test]
fn token_is_shown_once_works_and_is_revoked() {
    let fixture = fixture();
    let fields = [("do", "add"), ("name", "nightly"), ("role", "support"), ("lifetime", "month")];
    let made = fixture.post("tokens", &fields);
    let secret = shown_once(&made, "token");
    assert!(!made.text().contains("hreflang"), "the other language would lose the token");
    assert!(fixture.operator.get("tokens").text().contains("hreflang"));
    assert!(fixture.refused("tokens", &fields).contains("nightly"));
    assert!(!fixture.operator.get("tokens").text().contains(&secret));
    let works = || {
        let url = format!("{}/operator/v1/teams", fixture.server.operator_url());
        Request::get(&url).bearer(&secret).send().status
    };
    assert_eq!(works(), 200);
    let row = fixture.operator.json("tokens")["tokens"][0].clone();
    assert_eq!((&row["role"], &row["state"]), (&json!("support"), &json!("live")));
    assert!(row["expires"].is_string(), "{row}");
    let revoke = [("do", "revoke"), ("token_id", row["id"].as_str().unwrap())];
    assert!(fixture.refused("tokens", &[&revoke[..], &[("confirm", "x")]].concat()).contains("nightly"));
    assert_eq!(works(), 200);
    fixture.done("tokens", &[&revoke[..], &[("confirm", "nightly")]].concat(), "token_revoked");
    assert_eq!(works(), 401);
    assert!(fixture.operator.get("tokens?format=csv").text().contains("revoked"));
}

#[test]
fn lists_are_searched_filtered_and_paged() {
    let fixture = fixture();
    for number in 0..60 {
        let body = json!({"name": format!("Zona {number:02}"), "id": format!("z{number:02}")});
        fixture.server.operator_post("teams", &body);
    }
    let read = |query: &str| fixture.operator.json(&format!("teams?{query}"));
    let first = read("q=ZONA");
    let next = first["next"].as_str().expect("a page has fewer rows than the list");
    let second = read(&format!("q=ZONA&after={next}"));
    let found = [ids(&first, "teams"), ids(&second, "teams")].concat();
    assert_eq!(found, (0..60).map(|number| format!("z{number:02}")).collect::<Vec<_>>());
    assert_eq!(second["next"], Value::Null);
    assert_eq!(ids(&read("q=z07"), "teams"), ["z07"]);
    assert_eq!(ids(&read("q=Zona+07"), "teams"), ["z07"]);
    assert_eq!(ids(&read("q=nada"), "teams"), [] as [&str; 0]);
    fixture.done("teams/z03", &[("do", "disable")], "team_disabled");
    assert_eq!(ids(&read("state=disabled"), "teams"), ["z03"]);
    assert_eq!(ids(&read("state=active&q=z03"), "teams"), [] as [&str; 0]);
    assert_eq!(fixture.operator.get("teams?after=x").status, 400);
    assert_eq!(fixture.operator.get("teams?q=ZONA&format=csv").text().lines().count(), 61);
    let page = fixture.operator.get("teams?q=ZONA");
    assert!(page.text().contains("teams?q=ZONA&amp;after="), "the next page keeps the search: {page:?}");
    for list in ["requests", "clients", "subscriptions", "tokens"] {
        for lang in ["es", "en"] {
            assert!(fixture.operator.get_in(lang, list).contains("class=\"empty\""), "{list} in {lang}");
        }
    }
}
