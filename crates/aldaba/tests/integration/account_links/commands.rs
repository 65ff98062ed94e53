//! The command line invites; `serve` prints a link for the first operator until there is one.

use serde_json::Value;

use super::NEW_PASSWORD;
use crate::harness::{Browser, Installation, ServeProcess};

/// The log line with the link of the first operator.
const FIRST_OPERATOR: &str =
    "nobody can sign in to the console yet: the first operator makes an account with this link";

fn path_of(link: &str) -> String {
    link.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap()
}

#[test]
fn command_line_invites_lists_resends_and_revokes() {
    let installation = Installation::new();
    installation.add_tenant("norte");
    let run = |arguments: &[&str]| installation.program(arguments).with(&["--json"]).run().json();
    let user = run(&["user", "invite", "eva@example.com", "--tenant", "norte", "--lang", "en"]);
    assert_eq!((&user["realm"], &user["tenants"][0]), (&"users".into(), &"norte".into()));
    assert!(user["link"].as_str().unwrap().contains("/auth/core/invitation?token="), "{user}");
    let operator = run(&["operator", "invite", "jon@example.com", "--role", "viewer", "--name", "Jon"]);
    assert_eq!(operator["role"], "viewer");
    assert!(operator["link"].as_str().unwrap().contains("/console/invitation?token="), "{operator}");
    let admin = run(&["operator", "invite", "admin@example.com"]);
    assert_eq!(admin["role"], "admin");
    let developer = run(&["developer", "invite", "dev@example.com"]);
    assert!(developer["link"].as_str().unwrap().contains("/portal/invitation?token="), "{developer}");
    installation
        .program(&["user", "invite", "x@example.com", "--tenant", "nowhere"])
        .run()
        .expect_failure(5, "nowhere");
    installation.program(&["operator", "invite", "x@example.com", "--role", "root"]).run().code(2);
    installation.program(&["developer", "invite", "x@example.com", "--owner"]).run().code(2);

    let id = operator["id"].as_str().unwrap();
    let resent = run(&["invitation", "resend", id]);
    assert_ne!(resent["link"], operator["link"]);
    assert_eq!(run(&["invitation", "revoke", id])["state"], "revoked");
    installation.program(&["invitation", "revoke", id]).run().expect_failure(5, "was revoked");
    let listed = run(&["invitation", "list", "--realm", "operators"]);
    let states: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["revoked", "pending"]);
    assert!(listed[0].get("link").is_none(), "a link is shown once");
    let text = installation.program(&["user", "invite", "ana@example.com"]).run().code(0);
    assert!(text.stdout.trim().starts_with("http") && text.stderr.contains("pass this link on"), "{text:?}");
}

#[test]
fn weak_password_is_refused_on_the_command_line() {
    let installation = Installation::new();
    for (password, why) in
        [("corta\n", "too short"), ("contraseña1\n", "too common"), ("begoña reina\n", "your name")]
    {
        installation
            .program(&["user", "add", "eva@example.com", "--given-name", "Begoña"])
            .input(password)
            .run()
            .expect_failure(2, why);
    }
}

#[test]
fn first_serve_prints_a_link_for_the_first_operator_once() {
    let installation = Installation::new();
    let server = ServeProcess::start(installation, &[]);
    let link = server.log_line(FIRST_OPERATOR).expect("a first start prints the link")["link"].clone();
    let link = link.as_str().unwrap().to_owned();
    let browser = Browser::new(&server.operator_url);
    let page = browser.follow_redirects(browser.get(&path_of(&link)));
    assert!(page.has_field("email"), "the first operator chooses the address: {}", page.text());
    let filled = [
        ("email", " Jefa@Example.com "),
        ("given_name", "Jefa"),
        ("new_password", NEW_PASSWORD),
        ("repeated_password", NEW_PASSWORD),
    ];
    let refused = browser.submit(&page.form("post"), &[&filled[1..], &[("email", "nothing")]].concat());
    assert_eq!(refused.status, 400);
    let accepted = browser.submit(&page.form("post"), &filled);
    assert_eq!(accepted.status, 302);
    assert!(accepted.location().starts_with("/console/setup"), "to the first steps: {accepted:?}");
    assert_eq!(browser.get(accepted.location()).status, 200);
    assert!(browser.get("/console/account").text().contains("jefa@example.com"));
    let again = ServeProcess::start(server.stop(), &[]);
    assert_eq!(again.log_line(FIRST_OPERATOR), None, "an operator exists");
}
