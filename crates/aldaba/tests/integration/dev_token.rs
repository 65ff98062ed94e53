//! `aldaba dev token`: gets an access token from a running dev without a browser, and from nothing else.

use serde_json::Value;

use crate::harness::{Dev, HttpRequest, Program, SignInFixture, claims};

/// Without the variables that dev exports.
fn token(arguments: &[&str]) -> Program {
    let program = Program::new(&["dev", "token"]).with(arguments);
    ["AUTH", "CLIENT", "SECRET", "TENANT"].iter().fold(program, |program, name| program.variable(name, ""))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// With the variables that dev's page exports.
fn exported(dev: &Dev, arguments: &[&str]) -> Program {
    token(arguments)
        .variable("AUTH", dev.text("auth_url"))
        .variable("CLIENT", text(&dev.ready["client"]["client_id"]))
        .variable("SECRET", text(&dev.ready["client"]["client_secret"]))
        .variable("TENANT", dev.tenants()[0])
}

#[test]
fn token_is_the_only_output_and_is_accepted_by_the_apis() {
    let dev = Dev::start(&[]);
    let finished = exported(&dev, &[]).run().code(0);
    assert_eq!(finished.stderr, "");
    let access = finished.stdout.strip_suffix('\n').unwrap();
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
fn user_with_several_tenants_must_choose_one() {
    let dev = Dev::start(&["--empty"]);
    for at in [0, 1] {
        let tenant = dev.tenants()[at];
        let finished = exported(&dev, &["--user", "inaki@example.com", "--tenant", tenant]).run().code(0);
        assert_eq!(
            claims(finished.stdout.trim_end())["svc.es.clientid"],
            tenant,
            "{:?}",
            claims(&finished.stdout)
        );
    }
    let other_tenant = dev.tenants()[2];
    exported(&dev, &["--user", "inaki@example.com", "--tenant", other_tenant])
        .run()
        .expect_failure(5, "inaki@example.com is not a member of the tenant");
    exported(&dev, &["--user", "eva@example.com"])
        .run()
        .expect_failure(5, "the users of dev are maria@example.com, inaki@example.com");
}

#[test]
fn data_folder_of_a_running_dev_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let dev = Dev::start(&["--empty", "--data", data]);
    let whole = token(&["--data", data, "--json"]).run().json();
    assert_eq!(claims(text(&whole["access_token"]))["svc.es.clientid"], dev.tenants()[0]);
    assert_eq!(dev.stop().code, Some(0));
    token(&["--data", data]).run().expect_failure(5, "no dev server runs on this folder");
}

#[test]
fn running_dev_is_found_and_gives_tokens_for_any_client_and_user() {
    let runtime = tempfile::tempdir().unwrap();
    let token = |arguments: &[&str]| token(arguments).runtime_folder(runtime.path());
    let dev = Dev::run(Dev::program(&["--empty"]).runtime_folder(runtime.path()));
    let claims_of = |arguments: &[&str]| claims(token(arguments).run().code(0).stdout.trim_end());
    let first = claims_of(&[]);
    assert_eq!(
        (&first["client_id"], &first["svc.es.clientid"]),
        (&dev.ready["client"]["client_id"], &dev.ready["tenants"][0]["id"])
    );
    let other = text(&dev.ready["other_client"]["client_id"]);
    let of_helen = claims_of(&["--client", other, "--user", "helen@example.com"]);
    assert_eq!(
        (&of_helen["client_id"], &of_helen["svc.es.clientid"]),
        (&other.into(), &dev.tenants()[2].into())
    );
    // The exported tenant is a default that this user need not have; a named one is a demand.
    let exported = token(&["--user", "helen@example.com"]).variable("TENANT", dev.tenants()[0]).run().code(0);
    assert_eq!(claims(exported.stdout.trim_end())["svc.es.clientid"], dev.tenants()[2]);
    token(&["--user", "helen@example.com", "--tenant", dev.tenants()[0]])
        .run()
        .expect_failure(5, "helen@example.com is not a member of the tenant");
    let several = token(&["--user", "inaki@example.com"]).run().code(0);
    assert!(several.stderr.contains("has several tenants; this token is for"), "{several:?}");

    // A public client that requires PKCE, found by its name: its redirect address is elsewhere.
    let arguments =
        ["client", "add", "Móvil", "--redirect-uri", "https://movil.example/cb", "--pkce", "required"];
    let added = Program::new(&arguments).with(&["--json"]).runtime_folder(runtime.path()).run().json();
    let narrow = ["--client", "Móvil", "--scope", "openid", "--scope", "email offline_access"];
    let mobile = claims_of(&narrow);
    assert_eq!(mobile["client_id"], added["client_id"]);
    assert_eq!(mobile["scope"], serde_json::json!(["openid", "email", "offline_access"]));
    let refresh = token(&narrow).with(&["--refresh"]).run().code(0).stdout;
    assert!(!refresh.contains('.') && refresh.trim_end().len() > 20, "{refresh}");
    token(&["--scope", "openid", "--refresh"]).run().expect_failure(5, "the scopes need offline_access");
    token(&narrow).with(&["--code"]).run().expect_failure(5, "invalid_request: code_challenge is missing");
    token(&["--client", "Nadie"]).run().expect_failure(5, "this dev has no client \"Nadie\"; it has");
    token(&["--user", "eva@example.com"]).run().expect_failure(5, "unknown user \"eva@example.com\"");
    token(&["--scope", "offline_access"]).run().expect_failure(5, "invalid_scope");
    assert_eq!(dev.stop().code, Some(0));
    token(&[]).run().expect_failure(2, "no running dev was found");
}

#[test]
fn only_a_running_dev_is_signed_in_to() {
    token(&[]).run().expect_failure(2, "CLIENT is not set; paste the export lines that `aldaba dev` printed");
    let elsewhere = |url: &str| token(&["--auth-url", url, "--client", "id", "--secret", "s"]).run();
    elsewhere("https://auth.example.com").expect_failure(5, "is not a loopback address");
    elsewhere("not an address").expect_failure(5, "is not a loopback address");
    elsewhere("http://127.0.0.1:9").expect_failure(1, "start `aldaba dev` and paste the export lines");

    // A production service on this machine, with a client registered there.
    let fixture = SignInFixture::new();
    let of_serve = |client: &str| {
        let arguments =
            ["--auth-url", &fixture.server.public_url, "--client", client, "--secret", &fixture.app.secret];
        token(&arguments).run()
    };
    of_serve(&fixture.app.id).expect_failure(5, "refused the sign-in of maria@example.com");
    of_serve("another").expect_failure(5, "refused the authorization request of this client");
    let installation = fixture.server.installation.path().to_str().unwrap();
    token(&["--data", installation]).run().expect_failure(5, "no dev server runs on this folder");
}
