//! `aldaba team`, `developer` and `request`: what they print, and what they refuse.

use serde_json::{Value, json};

use crate::harness::{CALLBACK, EmbeddedServer, Installation, OperatorApi};

fn json_of(installation: &Installation, arguments: &[&str]) -> Value {
    installation.program(arguments).with(&["--json"]).run().json()
}

#[test]
fn teams_are_added_shown_and_changed() {
    let installation = Installation::new();
    for id in ["diego", "elisa"] {
        installation.add_developer(id);
    }
    let run = |arguments: &[&str]| installation.program(arguments).run();
    assert_eq!(run(&["team", "add", "Panel", "--id", "panel"]).code(0).stdout, "panel\n");
    run(&["team", "add", "Otra", "--id", "panel"]).expect_failure(5, "there is already a team \"panel\"");
    run(&["team", "join", "panel", "nobody@x.example"]).expect_failure(5, "there is no developer");
    run(&["team", "join", "panel", "diego@developers.example", "--owner"]).code(0);
    run(&["team", "join", "panel", "elisa@developers.example"]).code(0);
    run(&["team", "leave", "panel", "diego@developers.example"]).expect_failure(5, "is the last owner");
    run(&["team", "join", "panel", "diego@developers.example"]).expect_failure(5, "is the last owner");
    let shown = json_of(&installation, &["team", "show", "panel"]);
    assert_eq!((&shown["name"], &shown["standing"]), (&json!("Panel"), &json!("active")));
    let members: Vec<(&str, &str)> = shown["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| (member["email"].as_str().unwrap(), member["role"].as_str().unwrap()))
        .collect();
    assert_eq!(members, [("diego@developers.example", "owner"), ("elisa@developers.example", "member")]);
    let text = run(&["team", "show", "panel"]).code(0).stdout;
    assert!(text.starts_with("team        panel\nname        Panel\n") && text.contains("elisa@"), "{text}");
    assert_eq!(json_of(&installation, &["team", "rename", "panel", "Ventas"])["name"], "Ventas");
    assert_eq!(json_of(&installation, &["team", "disable", "panel"])["standing"], "disabled");
    assert_eq!(json_of(&installation, &["team", "list"])[0]["standing"], "disabled");
    assert_eq!(json_of(&installation, &["team", "enable", "panel"])["standing"], "active");
    run(&["team", "show", "none"]).expect_failure(5, "there is no team \"none\"");

    let developer = json_of(&installation, &["developer", "show", "elisa@developers.example"]);
    assert_eq!(developer["teams"], json!([{"id": "panel", "name": "Ventas", "role": "member"}]));
    assert_eq!(json_of(&installation, &["developer", "list"]).as_array().unwrap().len(), 2);
    assert_eq!(json_of(&installation, &["developer", "disable", "elisa"])["standing"], "disabled");

    let client = ["client", "add", "Panel", "--id", "erp", "--redirect-uri", CALLBACK];
    installation.program(&client).with(&["--team", "none"]).run().expect_failure(5, "there is no team");
    assert_eq!(json_of(&installation, &[&client[..], &["--team", "panel"]].concat())["team"], "panel");
    assert_eq!(json_of(&installation, &["client", "set", "erp", "--team", ""])["team"], Value::Null);
    let key = json_of(&installation, &["key", "add", "Panel", "--team", "panel"])["subscription"].clone();
    assert_eq!(key["team"], "panel");
    let id = key["id"].as_str().unwrap();
    assert_eq!(json_of(&installation, &["key", "team", id, ""])["team"], Value::Null);
}

#[test]
fn requests_are_shown_and_decided() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let (installation, api) = (&server.installation, OperatorApi(&server));
    installation.add_developer("diego");
    api.create("/teams", &json!({"name": "Panel", "id": "panel"}));
    let email = "diego@developers.example";
    api.create("/teams/panel/members", &json!({"developer": email, "role": "owner"}));
    let ask = |name: &str| {
        let client = json!({"name": name, "redirectUris": [CALLBACK], "products": ["accounting"]});
        let request = json!({"team": "panel", "developer": email, "client": client, "note": "por favor"});
        api.create("/requests", &request)["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask("Uno"), ask("Dos"));
    let pending = json_of(installation, &["request", "list", "--state", "pending", "--team", "panel"]);
    assert_eq!(pending.as_array().unwrap().len(), 2);
    let shown = installation.program(&["request", "show", &first]).run().code(0).stdout;
    for words in ["Uno", "por favor", "pending", CALLBACK] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let approved = json_of(installation, &["request", "approve", &first, "--waive-consent"]);
    assert_eq!((&approved["state"], &approved["kind"]), (&json!("approved"), &json!("client")));
    let client = json_of(installation, &["client", "show", approved["result"].as_str().unwrap()]);
    assert_eq!((&client["team"], &client["consent"]), (&json!("panel"), &json!(false)));
    let again = installation.program(&["request", "approve", &first]).run();
    again.expect_failure(5, "is approved already; nothing changed");
    installation.program(&["request", "refuse", &second]).run().code(2);
    let refused = json_of(installation, &["request", "refuse", &second, "--reason", "sin contrato"]);
    assert_eq!((&refused["state"], &refused["reason"]), (&json!("refused"), &json!("sin contrato")));
    assert!(refused["decided_by"].as_str().unwrap().starts_with("cli"), "{refused}");
    assert_eq!(json_of(installation, &["request", "list", "--state", "pending"]), json!([]));
}
