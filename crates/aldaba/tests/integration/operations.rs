//! What operators monitor: probes, metrics and the log.

use serde_json::{Value, json};

use crate::harness::{
    ApiFixture, Database, DatabaseProxy, EmbeddedServer, HttpRequest, Installation, OperatorApi, PASSWORD,
    ServeProcess, SubscriptionKeys, bank, charge, ndjson, shared_server, wait_for,
};

#[test]
fn both_listeners_answer_liveness_and_readiness_probes() {
    let server = shared_server();
    for side in [&server.public_url, &server.operator_url] {
        let alive = HttpRequest::get(&format!("{side}/livez")).send();
        assert_eq!((alive.status, alive.json()), (200, json!({"status": "alive"})));
    }
    let ready = HttpRequest::get(&format!("{}/readyz", server.public_url)).send();
    assert_eq!(
        (ready.status, ready.json()),
        (200, json!({"status": "ready"})),
        "the public probe has no details"
    );
    let ready = HttpRequest::get(&format!("{}/readyz", server.operator_url)).send();
    assert_eq!(ready.status, 200);
    let body = ready.json();
    let schema = body["schema"].as_i64().unwrap();
    assert!(schema >= 1);
    assert_eq!(body, json!({"status": "ready", "store": "ok", "schema": schema, "draining": false}));
}

/// The samples of a metric: labels as written, and value.
fn samples<'a>(text: &'a str, name: &str) -> Vec<(&'a str, f64)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.rsplit_once(' '));
    lines.map(|(labels, value)| (labels, value.parse().unwrap())).collect()
}

/// All label values in the text.
fn label_values(text: &str) -> Vec<&str> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

#[test]
fn metrics_count_and_contain_no_identifiers() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let ingest = server.ingest_for_new_tenant();
    let body = ndjson(&[bank("secret-record", "a"), charge("nowhere", "x", 1), bank("2", "b")]);
    for _ in 0..2 {
        ingest.send_with_idempotency_key("secret-key", body.clone());
    }
    ingest.request().header("authorization", "Bearer secret-token").send().problem(401);
    HttpRequest::get(&format!("{}/secret-path?secret=1", server.operator_url)).send().problem(404);
    HttpRequest::get(&format!("{}/livez", server.public_url)).send();

    let metrics = HttpRequest::get(&format!("{}/metrics", server.operator_url)).send();
    assert_eq!(metrics.status, 200);
    assert_eq!(metrics.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = metrics.text();
    for (name, value) in [("aldaba_changes_accepted_total", 2.0), ("aldaba_changes_rejected_total", 1.0)] {
        assert_eq!(samples(text, name), [("", value)], "a retry without effect is not counted");
    }
    let mut requests = samples(text, "aldaba_http_requests_total");
    requests.sort_unstable_by_key(|(labels, _)| *labels);
    let door_route = "route=\"/operator/v1/tenants/{tenant}/changes\"";
    assert_eq!(
        requests,
        [
            (r#"{side="operator",method="GET",route="none",status="404"}"#, 1.0),
            (r#"{side="operator",method="POST",route="/operator/v1/tenants",status="201"}"#, 1.0),
            (&*format!("{{side=\"operator\",method=\"POST\",{door_route},status=\"200\"}}"), 2.0),
            (&*format!("{{side=\"operator\",method=\"POST\",{door_route},status=\"401\"}}"), 1.0),
            (r#"{side="public",method="GET",route="/livez",status="200"}"#, 1.0),
        ]
    );
    let identifiers = [ingest.tenant.as_str(), "secret", "http:", &server.installation.token()];
    for value in label_values(text) {
        assert!(!identifiers.iter().any(|word| value.contains(word)), "{value}");
    }
    HttpRequest::get(&format!("{}/metrics", server.public_url)).send().problem(404);
}

/// In a process of its own, because errors of the store are counted for the whole process.
#[test]
fn metrics_show_build_store_and_backlog() {
    let server = ServeProcess::start(Installation::new(), &[]);
    server.ingest_for_new_tenant().send_lines(&[bank("1", "a")]);
    let url = format!("{}/metrics", server.operator_url);
    let metrics = HttpRequest::get(&url).send();
    let text = metrics.text();
    let version = format!("{{version=\"{}\",commit=", env!("CARGO_PKG_VERSION"));
    let build = samples(text, "aldaba_build_info");
    assert!(matches!(&build[..], [(labels, 1.0)] if labels.starts_with(&version)), "{build:?}");
    let durations = samples(text, "aldaba_store_operation_duration_seconds_count");
    for class in ["query", "transaction", "changes"] {
        let label = format!("{{class=\"{class}\"}}");
        assert!(durations.iter().any(|(labels, count)| *labels == label && *count > 0.0), "{durations:?}");
    }
    for kind in ["unavailable", "full", "internal"] {
        assert!(text.contains(&format!("aldaba_store_errors_total{{kind=\"{kind}\"}} 0\n")), "{text}");
    }
    for name in ["webhook_events_behind", "webhooks_failing", "webhooks_disabled", "webhooks_suspended"] {
        assert_eq!(samples(text, &format!("aldaba_{name}")), [("", 0.0)], "{name}");
    }
    assert_eq!(samples(text, "aldaba_webhook_oldest_undelivered_age_seconds"), [("", 0.0)]);

    let open = HttpRequest::get(&url).header("accept", "application/openmetrics-text; version=1.0.0").send();
    assert_eq!(open.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(open.text().ends_with("# EOF\n"), "{}", open.text());
}

/// The log lines with this message.
fn log_lines(log: &str, message: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

#[test]
fn log_says_why_the_service_answers_503_and_when_it_has_stopped() {
    let database = Database::create();
    let proxy = DatabaseProxy::to(&database.url());
    let server = ServeProcess::start(Installation::with_store(proxy.url()), &[]);
    let ingest = server.ingest_for_new_tenant();
    let ready = || HttpRequest::get(&format!("{}/readyz", server.operator_url)).send().status;
    assert_eq!(ready(), 200);
    let took_shards = || server.process.stderr().contains("took free shards");
    wait_for("the shards", || took_shards().then_some(()));
    proxy.disconnect();
    wait_for("the outage to be noticed", || (ready() == 503).then_some(()));
    assert_eq!(ready(), 503);
    let refused = ingest.request().body(ndjson(&[bank("1", "a")])).send();
    refused.problem(503);
    proxy.restore();
    wait_for("the store to answer again", || (ready() == 200).then_some(()));

    let finished = server.process.stop();
    let log = &finished.stderr;
    assert_eq!(finished.code, Some(0), "{log}");
    let not_ready = log_lines(log, "not ready");
    assert!(not_ready[0]["reason"].as_str().unwrap().contains("the store cannot be reached: "), "{log}");
    assert_eq!(log_lines(log, "ready again").len(), 1, "{log}");
    let causes = log_lines(log, "the store is unavailable");
    assert!(causes.iter().any(|line| line["requestId"].is_string() && line["error"].is_string()), "{log}");
    let requests = log_lines(log, "request completed");
    assert!(requests.iter().all(|line| line["status"] == 503 && line["address"] == "127.0.0.1"), "{log}");
    let shards = log_lines(log, "took free shards");
    assert_eq!((&shards[0]["shards"], &shards[0]["held"]), (&json!(256), &json!(256)), "{log}");
    assert_eq!(log_lines(log, "released all shards for other nodes").len(), 1, "{log}");
    let end: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert!(end["message"] == "stopped in order" && end["seconds"].is_f64(), "{end}");
}

#[test]
fn unknown_method_adds_no_metric_series() {
    let server = shared_server();
    let made_up = hyper::Method::from_bytes(b"FROBNICATE").unwrap();
    HttpRequest::new(made_up, &format!("{}/livez", server.public_url)).send().problem(405);
    let text = HttpRequest::get(&format!("{}/metrics", server.operator_url)).send();
    assert!(!text.text().contains("FROBNICATE") && text.text().contains("method=\"other\""));
}

#[test]
fn log_is_json_without_a_terminal() {
    let server = ServeProcess::start(Installation::new(), &["logging.level=debug"]);
    let ingest = server.ingest_for_new_tenant();
    ingest.send_lines(&[bank("1", "a")]);
    ingest.request().header("x-request-id", "the-one").header("authorization", "").send().problem(401);
    let token = server.installation.token();
    let finished = server.process.stop();
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""));
    let lines: Vec<Value> =
        finished.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for line in &lines {
        assert!(
            line["timestamp"].is_string() && line["level"].is_string() && line["message"].is_string(),
            "{line}"
        );
    }
    let answered = |line: &&Value| line["message"] == "request completed" && line["requestId"] == "the-one";
    let refused = lines.iter().find(answered).expect("the log line of the request");
    assert_eq!((&refused["status"], &refused["level"]), (&json!(401), &json!("DEBUG")));
    assert_eq!(refused["address"], "127.0.0.1");
    assert!(!finished.stderr.contains(&token), "the log does not contain the token");
}

#[test]
fn log_contains_no_secret_of_a_client_a_subscription_or_a_user() {
    let server = ServeProcess::start(Installation::new(), &["logging.level=debug"]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let fixture = ApiFixture::on(&server, &keys);
    let credentials = fixture.credentials();
    for key in [&keys.primary, &keys.secondary] {
        assert_eq!(credentials.with_key(key).status(&server, "/accounting/api/companies"), 200);
    }
    let (sign_in, new_password) = (&fixture.sign_in, "otra contraseña");
    let user = format!("/users/{}", sign_in.email);
    assert_eq!(OperatorApi(&server).patch(&user, &json!({"password": new_password})).status, 200);
    let browser = sign_in.browser();
    let form = browser.start_authorization(&sign_in.authorization_request()).form("post");
    assert_eq!(sign_in.try_password(&browser, &form, PASSWORD).status, 400);
    assert_ne!(sign_in.try_password(&browser, &form, new_password).status, 400);
    let secret = sign_in.app.secret.clone();
    let installation_token = server.installation.token();
    drop(fixture);
    let log = server.process.stop().stderr;
    assert!(!log_lines(&log, "request completed").is_empty(), "{log}");
    let secrets = [&secret, &keys.primary, &keys.secondary, PASSWORD, new_password, &installation_token];
    for secret in secrets {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn log_can_be_text() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let installation = server.stop();
    let arguments = [
        "--set",
        "server.drain_delay=0s",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--operator-listen",
        "127.0.0.1:0",
    ];
    let process = installation.program(&arguments).variable("ALDABA__LOGGING__FORMAT", "text").start();
    let line = wait_for("a line", || Some(process.stderr()).filter(|said| said.contains("serving")));
    assert!(line.contains("INFO serving public=127.0.0.1:"), "{line}");
}

#[test]
fn backup_overwrites_no_file_without_force() {
    let installation = Installation::new();
    let file = installation.path().join("a.backup");
    std::fs::write(&file, "mine").unwrap();
    let backup =
        |flags: &[&str]| installation.program(&["store", "backup", file.to_str().unwrap()]).with(flags).run();
    backup(&[]).expect_failure(5, &format!("{} already exists", file.display()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    backup(&["--force", "--json"]).json();
    assert_ne!(std::fs::read_to_string(&file).unwrap(), "mine");
}
