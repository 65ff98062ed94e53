//! What an operator watches: probes, measures and the log.

use serde_json::{Value, json};

use crate::harness::{Call, Serve, Site, bank, charge, ndjson, shared};

#[test]
fn both_listeners_say_that_they_live_and_are_ready() {
    let serve = shared();
    for side in [&serve.public_url, &serve.operator_url] {
        let alive = Call::get(&format!("{side}/livez")).send();
        assert_eq!((alive.status, alive.json()), (200, json!({"status": "alive"})));
    }
    let ready = Call::get(&format!("{}/readyz", serve.public_url)).send();
    assert_eq!((ready.status, ready.json()), (200, json!({"status": "ready"})), "no details in public");
    let ready = Call::get(&format!("{}/readyz", serve.operator_url)).send();
    assert_eq!(ready.status, 200);
    let body = ready.json();
    let schema = body["schema"].as_i64().unwrap();
    assert!(schema >= 1);
    assert_eq!(body, json!({"status": "ready", "store": "ok", "schema": schema, "draining": false}));
}

/// The samples of a measure: its labels as they are written, and its value.
fn samples<'a>(text: &'a str, name: &str) -> Vec<(&'a str, f64)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.rsplit_once(' '));
    lines.map(|(labels, value)| (labels, value.parse().unwrap())).collect()
}

/// The values of all labels in the text.
fn label_values(text: &str) -> Vec<&str> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

#[test]
fn the_measures_count_and_name_nobody() {
    let serve = Serve::start(Site::new(), &[]);
    let door = serve.new_tenant();
    let body = ndjson(&[bank("secret-record", "a"), charge("nowhere", "x", 1), bank("2", "b")]);
    for _ in 0..2 {
        door.send_under("secret-key", body.clone());
    }
    door.call().header("authorization", "Bearer secret-token").send().problem(401);
    Call::get(&format!("{}/secret-path?secret=1", serve.operator_url)).send().problem(404);
    Call::get(&format!("{}/livez", serve.public_url)).send();

    let measures = Call::get(&format!("{}/metrics", serve.operator_url)).send();
    assert_eq!(measures.status, 200);
    assert_eq!(measures.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = measures.text();
    assert!(text.ends_with("# EOF\n"), "{text}");
    for (name, value) in [("aldaba_changes_accepted_total", 2.0), ("aldaba_changes_rejected_total", 1.0)] {
        assert_eq!(samples(text, name), [("", value)], "a retry that brings nothing in counts nothing");
    }
    let mut requests = samples(text, "aldaba_http_requests_total");
    requests.sort_unstable_by_key(|(labels, _)| *labels);
    let door_route = "route=\"/operator/v1/tenants/{tenant}/changes\"";
    assert_eq!(
        requests,
        [
            (r#"{side="operator",method="GET",route="none",status="404"}"#, 1.0),
            (&*format!("{{side=\"operator\",method=\"POST\",{door_route},status=\"200\"}}"), 2.0),
            (&*format!("{{side=\"operator\",method=\"POST\",{door_route},status=\"401\"}}"), 1.0),
            (r#"{side="public",method="GET",route="/livez",status="200"}"#, 1.0),
        ]
    );
    let ours = [door.tenant.as_str(), "secret", "http:", &serve.site.token()];
    for value in label_values(text) {
        assert!(!ours.iter().any(|word| value.contains(word)), "{value}");
    }
    Call::get(&format!("{}/metrics", serve.public_url)).send().problem(404);
}

#[test]
fn a_made_up_method_makes_no_series_of_its_own() {
    let serve = shared();
    let made_up = hyper::Method::from_bytes(b"FROBNICATE").unwrap();
    Call::new(made_up, &format!("{}/livez", serve.public_url)).send().problem(405);
    let text = Call::get(&format!("{}/metrics", serve.operator_url)).send();
    assert!(!text.text().contains("FROBNICATE") && text.text().contains("method=\"other\""));
}

#[test]
fn the_log_is_json_off_a_terminal() {
    let serve = Serve::start(Site::new(), &["--set", "logging.level=debug"]);
    let door = serve.new_tenant();
    door.send_lines(&[bank("1", "a")]);
    door.call().header("x-request-id", "the-one").header("authorization", "").send().problem(401);
    let token = serve.site.token();
    let done = serve.running.stop();
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
    let lines: Vec<Value> = done.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for line in &lines {
        assert!(
            line["timestamp"].is_string() && line["level"].is_string() && line["message"].is_string(),
            "{line}"
        );
    }
    let answered = |line: &&Value| line["message"] == "answered" && line["requestId"] == "the-one";
    let refused = lines.iter().find(answered).expect("the request's own line");
    assert_eq!((&refused["status"], &refused["level"]), (&json!(401), &json!("DEBUG")));
    assert!(!done.stderr.contains(&token), "the token is nowhere in the log");
}

#[test]
fn the_log_can_be_text_too() {
    let serve = Serve::start(Site::new(), &[]);
    let site = serve.stop();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"];
    let running = site.program(&arguments).variable("ALDABA__LOGGING__FORMAT", "text").start();
    let line =
        crate::harness::until("a line", || Some(running.stderr()).filter(|said| said.contains("serving")));
    assert!(line.contains("INFO serving public=127.0.0.1:"), "{line}");
}

#[test]
fn a_backup_takes_no_other_files_place_unasked() {
    let site = Site::new();
    let file = site.path().join("a.backup");
    std::fs::write(&file, "mine").unwrap();
    let backup =
        |flags: &[&str]| site.program(&["store", "backup", file.to_str().unwrap()]).with(flags).run();
    backup(&[]).refused(5, &format!("{} is there already", file.display()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    backup(&["--force", "--json"]).json();
    assert_ne!(std::fs::read_to_string(&file).unwrap(), "mine");
}
