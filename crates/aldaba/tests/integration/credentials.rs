//! `aldaba client` and `aldaba key`: secrets are printed once and never stored in plain text.

use serde_json::{Value, json};

use crate::harness::{Installation, Program, is_guid};

const CALLBACK: &str = "https://app.example/callback";

fn add_client(installation: &Installation, arguments: &[&str]) -> Program {
    installation.program(&["client", "add", "Panel", "--redirect-uri", CALLBACK]).with(arguments)
}

fn list(installation: &Installation, what: &str) -> Value {
    installation.program(&[what, "list", "--json"]).run().json()
}

/// No file of the installation contains the secret in plain text.
#[track_caller]
fn expect_not_stored_in_plain_text(installation: &Installation, secret: &str) {
    for entry in std::fs::read_dir(installation.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "a secret is stored in plain text"
        );
    }
}

#[test]
fn client_secret_is_printed_once_at_registration() {
    let installation = Installation::new();
    let created = add_client(&installation, &["--json"]).run().json();
    let (id, secret) = (created["client_id"].as_str().unwrap(), created["client_secret"].as_str().unwrap());
    assert!(is_guid(id) && secret.len() >= 40);
    let entry = json!({
        "client_id": id, "name": "Panel", "kind": "web", "redirect_uris": [CALLBACK], "post_logout_uris": [],
        "backchannel_logout_uri": null, "pkce": "if-sent", "consent": false, "callback_id_token": "auto",
        "products": ["accounting", "payroll", "invoicing"], "team": null, "sandbox": false, "standing": "active"
    });
    assert_eq!(list(&installation, "client"), json!([entry]), "the list contains no secrets");
    expect_not_stored_in_plain_text(&installation, secret);

    let all =
        ["--id", "mine", "--post-logout-uri", "https://app.example/", "--pkce", "required", "--consent"];
    let finished = add_client(&installation, &all).with(&["--no-callback-id-token"]).run().code(0);
    assert!(finished.stdout.starts_with("client_id      mine\nclient_secret  "), "{finished:?}");
    assert_eq!(finished.stderr, "The secret is shown only now. Store it safely.\n");
    let client = list(&installation, "client")
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["client_id"] == "mine")
        .cloned()
        .unwrap();
    assert_eq!((&client["pkce"], &client["consent"]), (&json!("required"), &json!(true)));
    assert_eq!(
        (&client["callback_id_token"], &client["post_logout_uris"]),
        (&json!("never"), &json!(["https://app.example/"]))
    );
}

#[test]
fn client_addresses_secret_and_status_can_be_changed() {
    let installation = Installation::new();
    let created = add_client(&installation, &["--id", "mine", "--json"]).run().json();
    let more = ["client", "redirect", "mine", "http://localhost:5/cb", CALLBACK];
    let changed = installation.program(&more).with(&["--json"]).run().json();
    assert_eq!(
        changed["redirect_uris"],
        json!([CALLBACK, "http://localhost:5/cb"]),
        "an address that is registered already is not added twice"
    );
    let finished = installation.program(&more).run().code(0);
    assert_eq!(finished.stdout, format!("{CALLBACK}\nhttp://localhost:5/cb\n"));

    let rotated =
        installation.program(&["client", "rotate", "mine", "--overlap", "5m", "--json"]).run().json();
    assert_eq!(rotated["client_id"], "mine");
    assert_ne!(rotated["client_secret"], created["client_secret"]);
    let finished = installation.program(&["client", "rotate", "mine"]).run().code(0);
    assert_eq!(finished.stderr, "The old secret remains valid for 24h.\n");
    expect_not_stored_in_plain_text(&installation, finished.stdout.trim());
    let disabled = installation.program(&["client", "disable", "mine", "--json"]).run().json();
    assert_eq!(disabled, json!({"client_id": "mine", "standing": "disabled"}));
    assert_eq!(list(&installation, "client")[0]["standing"], "disabled");
    installation.program(&["client", "enable", "mine"]).run().code(0);
    assert_eq!(list(&installation, "client")[0]["standing"], "active");
}

#[test]
fn products_and_callback_id_token_of_a_client_are_set() {
    let installation = Installation::new();
    let chosen =
        ["--id", "mine", "--product", "payroll", "--product", "invoicing", "--callback-id-token", "always"];
    let created = add_client(&installation, &chosen).with(&["--json"]).run().json();
    assert_eq!(
        (&created["products"], &created["callback_id_token"]),
        (&json!(["payroll", "invoicing"]), &json!("always"))
    );
    let set =
        |flags: &[&str]| installation.program(&["client", "set", "mine", "--json"]).with(flags).run().json();
    let changed = set(&["--product", "accounting"]);
    assert_eq!(
        (&changed["products"], &changed["callback_id_token"]),
        (&json!(["accounting"]), &json!("always"))
    );
    let values = [("never", "never"), ("auto", "auto"), ("false", "never"), ("true", "auto")];
    for (value, stored) in values {
        let changed = set(&["--callback-id-token", value]);
        assert_eq!(
            (&changed["products"], &changed["callback_id_token"]),
            (&json!(["accounting"]), &json!(stored))
        );
    }
    add_client(&installation, &["--product", "everything"]).run().code(2);
    add_client(&installation, &["--callback-id-token", "auto", "--no-callback-id-token"]).run().code(2);
}

#[test]
fn invalid_clients_are_refused() {
    let installation = Installation::new();
    add_client(&installation, &["--id", "mine"]).run().code(0);
    add_client(&installation, &["--id", "mine"]).run().expect_failure(5, "there is already");
    let wrong = "http://127.0.0.1:1/cb";
    add_client(&installation, &["--redirect-uri", wrong])
        .run()
        .expect_failure(2, &format!("the redirect address {wrong} must use https"));
    installation.program(&["client", "redirect", "mine", wrong]).run().expect_failure(2, "must use https");
    installation
        .program(&["client", "redirect", "nobody", CALLBACK])
        .run()
        .expect_failure(5, "there is no client \"nobody\"");
    installation
        .program(&["client", "rotate", "nobody"])
        .run()
        .expect_failure(5, "there is no client \"nobody\"");
    installation
        .program(&["client", "rotate", "mine", "--overlap", "soon"])
        .run()
        .expect_failure(2, "--overlap must be a duration");
    installation.program(&["client", "add", "Panel"]).run().code(2);
    assert_eq!(list(&installation, "client").as_array().unwrap().len(), 1);
}

#[test]
fn client_addresses_are_shown_and_removed() {
    let installation = Installation::new();
    let after = "https://app.example/bye";
    let all = ["--id", "mine", "--redirect-uri", "https://app.example/two", "--post-logout-uri", after];
    add_client(&installation, &all).run().code(0);
    let show = |flags: &[&str]| installation.program(&["client", "show", "mine"]).with(flags).run();
    let entry = show(&["--json"]).json();
    assert_eq!(json!([entry]), list(&installation, "client"));
    assert_eq!(
        show(&[]).code(0).stdout,
        format!(
            "client_id          mine\nname               Panel\nkind               web\nstatus             active\n\
             redirect_uris      {CALLBACK} https://app.example/two\npkce               if-sent\n\
             consent            false\ncallback_id_token  auto\n\
             products           accounting payroll invoicing\nteam               -\npost_logout_uris   {after}\n\
             backchannel_logout -\n"
        )
    );
    // Of the sandbox, with and without a team.
    let set = |flags: &[&str]| installation.program(&["client", "set", "mine"]).with(flags).run().code(0);
    let shows = |team: &str| {
        let shown = show(&[]).code(0).stdout;
        assert!(shown.contains(&format!("\nteam               {team}\n")), "{shown}");
    };
    set(&["--sandbox", "true"]);
    shows("- (sandbox)");
    installation.program(&["team", "add", "Panel", "--id", "panel"]).run().code(0);
    set(&["--team", "panel"]);
    shows("panel (sandbox)");
    set(&["--sandbox", "false"]);
    shows("panel");
    set(&["--team", ""]);
    shows("-");
    installation
        .program(&["client", "show", "nobody"])
        .run()
        .expect_failure(5, "there is no client \"nobody\"");

    let unredirect =
        |uris: &[&str]| installation.program(&["client", "unredirect", "mine", "--json"]).with(uris).run();
    unredirect(&["https://app.example/three"])
        .expect_failure(5, "there is no redirect address \"https://app.example/three\" at client \"mine\"");
    unredirect(&[CALLBACK, "https://app.example/two"])
        .expect_failure(2, "needs one redirect address at least");
    assert_eq!(unredirect(&[CALLBACK]).json()["redirect_uris"], json!(["https://app.example/two"]));

    let set = |uri: &str| {
        installation.program(&["client", "set", "mine", "--json", "--post-logout-uri", uri]).run()
    };
    set("http://app.example/")
        .expect_failure(2, "the address after sign-out http://app.example/ must use https");
    assert_eq!(show(&["--json"]).json()["post_logout_uris"], json!([after]));
    assert_eq!(set("").json()["post_logout_uris"], json!([]));

    let set = |uri: &str| {
        installation.program(&["client", "set", "mine", "--json", "--backchannel-logout-uri", uri]).run()
    };
    set("http://localhost:9000/")
        .expect_failure(2, "the address for back-channel logouts http://localhost:9000/ must use https");
    let logout = "https://app.example/backchannel-logout";
    assert_eq!(set(logout).json()["backchannel_logout_uri"], json!(logout));
    assert!(show(&[]).stdout.ends_with(&format!("\nbackchannel_logout {logout}\n")));
    assert_eq!(set("").json()["backchannel_logout_uri"], json!(null));
}

fn is_key(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn subscription_keys_come_in_pairs_and_are_printed_once() {
    let installation = Installation::new();
    let created = installation.program(&["key", "add", "Todo", "--json"]).run().json();
    let keys = [&created["primary_key"], &created["secondary_key"]].map(|key| key.as_str().unwrap());
    assert!(keys.iter().all(|key| is_key(key)) && keys[0] != keys[1], "{created}");
    assert_eq!(created["subscription"]["products"], json!(["accounting", "payroll", "invoicing"]));
    expect_not_stored_in_plain_text(&installation, keys[0]);
    let some = ["key", "add", "Nóminas", "--product", "payroll", "--product", "invoicing"];
    let finished = installation.program(&some).run().code(0);
    assert_eq!(finished.stdout.lines().count(), 3, "{finished:?}");
    assert_eq!(finished.stderr, "Store the keys safely. aldaba key reveal shows them again.\n");
    let listed = list(&installation, "key");
    let products: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["products"]).collect();
    assert!(products.contains(&&json!(["payroll", "invoicing"])), "{listed}");
    assert!(!listed.to_string().contains(keys[0]));
    let rows = installation.program(&["key", "list"]).run().code(0).stdout;
    assert!(rows.starts_with("SUBSCRIPTION") && rows.lines().count() == 3, "{rows}");
    installation.program(&["key", "add", "x", "--product", "nonsense"]).run().code(2);
}

#[test]
fn keys_are_rotated_suspended_and_resumed() {
    let installation = Installation::new();
    let created = installation.program(&["key", "add", "Todo", "--json"]).run().json();
    let id = created["subscription"]["id"].as_str().unwrap();
    for slot in ["primary", "secondary"] {
        let rotated = installation
            .program(&["key", "rotate", id, "--slot", slot, "--overlap", "0s", "--json"])
            .run()
            .json();
        let key = rotated["key"].as_str().unwrap();
        assert!(is_key(key) && created[format!("{slot}_key")] != key);
        expect_not_stored_in_plain_text(&installation, key);
    }
    let finished = installation.program(&["key", "rotate", id]).run().code(0);
    assert!(is_key(finished.stdout.trim()), "{finished:?}");
    assert_eq!(finished.stderr, "The old key remains valid for 24h.\n");
    let suspended = installation.program(&["key", "suspend", id, "--json"]).run().json();
    assert_eq!(suspended, json!({"id": id, "standing": "suspended"}));
    assert_eq!(list(&installation, "key")[0]["standing"], "suspended");
    installation.program(&["key", "resume", id]).run().code(0);
    assert_eq!(list(&installation, "key")[0]["standing"], "active");
    for action in ["suspend", "resume", "rotate"] {
        installation
            .program(&["key", action, "nobody"])
            .run()
            .expect_failure(5, "there is no subscription \"nobody\"");
    }
}

#[test]
fn subscription_is_shown_gets_a_quota_and_is_cancelled() {
    let installation = Installation::new();
    let created = installation.program(&["key", "add", "Todo", "--json"]).run().json();
    let id = created["subscription"]["id"].as_str().unwrap();
    let run = |arguments: &[&str]| installation.program(&["key"]).with(arguments).run();
    let quota = run(&["quota", id, "500", "--json"]).json();
    assert_eq!(quota, json!({"id": id, "daily_quota": 500}));
    run(&["rotate", id, "--overlap", "1h"]).code(0);
    let entry = run(&["show", id, "--json"]).json();
    let key = |slot| json!({"slot": slot, "valid_until": null, "last_used_at": null});
    assert_eq!([&entry["keys"][0], &entry["keys"][2]], [&key("primary"), &key("secondary")]);
    assert!(entry["keys"][1]["slot"] == "primary" && entry["keys"][1]["valid_until"].is_string(), "{entry}");
    assert_eq!(
        (&entry["daily_quota"], &entry["standing"], &entry["cancelled_at"]),
        (&json!(500), &json!("active"), &Value::Null)
    );
    let text = run(&["show", id]).code(0).stdout;
    let line = |text: &str, name: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned())).unwrap()
    };
    assert_eq!(["daily_quota", "status"].map(|name| line(&text, name)), ["500", "active"]);
    assert_eq!(line(&text, "KEY").split_whitespace().collect::<Vec<_>>(), ["VALID_UNTIL", "LAST_USED"]);
    assert_eq!(
        run(&["quota", id, "none"]).code(0).stderr,
        format!("subscription {id} has the configured quota\n")
    );
    for wrong in ["0", "many", "1.5", "1000000000001"] {
        run(&["quota", id, wrong])
            .expect_failure(2, "must be a whole number from 1 to 1000000000000, or none");
    }

    run(&["cancel", id]).expect_failure(2, "cancelling deletes its keys and cannot be undone");
    assert_eq!(run(&["show", id, "--json"]).json()["standing"], "active", "nothing was changed");
    let finished = run(&["cancel", id, "--yes"]).code(0);
    assert_eq!(
        (finished.stdout, finished.stderr),
        (String::new(), format!("subscription {id} is cancelled\n"))
    );
    let over = run(&["show", id, "--json"]).json();
    assert!(over["cancelled_at"].is_string(), "{over}");
    assert_eq!((&over["standing"], &over["keys"]), (&json!("cancelled"), &json!([])));
    assert_eq!(list(&installation, "key")[0]["standing"], "cancelled");
    assert_eq!(run(&["cancel", id, "--yes", "--json"]).json()["cancelled_at"], over["cancelled_at"]);
    for action in [&["suspend"][..], &["resume"], &["rotate"], &["quota", id, "5"]] {
        let arguments = if action.len() == 1 { vec![action[0], id] } else { action.to_vec() };
        run(&arguments).expect_failure(5, "is cancelled permanently; create a new one instead");
    }
    for arguments in [&["show", "nobody"][..], &["cancel", "nobody", "--yes"], &["quota", "nobody", "5"]] {
        run(arguments).expect_failure(5, "there is no subscription \"nobody\"");
    }
}
