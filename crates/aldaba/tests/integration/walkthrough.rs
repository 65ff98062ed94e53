//! The first five minutes, as the README tells them: every line of its walk-through, in order, in one shell, against a
//! real `aldaba dev`; and what dev itself prints to be copied is the same.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{FinishedProcess, Program, RunningProcess, is_guid, wait_for};

const HOUSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BETWEEN: &str = "=== next";
const BOTH: [&str; 2] = ["svc-webhook-signature", "webhook-signature"];

/// The shell blocks of the walk-through.
fn blocks() -> Vec<String> {
    let readme = read("README.md");
    let section = readme.split("\n## ").find(|section| section.starts_with("The first five minutes"));
    fenced(section.unwrap())
}

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(HOUSE).join(file)).unwrap()
}

fn fenced(text: &str) -> Vec<String> {
    text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// dev as people start it, and the page that it prints.
fn dev() -> (RunningProcess, String) {
    let process = Program::new(&["dev", "--listen", "127.0.0.1:0"]).start();
    let page =
        wait_for("the page", || Some(process.stdout()).filter(|said| said.contains("Ctrl-C ends it.")));
    (process, page)
}

fn exports(page: &str) -> Vec<&str> {
    page.lines().map(str::trim).filter(|line| line.starts_with("export ") && !line.contains("$(")).collect()
}

/// Runs lines in a shell that knows nothing but what dev exports.
fn shell(page: &str, blocks: &[String]) -> FinishedProcess {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "set -euo pipefail\n{}\n{}",
        exports(page).join("\n"),
        blocks.join(&format!("\necho; echo '{BETWEEN}'\n"))
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder.path());
    RunningProcess::start(with_folder(bash, folder.path())).wait_for_exit()
}

fn with_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

/// The JSON values that a block printed one after the other; lines that are none are passed over.
#[track_caller]
fn values(said: &str) -> Vec<Value> {
    let from = said.find(['{', '[']).unwrap_or(said.len());
    let all = serde_json::Deserializer::from_str(&said[from..]).into_iter::<Value>();
    all.map(|value| value.unwrap_or_else(|error| panic!("{error} in {said}"))).collect()
}

/// The last value of a block: what the receiver has got so far.
#[track_caller]
fn deliveries(said: &str) -> Vec<Value> {
    values(said).pop().unwrap_or_else(|| panic!("nothing in {said}")).as_array().unwrap().clone()
}

#[track_caller]
fn is_delivery(one: &Value, event: &str, status: u16) {
    assert_eq!((&one["event"], &one["status"]), (&json!(event), &json!(status)), "{one}");
    assert_eq!((&one["signature"], &one["verified"]), (&json!("valid"), &json!(BOTH)), "{one}");
}

#[test]
fn every_line_of_the_walk_through_works_in_that_order() {
    let (mut process, page) = dev();
    let blocks = blocks();
    assert_eq!(blocks.len(), 10);
    let done = shell(&page, &blocks).code(0);
    assert_eq!(done.stderr, "", "{}", done.stdout);
    let said: Vec<&str> = done.stdout.split(BETWEEN).map(str::trim).collect();
    let [code, exchanged, both, companies, customers, ..] = said[..] else { panic!("{said:?}") };
    assert_eq!((code, both), ("", ""), "they go into variables");
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
    was_told(&said[5..]);
    let told = process.stderr();
    for line in ["Acknowledge", "CustomerCreated", "CustomerUpdated"] {
        let valid =
            |said: &str| said.contains(line) && said.contains("signature valid (svc-webhook-signature");
        assert!(told.lines().any(valid), "{line} is not in {told}");
    }
    assert!(told.contains("answered 500, time 2\n"), "{told}");
    assert!(!format!("{page}{told}").contains('\u{1b}'), "no colour where there is no terminal");
    process.interrupt();
    let done = process.wait_for_exit();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// From the subscription to the replay.
#[track_caller]
fn was_told(said: &[&str]) {
    let [subscribed, changed, broken, mended, replayed] = said else { panic!("{said:?}") };
    assert!(is_guid(subscribed.lines().next().unwrap()), "{subscribed}");
    is_delivery(&deliveries(subscribed)[0], "Acknowledge", 200);

    assert_eq!(values(changed)[0]["accepted"], 1, "{changed}");
    let created = deliveries(changed).pop().unwrap();
    is_delivery(&created, "CustomerCreated", 200);
    assert_eq!(created["record"], "hotel");

    assert!(broken.starts_with("fail: "), "{broken}");
    let all = deliveries(broken);
    let [.., first, second] = &all[..] else { panic!("{broken}") };
    is_delivery(first, "CustomerUpdated", 500);
    is_delivery(second, "CustomerUpdated", 500);
    assert_eq!((&second["id"], &second["time"]), (&first["id"], &json!(2)), "a retry");

    assert!(mended.starts_with("ok: "), "{mended}");
    let last = deliveries(mended).pop().unwrap();
    is_delivery(&last, "CustomerUpdated", 200);
    assert_eq!((&last["id"], &last["body"]), (&first["id"], &first["body"]), "the same to the byte");

    let all = deliveries(replayed);
    let again: BTreeSet<&str> = all[all.len() - 2..].iter().map(|one| one["id"].as_str().unwrap()).collect();
    let before = [&created["id"], &first["id"]].map(|id| id.as_str().unwrap());
    assert_eq!(again, before.into_iter().collect(), "both again, by their ids");
}

#[test]
fn what_integrators_are_told_to_run_works() {
    let (process, page) = dev();
    let done = shell(&page, &fenced(&read("docs/integrating.md"))).code(0);
    assert_eq!(done.stderr, "", "{}", done.stdout);
    let said: Vec<&str> = done.stdout.split(BETWEEN).map(str::trim).collect();
    let [access, refreshed, paged, filtered, feed, webhooks, documents] = said[..] else {
        panic!("{said:?}")
    };
    assert_eq!((access, documents), ("", ""), "{documents}");
    assert!(values(refreshed)[0]["refresh_token"].is_string(), "{refreshed}");
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
    let told = values(webhooks);
    assert!(told[0].as_array().unwrap().contains(&json!("Svc.ACC.Customers.CustomerUpdated")), "{webhooks}");
    assert_eq!((&told[1]["entity"], &told[1]["status"]), (&json!("Bank"), &json!("Pending")), "{webhooks}");
    assert_eq!(told[2][0]["event"], "echo", "{webhooks}");
    assert_eq!(process.stop().code, Some(0));
}

#[test]
fn what_dev_prints_to_be_copied_is_what_the_readme_walks_through() {
    let (process, page) = dev();
    let (_, steps) = page.split_once("then try, in this order\n").unwrap();
    let copied: Vec<&str> = steps.lines().filter_map(|line| line.strip_prefix("      ")).collect();
    let readme = blocks().concat();
    assert_eq!(copied, readme.lines().collect::<Vec<_>>());
    let numbers: Vec<&str> = steps
        .lines()
        .filter(|line| !line.starts_with("      "))
        .filter_map(|line| line.trim().split(' ').next())
        .collect();
    assert_eq!(numbers[..10], ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    for name in
        ["BASE", "AUTH", "OPERATOR", "TOKEN", "TENANT", "COMPANY", "KEY", "CLIENT", "SECRET", "RECEIVER"]
    {
        let is_there = |line: &&str| line.starts_with(&format!("export {name}=")) && !line.ends_with('=');
        assert!(exports(&page).iter().any(is_there), "{name} is not in {page}");
    }
    assert_eq!(process.stop().code, Some(0));
}
