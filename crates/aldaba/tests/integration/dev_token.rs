//! `aldaba dev token`: an access token without a browser, of a running dev and of nothing else.

use serde_json::Value;

use crate::harness::{Dev, HttpRequest, Program, SignInFixture, claims};

/// With none of the variables that dev exports.
fn token(arguments: &[&str]) -> Program {
    let program = Program::new(&["dev", "token"]).with(arguments);
    ["AUTH", "CLIENT", "SECRET", "TENANT"].iter().fold(program, |program, name| program.variable(name, ""))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// With what dev's page would export.
fn exported(dev: &Dev, arguments: &[&str]) -> Program {
    token(arguments)
        .variable("AUTH", dev.text("auth_url"))
        .variable("CLIENT", text(&dev.ready["client"]["client_id"]))
        .variable("SECRET", text(&dev.ready["client"]["client_secret"]))
        .variable("TENANT", dev.tenants()[0])
}

#[test]
fn it_prints_a_token_that_opens_and_nothing_else() {
    let dev = Dev::start(&[]);
    let done = exported(&dev, &[]).run().code(0);
    assert_eq!(done.stderr, "");
    let access = done.stdout.strip_suffix('\n').unwrap();
    assert!(!access.contains(char::is_whitespace), "{access}");
    let companies = HttpRequest::get(&format!("{}/accounting/api/companies", dev.text("base_url")))
        .header("authorization", &format!("Bearer {access}"))
        .header("ocp-apim-subscription-key", text(&dev.ready["subscription"]["primary_key"]))
        .send();
    assert_eq!(companies.status, 200, "{companies:?}");

    let whole = exported(&dev, &["--json"]).run().json();
    for member in ["access_token", "id_token", "refresh_token", "token_type", "expires_in"] {
        assert!(!whole[member].is_null(), "{member} is not in {whole}");
    }
    let code = exported(&dev, &["--code"]).run().code(0).stdout;
    assert!(code.trim_end().len() > 20 && !code.trim_end().contains(char::is_whitespace), "{code}");
}

#[test]
fn who_has_several_tenants_chooses() {
    let dev = Dev::start(&["--empty"]);
    for at in [0, 1] {
        let tenant = dev.tenants()[at];
        let done = exported(&dev, &["--user", "inaki@example.com", "--tenant", tenant]).run().code(0);
        assert_eq!(claims(done.stdout.trim_end())["svc.es.clientid"], tenant, "{:?}", claims(&done.stdout));
    }
    let stranger = dev.tenants()[2];
    exported(&dev, &["--user", "inaki@example.com", "--tenant", stranger])
        .run()
        .expect_failure(5, "inaki@example.com may not choose the tenant");
    exported(&dev, &["--user", "eva@example.com"])
        .run()
        .expect_failure(5, "it has maria@example.com, inaki@example.com");
}

#[test]
fn a_folder_is_enough_while_dev_runs_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let dev = Dev::start(&["--empty", "--data", data]);
    let whole = token(&["--data", data, "--json"]).run().json();
    assert_eq!(claims(text(&whole["access_token"]))["svc.es.clientid"], dev.tenants()[0]);
    assert_eq!(dev.stop().code, Some(0));
    token(&["--data", data]).run().expect_failure(5, "no aldaba dev runs on this folder");
}

#[test]
fn nothing_but_dev_is_signed_in_to() {
    token(&[]).run().expect_failure(2, "CLIENT is not set; paste the export lines that aldaba dev printed");
    let elsewhere = |url: &str| token(&["--auth-url", url, "--client", "id", "--secret", "s"]).run();
    elsewhere("https://auth.example.com").expect_failure(5, "is not on this machine");
    elsewhere("not an address").expect_failure(5, "is not on this machine");
    elsewhere("http://127.0.0.1:9").expect_failure(1, "start aldaba dev, and paste the export lines");

    // A service that somebody runs in earnest on this machine, with a client that is registered there.
    let fixture = SignInFixture::new();
    let of_serve = |client: &str| {
        let asked =
            ["--auth-url", &fixture.server.public_url, "--client", client, "--secret", &fixture.app.secret];
        token(&asked).run()
    };
    of_serve(&fixture.app.id).expect_failure(5, "does not sign maria@example.com in with dev's password");
    of_serve("another").expect_failure(5, "does not know this client");
    let installation = fixture.server.installation.path().to_str().unwrap();
    token(&["--data", installation]).run().expect_failure(5, "no aldaba dev runs on this folder");
}
