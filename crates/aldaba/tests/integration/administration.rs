//! `aldaba tenant` and `aldaba user`, with text output and with `--json`.

use serde_json::{Value, json};

use crate::harness::{Installation, Program, bank, is_guid, ndjson};

/// The rows of a table, split at two or more spaces.
fn table(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect()
}

fn statuses(installation: &Installation, what: &str) -> Vec<String> {
    let listed = installation.program(&[what, "list", "--json"]).run().json();
    listed.as_array().unwrap().iter().map(|one| one["standing"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn added_tenants_are_listed() {
    let installation = Installation::new();
    let finished = installation
        .program(&["tenant", "add", "Asesoría Peñalver", "--id", "uno", "--short-code", "4101"])
        .run()
        .code(0);
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("uno\n", ""));
    let created = installation.program(&["--json", "tenant", "add", "Bodegas Güell"]).run().json();
    let id = created["id"].as_str().unwrap();
    assert!(is_guid(id));
    assert_eq!(created["short_code"], id.split('-').next().unwrap());
    let listed = installation.program(&["tenant", "list", "--json"]).run().json();
    let created_at = &listed[0]["created_at"];
    assert_eq!(
        listed[0],
        json!({
            "id": "uno", "name": "Asesoría Peñalver", "short_code": "4101", "standing": "active",
            "created_at": created_at, "sandbox_of": null
        })
    );
    assert_eq!(listed[1], created);
    let finished = installation.program(&["tenant", "list"]).run().code(0);
    let rows = table(&finished.stdout);
    assert_eq!(rows[0], ["ID", "NAME", "CODE", "STATUS", "CREATED", "SANDBOX OF"]);
    assert_eq!(rows[1], ["uno", "Asesoría Peñalver", "4101", "active", created_at.as_str().unwrap()]);
    assert_eq!((rows.len(), finished.stderr.as_str()), (3, ""));
}

#[test]
fn tenants_are_disabled_enabled_and_erased() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    installation.add_tenant("dos");
    installation.program(&["tenant", "disable", "uno"]).run().code(0);
    assert_eq!(statuses(&installation, "tenant"), ["disabled", "active"]);
    installation.program(&["tenant", "enable", "uno"]).run().code(0);
    assert_eq!(statuses(&installation, "tenant"), ["active", "active"]);

    let apply = || installation.program(&["changes", "apply", "-", "--json", "--tenant", "uno"]);
    let records: Vec<Value> = (0..20).map(|number| bank(&number.to_string(), "a")).collect();
    assert_eq!(apply().input(ndjson(&records)).run().json()["accepted"], 20);
    installation
        .program(&["tenant", "erase", "uno", "--confirm", "dos"])
        .run()
        .expect_failure(2, "--confirm must be the tenant's id");
    let erased = installation.program(&["tenant", "erase", "uno", "--confirm", "uno", "--json"]).run().json();
    assert_eq!(erased["erased"], "uno");
    assert!(erased["rows"].as_u64().unwrap() >= 40, "number of records and log entries: {erased}");
    assert_eq!(statuses(&installation, "tenant"), ["active"]);
    apply().run().expect_failure(5, "there is no tenant \"uno\"");
    installation.add_tenant("uno");
    assert_eq!(apply().run().json()["lastSequenceVersion"], "0", "a tenant with the same id starts empty");
}

#[test]
fn missing_or_duplicate_entries_exit_with_5() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    installation
        .program(&["tenant", "add", "Otra", "--id", "uno"])
        .run()
        .expect_failure(5, "there is already");
    for action in ["disable", "enable"] {
        installation
            .program(&["tenant", action, "nadie"])
            .run()
            .expect_failure(5, "there is no tenant \"nadie\"");
        installation
            .program(&["user", action, "nadie@example.com"])
            .run()
            .expect_failure(5, "there is no user \"nadie@example.com\"");
    }
    installation
        .program(&["tenant", "erase", "nadie", "--confirm", "nadie"])
        .run()
        .expect_failure(5, "there is no tenant \"nadie\"");
    installation.program(&["tenant", "add", ""]).run().expect_failure(2, "a name has 1 to 200 characters");
    installation
        .program(&["tenant", "add", "Otra", "--id", "a/b"])
        .run()
        .expect_failure(2, "a tenant id has 1 to 100 letters");
}

#[test]
fn user_password_is_read_from_standard_input() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let add = |email: &str, arguments: &[&str]| {
        installation.program(&["user", "add", email, "--given-name", "María"]).with(arguments)
    };
    let created = add("Maria@Example.com", &["--tenant", "uno", "--json"])
        .input("correct horse battery\n")
        .run()
        .json();
    assert!(is_guid(created["id"].as_str().unwrap()));
    assert_eq!(
        created,
        json!({
            "id": created["id"], "email": "maria@example.com", "given_name": "María", "family_name": "", "lang": "es",
            "standing": "active", "tenants": ["uno"]
        })
    );
    let finished = add("helen@example.com", &["--lang", "en"]).input("another long password").run().code(0);
    assert_eq!(finished.stderr, "", "without a terminal there is no prompt");
    let rows = installation.program(&["user", "list"]).run().code(0).stdout;
    assert_eq!(table(&rows)[0], ["EMAIL", "NAME", "LANG", "STATUS", "TENANTS"]);
    assert_eq!(rows.lines().count(), 3);
    add("x@example.com", &[]).run().expect_failure(2, "write it as one line to standard input");
    add("x@example.com", &["--json"]).input("a\n").run().expect_failure(2, "aldaba: ");
    add("nonsense", &["--json"])
        .input("correct horse battery\n")
        .run()
        .expect_failure(2, "is not an e-mail address");
    add("x@example.com", &["--json", "--tenant", "nadie"])
        .input("correct horse battery\n")
        .run()
        .expect_failure(5, "there is no tenant \"nadie\"");
    add("maria@example.com", &["--json"])
        .input("correct horse battery\n")
        .run()
        .expect_failure(5, "there is already");
    let listed = installation.program(&["user", "list", "--json"]).run().json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "a rejected user is not created");
}

#[test]
fn users_join_leave_and_are_disabled() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    installation.add_tenant("dos");
    let email = "maria@example.com";
    let add =
        installation.program(&["user", "add", email, "--given-name", "María", "--tenant", "uno", "--json"]);
    add.input("correct horse battery\n").run().json();
    let tenants = || installation.program(&["user", "list", "--json"]).run().json()[0]["tenants"].clone();
    installation.program(&["user", "join", email, "dos"]).run().code(0);
    assert_eq!(tenants(), json!(["uno", "dos"]));
    installation.program(&["user", "join", email, "dos"]).run().expect_failure(5, "there is already");
    installation.program(&["user", "leave", email, "uno"]).run().code(0);
    assert_eq!(tenants(), json!(["dos"]));
    installation.program(&["user", "leave", email, "uno"]).run().expect_failure(5, "there is no membership");
    installation.program(&["user", "disable", email]).run().code(0);
    assert_eq!(statuses(&installation, "user"), ["disabled"]);
    installation.program(&["user", "enable", email]).run().code(0);
    assert_eq!(statuses(&installation, "user"), ["active"]);
    installation.program(&["user", "password", email, "--json"]).input("a new long password\n").run().code(0);
    installation
        .program(&["user", "password", "nadie@example.com", "--json"])
        .input("a new long password\n")
        .run()
        .expect_failure(5, "there is no user");
}

#[test]
fn result_is_one_line_of_text_or_a_json_object() {
    let installation = Installation::new();
    installation.add_tenant("uno");
    let email = "maria@example.com";
    let add = installation.program(&["user", "add", email, "--given-name", "María", "--json"]);
    add.input("correct horse battery\n").run().json();
    for (command, line, object) in [
        (
            &["tenant", "disable", "uno"][..],
            "tenant uno is disabled\n",
            json!({"id": "uno", "standing": "disabled"}),
        ),
        (&["tenant", "enable", "uno"], "tenant uno is active\n", json!({"id": "uno", "standing": "active"})),
        (
            &["user", "disable", email],
            "user maria@example.com is disabled\n",
            json!({"email": email, "standing": "disabled"}),
        ),
        (
            &["user", "enable", email],
            "user maria@example.com is active\n",
            json!({"email": email, "standing": "active"}),
        ),
    ] {
        let finished = installation.program(command).run().code(0);
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", line));
        assert_eq!(installation.program(command).with(&["--json"]).run().json(), object);
    }
    let member = |action: &str| installation.program(&["user", action, email, "uno", "--json"]).run().json();
    assert_eq!(member("join"), json!({"email": email, "tenant": "uno", "member": true}));
    assert_eq!(member("leave"), json!({"email": email, "tenant": "uno", "member": false}));
    let password =
        installation.program(&["user", "password", email, "--json"]).input("another long password\n").run();
    assert_eq!(password.json(), json!({"email": email, "password": "changed"}));
}

/// Every command and argument, at any depth, has a help text.
#[test]
fn every_command_and_argument_has_help() {
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    let mut line_count = 0;
    while let Some(path) = pending.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let text = Program::new(&words).with(&["-h"]).run().code(0).stdout;
        for section in ["Commands:", "Arguments:", "Options:"] {
            let Some((_, rest)) = text.split_once(&format!("\n{section}\n")) else { continue };
            let lines: Vec<&str> = rest.split("\n\n").next().unwrap().lines().collect();
            for (at, line) in lines.iter().enumerate() {
                let is_entry = line.len() - line.trim_start().len() <= 6;
                if !is_entry {
                    continue;
                }
                line_count += 1;
                let (name, help_text) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
                let below = lines.get(at + 1).is_some_and(|next| next.starts_with("          "));
                let says = |text: &str| !text.is_empty() && !text.starts_with('[');
                assert!(below || says(help_text.trim()), "{path:?}: {line}");
                if section == "Commands:" && name != "help" {
                    pending.push([path.clone(), vec![name.to_owned()]].concat());
                }
            }
        }
    }
    assert!(line_count > 200, "{line_count}");
}
