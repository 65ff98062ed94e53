//! Runs the shell lines of the README's walkthrough and of `docs/integrating.md`, in order, in one shell, against a
//! real `aldaba dev`, and compares the lines that dev prints with the README's.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{FinishedProcess, Program, RunningProcess, claims, is_guid, wait_for};

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SEPARATOR: &str = "=== next";
const SIGNATURE_HEADERS: [&str; 2] = ["svc-webhook-signature", "webhook-signature"];

/// The shell blocks of the walkthrough.
fn blocks() -> Vec<String> {
    let readme = read("README.md");
    let section =
        readme.split("\n## ").find(|section| section.starts_with("The first five minutes in a shell"));
    fenced(section.unwrap())
}

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(WORKSPACE).join(file)).unwrap()
}

fn fenced(text: &str) -> Vec<String> {
    text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Starts dev without `--json` and waits for the page that it prints. Commands with the same folder find it.
fn dev(runtime_folder: &Path) -> (RunningProcess, String) {
    let process = Program::new(&["dev", "--listen", "127.0.0.1:0"]).runtime_folder(runtime_folder).start();
    let page =
        wait_for("the page", || Some(process.stdout()).filter(|output| output.contains("Stop with Ctrl-C.")));
    (process, page)
}

fn exports(page: &str) -> Vec<&str> {
    page.lines().map(str::trim).filter(|line| line.starts_with("export ") && !line.contains("$(")).collect()
}

/// Runs the blocks in a shell that has only the variables that dev exports. What a command prints must end with a line break:
/// the separator after each block is a line of its own only then.
fn shell(page: &str, runtime_folder: &Path, blocks: &[String]) -> FinishedProcess {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "set -euo pipefail\n{}\n{}",
        exports(page).join("\n"),
        blocks.join(&format!("\necho '{SEPARATOR}'\n"))
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("XDG_RUNTIME_DIR", runtime_folder)
        .env("HOME", folder.path());
    RunningProcess::start(with_folder(bash, folder.path())).wait_for_exit()
}

fn with_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

/// The output of each block.
#[track_caller]
fn outputs(finished: &FinishedProcess) -> Vec<&str> {
    let all = finished.stdout.matches(SEPARATOR).count();
    let lines = finished.stdout.lines().filter(|line| *line == SEPARATOR).count();
    assert_eq!(lines, all, "an answer has no line break at its end: {}", finished.stdout);
    finished.stdout.split(SEPARATOR).map(str::trim).collect()
}

/// The JSON values that a block printed; text before the first value is skipped.
#[track_caller]
fn values(output: &str) -> Vec<Value> {
    let from = output.find(['{', '[']).unwrap_or(output.len());
    let all = serde_json::Deserializer::from_str(&output[from..]).into_iter::<Value>();
    all.map(|value| value.unwrap_or_else(|error| panic!("{error} in {output}"))).collect()
}

/// The deliveries that the receiver listed at the end of a block.
#[track_caller]
fn deliveries(output: &str) -> Vec<Value> {
    values(output).pop().unwrap_or_else(|| panic!("nothing in {output}")).as_array().unwrap().clone()
}

#[track_caller]
fn expect_delivery(delivery: &Value, event: &str, status: u16) {
    assert_eq!((&delivery["event"], &delivery["status"]), (&json!(event), &json!(status)), "{delivery}");
    assert_eq!(
        (&delivery["signature"], &delivery["verified"]),
        (&json!("valid"), &json!(SIGNATURE_HEADERS)),
        "{delivery}"
    );
}

#[test]
fn readme_walkthrough_works() {
    let runtime = tempfile::tempdir().unwrap();
    let (mut process, page) = dev(runtime.path());
    let blocks = blocks();
    assert_eq!(blocks.len(), 11);
    let finished = shell(&page, runtime.path(), &blocks).code(0);
    let using = format!("no configuration given: using the running dev at http://127.0.0.1:{}", port(&page));
    let (found, others): (Vec<&str>, Vec<&str>) =
        finished.stderr.lines().partition(|line| line.starts_with(&using));
    let secret = "The secret is shown only now. Store it safely.";
    assert_eq!((found.len(), &others[..]), (2, &[secret][..]), "{finished:?}");
    let output = outputs(&finished);
    let [code, exchanged, both, companies, customers, ..] = output[..] else { panic!("{output:?}") };
    assert_eq!((code, both), ("", ""), "their output goes into variables");
    let tokens = &values(exchanged)[0];
    for token in ["access_token", "id_token", "refresh_token"] {
        assert!(tokens[token].as_str().is_some_and(|token| token.len() > 20), "{tokens}");
    }
    let exported = exports(&page);
    let company = exported.iter().find_map(|line| line.strip_prefix("export COMPANY=")).unwrap();
    let ids: Vec<Value> =
        values(companies)[0].as_array().unwrap().iter().map(|one| one["correlationId"].clone()).collect();
    assert!(ids.contains(&json!(company.trim_matches('\''))), "{company} is not among {ids:?}");
    assert_eq!(values(customers)[0].as_array().unwrap().len(), 3);
    check_delivery_blocks(&output[5..10]);
    check_commands(output[10]);
    let log = process.stderr();
    for line in ["Acknowledge", "CustomerCreated", "CustomerUpdated"] {
        let valid =
            |output: &str| output.contains(line) && output.contains("signature valid (svc-webhook-signature");
        assert!(log.lines().any(valid), "{line} is not in {log}");
    }
    assert!(log.contains("answered 500, time 2\n"), "{log}");
    assert!(!format!("{page}{log}").contains('\u{1b}'), "no colours without a terminal");
    process.interrupt();
    let finished = process.wait_for_exit();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

/// The port of the APIs.
fn port(page: &str) -> &str {
    let base = exports(page).into_iter().find_map(|line| line.strip_prefix("export BASE="));
    base.and_then(|base| base.rsplit(':').next()).unwrap()
}

/// Checks what the commands beside dev printed: a client, a token for it, the attempts of the webhook.
#[track_caller]
fn check_commands(output: &str) {
    let token = output.lines().find(|line| line.split('.').count() == 3 && line.starts_with("ey")).unwrap();
    let id = output.lines().find_map(|line| line.strip_prefix("client_id")).unwrap().trim();
    assert_eq!(
        (&claims(token)["client_id"], &claims(token)["scope"]),
        (&json!(id), &json!(["openid", "email"]))
    );
    assert!(
        output.contains("Svc.ACC.Customers.CustomerUpdated") || output.contains("CustomerUpdated"),
        "{output}"
    );
}

/// Checks the blocks from the subscription to the replay.
#[track_caller]
fn check_delivery_blocks(output: &[&str]) {
    let [subscribed, changed, failing, recovered, replayed] = output else { panic!("{output:?}") };
    assert!(is_guid(values(subscribed)[0]["webhookId"].as_str().unwrap()), "{subscribed}");
    expect_delivery(&deliveries(subscribed)[0], "Acknowledge", 200);

    assert_eq!(values(changed)[0]["accepted"], 2, "an account and its customer: {changed}");
    let created = deliveries(changed).pop().unwrap();
    expect_delivery(&created, "CustomerCreated", 200);
    assert_eq!(created["record"], "hotel");

    assert!(failing.starts_with("fail: "), "{failing}");
    let all = deliveries(failing);
    let [.., first, second] = &all[..] else { panic!("{failing}") };
    expect_delivery(first, "CustomerUpdated", 500);
    expect_delivery(second, "CustomerUpdated", 500);
    assert_eq!((&second["id"], &second["time"]), (&first["id"], &json!(2)), "a retry");

    assert!(recovered.starts_with("ok: "), "{recovered}");
    let last = deliveries(recovered).pop().unwrap();
    expect_delivery(&last, "CustomerUpdated", 200);
    assert_eq!((&last["id"], &last["body"]), (&first["id"], &first["body"]), "the retry has the same body");

    let all = deliveries(replayed);
    let again: BTreeSet<&str> = all[all.len() - 2..].iter().map(|one| one["id"].as_str().unwrap()).collect();
    let before = [&created["id"], &first["id"]].map(|id| id.as_str().unwrap());
    assert_eq!(again, before.into_iter().collect(), "both deliveries are replayed with their ids");
}

#[test]
fn integration_guide_works() {
    let runtime = tempfile::tempdir().unwrap();
    let (process, page) = dev(runtime.path());
    let finished = shell(&page, runtime.path(), &fenced(&read("docs/integrating.md"))).code(0);
    assert_eq!(finished.stderr, "", "{}", finished.stdout);
    let output = outputs(&finished);
    let [access, refreshed, introspected, paged, filtered, feed, webhooks, documents] = output[..] else {
        panic!("{output:?}")
    };
    assert_eq!((access, documents), ("", ""), "{documents}");
    assert!(values(refreshed)[0]["refresh_token"].is_string(), "{refreshed}");
    assert_eq!(values(introspected)[0]["active"], true, "{introspected}");
    let (head, rows) = paged.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200") && head.to_lowercase().contains("\nlink: "), "{head}");
    for name in ["x-pagination: ", "x-sequence-version: ", "etag: "] {
        assert!(head.to_lowercase().contains(name), "{name} is not in {head}");
    }
    assert_eq!(values(rows)[0].as_array().unwrap().len(), 10);
    let codes: Vec<i64> = values(filtered)[0]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["companyCode"].as_i64().unwrap())
        .collect();
    assert!(codes.len() > 1 && codes.is_sorted_by(|one, next| one > next), "{filtered}");
    assert!(feed.contains("Svc.ACC.Customers.CustomerCreated"), "{feed}");
    let log = values(webhooks);
    assert!(log[0].as_array().unwrap().contains(&json!("Svc.ACC.Customers.CustomerUpdated")), "{webhooks}");
    assert_eq!((&log[1]["entity"], &log[1]["status"]), (&json!("Bank"), &json!("Pending")), "{webhooks}");
    assert_eq!(log[2][0]["event"], "echo", "{webhooks}");
    assert_eq!(process.stop().code, Some(0));
}

#[test]
fn printed_commands_equal_the_readme_walkthrough() {
    let (process, page) = dev(Path::new("/nonexistent"));
    let (_, steps) = page.split_once("then try these commands in order\n").unwrap();
    let copied: Vec<&str> = steps.lines().filter_map(|line| line.strip_prefix("      ")).collect();
    let readme = blocks().concat();
    assert_eq!(copied, readme.lines().collect::<Vec<_>>());
    let numbers: Vec<&str> = steps
        .lines()
        .filter(|line| !line.starts_with("      "))
        .filter_map(|line| line.trim().split(' ').next())
        .collect();
    let expected: Vec<String> = (1..=11).map(|number: u32| number.to_string()).collect();
    assert_eq!(numbers[..11], expected);
    for name in
        ["BASE", "AUTH", "OPERATOR", "TOKEN", "TENANT", "COMPANY", "KEY", "CLIENT", "SECRET", "RECEIVER"]
    {
        let is_set = |line: &&str| line.starts_with(&format!("export {name}=")) && !line.ends_with('=');
        assert!(exports(&page).iter().any(is_set), "{name} is not in {page}");
    }
    assert_eq!(process.stop().code, Some(0));
}
