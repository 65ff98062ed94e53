//! `aldaba changes`: sample lines come out, lines go in, into a store or through a running service.

use serde_json::{Value, json};

use crate::harness::{Installation, Program, ServeProcess, bank, charge, ndjson, shared_server};

fn generated(seed: &str) -> String {
    let done = Program::new(&["changes", "generate", "--seed", seed, "--companies", "2"]).run().code(0);
    assert_eq!(done.stderr, "");
    done.stdout
}

fn apply<'a>(installation: &'a Installation, arguments: &'a [&str]) -> impl Fn(&str) -> Program + 'a {
    |input| installation.program(&["changes", "apply", "-"]).with(arguments).input(input)
}

#[test]
fn the_same_seed_makes_the_same_lines() {
    let (first, again, other) = (generated("7"), generated("7"), generated("8"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.lines().count() > 100);
    assert!(first.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["action"].is_string()));
}

#[test]
fn what_generate_makes_apply_takes_and_the_second_time_nothing_happens() {
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
    let done = run(&lines).run().code(0);
    let head = first["lastSequenceVersion"].as_str().unwrap();
    assert_eq!(done.stdout, format!("{count} accepted, 0 rejected; lastSequenceVersion {head}\n"));
    assert_eq!(done.stderr, "", "no progress bar off a terminal");
}

#[test]
fn a_file_does_as_well_as_standard_input_and_a_key_makes_it_repeatable() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let file = installation.path().join("changes.ndjson");
    std::fs::write(&file, ndjson(&[bank("1", "a"), bank("2", "b")])).unwrap();
    let path = file.to_str().unwrap();
    let load = ["changes", "apply", path, "--tenant", "uno", "--idempotency-key", "load", "--json"];
    let first = installation.program(&load).run().json();
    assert_eq!(installation.program(&load).run().json(), first, "processId and all");
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
fn rejected_lines_end_with_6_and_are_told() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let mut nameless = bank("", "b");
    nameless.as_object_mut().unwrap().remove("correlationId");
    let body = ndjson(&[bank("1", "a"), charge("nowhere", "x", 1), nameless]);
    let run = apply(&installation, &["--tenant", "uno"]);
    let done = run(&body).run().code(6);
    assert_eq!(done.stdout, "2 accepted, 1 rejected; lastSequenceVersion 2\n");
    assert_eq!(done.stderr, "line 2: there is no company \"nowhere\"\n");
    let done = run(&body).with(&["--json"]).run().code(6);
    let answer = done.only_line();
    assert_eq!(done.stderr, "");
    assert_eq!((&answer["accepted"], &answer["rejected"]), (&json!(2), &json!(1)));
    assert_eq!(answer["errors"][0]["code"], "unknown_company");
    assert_eq!(answer["ids"][0]["line"], 3, "the command line tells made ids as the door does");
    run(&body).with(&["--tenant", "nadie"]).run().code(2);
    apply(&installation, &["--tenant", "nadie"])(&body)
        .run()
        .expect_failure(5, "there is no tenant \"nadie\"");
}

#[test]
fn a_running_service_takes_them_too() {
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
    let bad = Program::new(&url)
        .with(&["--tenant", &ingest.tenant, "--token", &token])
        .input("nonsense\n")
        .run()
        .code(6);
    assert_eq!(bad.only_line()["errors"][0]["code"], "invalid_json");
}

#[test]
fn a_service_that_is_not_there_is_told() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let url = server.operator_url.clone();
    server.stop();
    let send = |url: &str| {
        Program::new(&["changes", "apply", "-", "--tenant", "t", "--token", "x", "--url", url]).run()
    };
    send(&url).expect_failure(1, &url);
    send("https://api.example.com").expect_failure(2, "--url takes an http:// address");
    Program::new(&["changes", "apply", "-", "--tenant", "t", "--url", &url]).run().code(2);
}

#[test]
fn a_refusal_comes_through_although_the_body_is_still_being_sent() {
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
