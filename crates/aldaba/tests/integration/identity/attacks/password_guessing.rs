//! User enumeration and password guessing: single, concurrent, and with forged addresses.

use web::Stopwatch;

use crate::harness::{
    Browser, EmbeddedServer, Form, Installation, PASSWORD, Page, SignInFixture, new_user,
    password_hash_count, run_concurrently,
};

fn start_server(settings: &[&str]) -> EmbeddedServer {
    EmbeddedServer::start(Installation::new(), settings)
}

/// A sign-in page that is open in a browser.
fn open_sign_in_form(fixture: &SignInFixture<'_>) -> (Browser, Form) {
    let browser = fixture.browser();
    let form = browser.follow_redirects(browser.get(&fixture.authorization_request().path())).form("post");
    (browser, form)
}

fn guess((browser, form): &(Browser, Form), name: &str, password: &str) -> Page {
    browser.submit(form, &[("username", name), ("password", password)])
}

/// The parts of a response that an attacker can compare: without the typed name and the request id.
fn visible_parts(page: &Page, name: &str) -> (u16, Vec<String>, String) {
    let ignored = ["x-request-id", "date", "content-length"];
    let headers = page.headers.iter().filter(|(header, _)| !ignored.contains(&header.as_str()));
    let headers = headers.map(|(header, value)| format!("{header}: {}", value.to_str().unwrap())).collect();
    (page.status, headers, page.text().replace(name, "NAME"))
}

#[test]
fn user_enumeration_known_and_unknown_users_get_the_same_response_and_work() {
    let server = start_server(&[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let disabled = new_user(&server, &[&fixture.tenants[0]]);
    fixture.command(&["user", "disable", &disabled]);
    let without_tenants = new_user(&server, &[]);
    let page = open_sign_in_form(&fixture);
    let tries = [
        (fixture.email.as_str(), "wrong"),
        ("nobody@example.com", "wrong"),
        (disabled.as_str(), "wrong"),
        (disabled.as_str(), PASSWORD),
        (without_tenants.as_str(), "wrong"),
        ("' OR '1'='1", "wrong"),
        ("not an address", "wrong"),
    ];
    let mut answers = Vec::new();
    for (name, password) in tries {
        let before = password_hash_count(&server);
        let answer = guess(&page, name, password);
        assert_eq!(password_hash_count(&server) - before, 1, "{name} costs one hash, as every name does");
        assert_eq!(answer.status, 400, "{name}");
        assert!(answer.headers.get("set-cookie").is_none(), "{name}");
        let escaped = name.replace('\'', "&#39;");
        answers.push(visible_parts(&answer, if answer.text().contains(name) { name } else { &escaped }));
    }
    for (answer, (name, _)) in answers.iter().zip(tries) {
        assert_eq!(answer, &answers[0], "{name}");
    }
    server.assert_healthy();
}

#[test]
fn user_enumeration_refusals_are_the_same_for_unknown_users() {
    let server = start_server(&[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let page = open_sign_in_form(&fixture);
    let refused = |name: &str| {
        for _ in 0..20 {
            let answer = guess(&page, name, "wrong");
            if answer.status == 429 {
                let (status, headers, text) = visible_parts(&answer, name);
                // The waiting time depends on when the guesses came.
                let headers: Vec<_> =
                    headers.into_iter().filter(|line| !line.starts_with("retry-after")).collect();
                return (
                    status,
                    headers,
                    text.replace(|c: char| c.is_ascii_digit(), "").replace("segundos", "segundo"),
                );
            }
        }
        panic!("{name} was never refused")
    };
    assert_eq!(refused(&fixture.email), refused("nobody@example.com"));
    let before = password_hash_count(&server);
    let written_otherwise = format!("  {} ", fixture.email.to_uppercase());
    let watch = Stopwatch::start();
    while guess(&page, &written_otherwise, "wrong").status != 429 {}
    let computed = password_hash_count(&server) - before;
    assert!(
        computed <= 1 + watch.elapsed().as_secs() / 10,
        "another spelling is the same account: {computed}"
    );
    server.assert_healthy();
}

#[test]
fn concurrent_guesses_on_one_account_do_not_exceed_its_limit() {
    let server = start_server(&["server.trusted_proxies=127.0.0.0/8"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let (browser, form) = open_sign_in_form(&fixture);
    let mark = browser.cookie("aldaba-browser").unwrap();
    let (watch, before) = (Stopwatch::start(), password_hash_count(&server));
    let statuses = run_concurrently(60, |number| {
        let browser = fixture.browser().with_header("x-forwarded-for", &format!("203.0.113.{number}"));
        browser.set_cookie("aldaba-browser", &mark);
        let password = if number < 50 { "wrong" } else { PASSWORD };
        guess(&(browser, form.clone()), &fixture.email, password).status
    });
    let evaluated = password_hash_count(&server) - before;
    let accepted = statuses.iter().filter(|status| **status == 302).count() as u64;
    let allowed = 5 + watch.elapsed().as_secs() / 10;
    assert!(evaluated - accepted <= allowed, "{evaluated} guesses were evaluated, {accepted} accepted");
    assert!(statuses.iter().all(|status| [302, 400, 429, 503].contains(status)), "{statuses:?}");
    server.assert_healthy();
}

/// How many more attempts the address had by now: one every five seconds.
fn restored_attempts(watch: &Stopwatch) -> u64 {
    watch.elapsed().as_secs() / 5
}

#[test]
fn guessing_address_is_limited_and_forwarded_headers_do_not_help() {
    let server = start_server(&["identity.address_failures_max=3"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let (watch, page) = (Stopwatch::start(), open_sign_in_form(&fixture));
    for number in 0..3 {
        assert_eq!(guess(&page, &format!("user{number}"), "wrong").status, 400);
    }
    let before = password_hash_count(&server);
    for header in ["x-forwarded-for", "x-real-ip", "forwarded", "x-client-ip", "true-client-ip"] {
        for value in ["203.0.113.7", "for=203.0.113.7", "127.0.0.2, 203.0.113.8", "::1"] {
            let disguised = fixture.browser().with_header(header, value);
            let form = disguised
                .follow_redirects(disguised.get(&fixture.authorization_request().path()))
                .form("post");
            let refused = disguised.submit(&form, &[("username", "user9"), ("password", "wrong")]);
            if restored_attempts(&watch) == 0 {
                assert_eq!(refused.status, 429, "{header}: {value}");
                let seconds: u64 = refused.header("retry-after").parse().unwrap();
                assert!((1..=60).contains(&seconds), "{seconds}");
                refused.assert_security_headers();
            }
        }
    }
    let computed = password_hash_count(&server) - before;
    assert!(computed <= restored_attempts(&watch), "a refused attempt is not hashed: {computed}");
    server.assert_healthy();
}

#[test]
fn concurrent_guesses_do_not_exceed_the_limit_of_an_address() {
    let server = start_server(&["identity.address_failures_max=3"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let (browser, form) = open_sign_in_form(&fixture);
    let mark = browser.cookie("aldaba-browser").unwrap();
    let watch = Stopwatch::start();
    let statuses = run_concurrently(30, |number| {
        let browser = fixture.browser();
        browser.set_cookie("aldaba-browser", &mark);
        guess(&(browser, form.clone()), &format!("user{number}"), "wrong").status
    });
    let checked = statuses.iter().filter(|status| **status == 400).count() as u64;
    assert!(
        checked <= 3 + restored_attempts(&watch),
        "{checked} guesses were checked; the limit is 3: {statuses:?}"
    );
    assert!(statuses.iter().all(|status| [400, 429, 503].contains(status)), "{statuses:?}");
    server.assert_healthy();
}

#[test]
fn password_of_a_mebibyte_is_not_hashed() {
    let server = start_server(&[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let page = open_sign_in_form(&fixture);
    let before = password_hash_count(&server);
    let huge = "x".repeat(1 << 20);
    let refused = guess(&page, &fixture.email, &huge);
    assert_eq!(refused.status, 413);
    refused.assert_security_headers();
    assert_eq!(guess(&page, &huge, "x").status, 413);
    let long = guess(&page, &fixture.email, &"x".repeat(1025));
    let wrong = (long.status, password_hash_count(&server) - before);
    assert_eq!(
        wrong,
        (400, 0),
        "a password over one KiB is not hashed, and the response is that for a wrong one"
    );
    let padded = guess(&page, &fixture.email, &format!("{PASSWORD}{}", " ".repeat(1025)));
    assert_eq!(padded.status, 400);
    assert_eq!(guess(&page, &fixture.email, PASSWORD).status, 302);
    server.assert_healthy();
}

#[test]
fn empty_fields_do_not_count_as_an_attempt() {
    let server = start_server(&["identity.address_failures_max=3"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let page = open_sign_in_form(&fixture);
    let before = password_hash_count(&server);
    for (name, password) in [("", ""), ("a@example.com", ""), ("", "x"), ("   ", "x"), ("\t", "x"), ("", "y")]
    {
        assert_eq!(guess(&page, name, password).status, 400, "{name:?}");
    }
    assert_eq!(password_hash_count(&server), before);
    assert_eq!(guess(&page, &fixture.email, PASSWORD).status, 302, "and it does not count as a failure");
    server.assert_healthy();
}
