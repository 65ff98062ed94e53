//! `aldaba changes`: generates sample lines, and applies lines to a store or through a running service.

use serde_json::{Value, json};

use crate::harness::{EmbeddedServer, Installation, Program, bank, charge, ndjson, shared_server};

fn generated(seed: &str) -> String {
    let finished = Program::new(&["changes", "generate", "--seed", seed, "--companies", "2"]).run().code(0);
    assert_eq!(finished.stderr, "");
    finished.stdout
}

fn apply<'a>(installation: &'a Installation, arguments: &'a [&str]) -> impl Fn(&str) -> Program + 'a {
    |input| installation.program(&["changes", "apply", "-"]).with(arguments).input(input)
}

#[test]
fn same_seed_generates_same_lines() {
    let (first, again, other) = (generated("7"), generated("7"), generated("8"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.lines().count() > 100);
    assert!(first.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["action"].is_string()));
}

#[test]
fn generated_lines_apply_once() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let lines = generated("7");
    let count = lines.lines().count();
    let run = apply(&installation, &["--tenant", "uno"]);
    let first = run(&lines).with(&["--json"]).run().json();
    assert_eq!((&first["accepted"], &first["rejected"]), (&json!(count), &json!(0)), "{first}");
    let second = run(&lines).with(&["--json"]).run().json();
    assert_eq!(second["accepted"], count);
    assert_eq!(second["lastSequenceVersion"], first["lastSequenceVersion"], "no new events");
    let finished = run(&lines).run().code(0);
    let head = first["lastSequenceVersion"].as_str().unwrap();
    assert_eq!(finished.stdout, format!("{count} accepted, 0 rejected; lastSequenceVersion {head}\n"));
    assert_eq!(finished.stderr, "", "no progress bar off a terminal");
}

#[test]
fn lines_are_read_from_a_file_and_a_key_makes_apply_idempotent() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let file = installation.path().join("changes.ndjson");
    std::fs::write(&file, ndjson(&[bank("1", "a"), bank("2", "b")])).unwrap();
    let path = file.to_str().unwrap();
    let load = ["changes", "apply", path, "--tenant", "uno", "--idempotency-key", "load", "--json"];
    let first = installation.program(&load).run().json();
    assert_eq!(installation.program(&load).run().json(), first, "the same response, including processId");
    std::fs::write(&file, ndjson(&[bank("1", "other")])).unwrap();
    installation
        .program(&load)
        .run()
        .expect_failure(5, "another body was sent under this Idempotency-Key before");
    installation
        .program(&["changes", "apply", "/nowhere.ndjson", "--tenant", "uno"])
        .run()
        .expect_failure(1, "/nowhere.ndjson");
}

#[test]
fn rejected_lines_are_reported_and_exit_with_6() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let mut without_id = bank("", "b");
    without_id.as_object_mut().unwrap().remove("correlationId");
    let body = ndjson(&[bank("1", "a"), charge("nowhere", "x", 1), without_id]);
    let run = apply(&installation, &["--tenant", "uno"]);
    let finished = run(&body).run().code(6);
    assert_eq!(finished.stdout, "2 accepted, 1 rejected; lastSequenceVersion 2\n");
    assert_eq!(finished.stderr, "line 2: there is no company \"nowhere\"\n");
    let finished = run(&body).with(&["--json"]).run().code(6);
    let answer = finished.only_line();
    assert_eq!(finished.stderr, "");
    assert_eq!((&answer["accepted"], &answer["rejected"]), (&json!(2), &json!(1)));
    assert_eq!(answer["errors"][0]["code"], "unknown_company");
    assert_eq!(answer["ids"][0]["line"], 3, "the command reports generated ids like the ingest API");
    run(&body).with(&["--tenant", "nadie"]).run().code(2);
    apply(&installation, &["--tenant", "nadie"])(&body)
        .run()
        .expect_failure(5, "there is no tenant \"nadie\"");
}

#[test]
fn changes_are_applied_through_a_running_service() {
    let server = shared_server();
    let ingest = server.ingest_for_new_tenant();
    let token = server.installation.token();
    let lines = generated("9");
    let count = lines.lines().count();
    let url = ["changes", "apply", "-", "--url", &server.operator_url, "--json"];
    let send = |tenant: &str, token: &str| {
        Program::new(&url)
            .with(&["--tenant", tenant])
            .variable("ALDABA_OPERATOR_TOKEN", token)
            .input(lines.as_str())
            .run()
    };
    let first = send(&ingest.tenant, &token).json();
    assert_eq!((&first["accepted"], &first["rejected"]), (&json!(count), &json!(0)));
    let second = send(&ingest.tenant, &token).json();
    assert_eq!(second["lastSequenceVersion"], first["lastSequenceVersion"]);
    assert_eq!(ingest.head().to_string(), first["lastSequenceVersion"].as_str().unwrap());
    send("nadie", &token).expect_failure(5, "There is no tenant \"nadie\".");
    send(&ingest.tenant, "wrong").expect_failure(1, "The operator's token is wrong.");
    let wrong_token = Program::new(&url)
        .with(&["--tenant", &ingest.tenant, "--token", &token])
        .input("nonsense\n")
        .run()
        .code(6);
    assert_eq!(wrong_token.only_line()["errors"][0]["code"], "invalid_json");
}

#[test]
fn unreachable_service_is_reported() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let url = server.operator_url.clone();
    server.stop();
    let send = |url: &str| {
        Program::new(&["changes", "apply", "-", "--tenant", "t", "--token", "x", "--url", url]).run()
    };
    send(&url).expect_failure(1, &url);
    send("https://api.example.com").expect_failure(2, "--url must be an http:// URL");
    Program::new(&["changes", "apply", "-", "--tenant", "t", "--url", &url]).run().code(2);
}

#[test]
fn refusal_is_reported_while_the_body_is_still_being_sent() {
    let server = shared_server();
    let ingest = server.ingest_for_new_tenant();
    let long = vec![b' '; 20 * 1024 * 1024];
    let url = [
        "changes",
        "apply",
        "-",
        "--url",
        &server.operator_url,
        "--tenant",
        &ingest.tenant,
        "--token",
        "wrong",
    ];
    Program::new(&url).input(long).run().expect_failure(1, "The operator's token is wrong.");
}
