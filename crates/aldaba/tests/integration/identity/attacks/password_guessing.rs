//! Attacks on passwords: finding out who has an account, and guessing, alone, in a crowd and under false addresses.

use web::Stopwatch;

use crate::harness::{
    Browser, Form, Installation, PASSWORD, Page, ServeProcess, SignInFixture, new_user, password_hash_count,
    run_concurrently,
};

fn alone(arguments: &[&str]) -> ServeProcess {
    ServeProcess::start(Installation::new(), arguments)
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

/// What can be seen of an answer, but for the name that was typed and the request's own id.
fn seen(page: &Page, name: &str) -> (u16, Vec<String>, String) {
    let ignored = ["x-request-id", "date", "content-length"];
    let headers = page.headers.iter().filter(|(header, _)| !ignored.contains(&header.as_str()));
    let headers = headers.map(|(header, value)| format!("{header}: {}", value.to_str().unwrap())).collect();
    (page.status, headers, page.text().replace(name, "NAME"))
}

#[test]
fn user_enumeration_neither_the_answer_nor_the_work_tells_who_is_there() {
    let server = alone(&[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let disabled = new_user(&server, &[&fixture.tenants[0]]);
    fixture.command(&["user", "disable", &disabled]);
    let homeless = new_user(&server, &[]);
    let page = open_sign_in_form(&fixture);
    let tries = [
        (fixture.email.as_str(), "wrong"),
        ("nobody@example.com", "wrong"),
        (disabled.as_str(), "wrong"),
        (disabled.as_str(), PASSWORD),
        (homeless.as_str(), "wrong"),
        ("' OR '1'='1", "wrong"),
        ("not an address", "wrong"),
    ];
    let mut answers = Vec::new();
    for (name, password) in tries {
        let before = password_hash_count(&server);
        let answer = guess(&page, name, password);
        assert_eq!(
            password_hash_count(&server) - before,
            1,
            "{name} is worth one computation, as everybody is"
        );
        assert_eq!(answer.status, 400, "{name}");
        assert!(answer.headers.get("set-cookie").is_none(), "{name}");
        let escaped = name.replace('\'', "&#39;");
        answers.push(seen(&answer, if answer.text().contains(name) { name } else { &escaped }));
    }
    for (answer, (name, _)) in answers.iter().zip(tries) {
        assert_eq!(answer, &answers[0], "{name}");
    }
    server.assert_healthy();
}

#[test]
fn user_enumeration_waiting_grows_for_those_who_are_not_there_too() {
    let server = alone(&[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let page = open_sign_in_form(&fixture);
    let spent = |name: &str| {
        for _ in 0..3 {
            guess(&page, name, "wrong");
        }
        let watch = Stopwatch::start();
        guess(&page, name, "wrong");
        watch.elapsed().as_millis()
    };
    let (known, unknown) = (spent(&fixture.email), spent("nobody@example.com"));
    assert!(known >= 500 && unknown >= 500, "the fourth failure waits: {known} ms, {unknown} ms");
    let written_otherwise = fixture.email.to_uppercase();
    let watch = Stopwatch::start();
    guess(&page, &format!("  {written_otherwise} "), "wrong");
    assert!(watch.elapsed().as_millis() >= 1000, "another spelling is no other account");
    server.assert_healthy();
}

/// What an address may have tried after all: it gets one more every five seconds.
fn given_back(watch: &Stopwatch) -> u64 {
    watch.elapsed().as_secs() / 5
}

#[test]
fn an_address_that_guesses_is_sent_away_and_no_header_makes_it_another() {
    let server = alone(&["--set", "identity.address_failures_max=3"]);
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
            if given_back(&watch) == 0 {
                assert_eq!(refused.status, 429, "{header}: {value}");
                let seconds: u64 = refused.header("retry-after").parse().unwrap();
                assert!((1..=60).contains(&seconds), "{seconds}");
                refused.assert_security_headers();
            }
        }
    }
    let computed = password_hash_count(&server) - before;
    assert!(computed <= given_back(&watch), "for who is sent away nothing is computed: {computed}");
    server.assert_healthy();
}

#[test]
fn many_at_once_do_not_escape_the_limit_of_an_address() {
    let server = alone(&["--set", "identity.address_failures_max=3"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let (browser, form) = open_sign_in_form(&fixture);
    let mark = browser.cookie("aldaba-browser").unwrap();
    let watch = Stopwatch::start();
    let statuses = run_concurrently(30, |number| {
        let browser = fixture.browser();
        browser.set_cookie("aldaba-browser", &mark);
        guess(&(browser, form.clone()), &format!("user{number}"), "wrong").status
    });
    let tried = statuses.iter().filter(|status| **status == 400).count() as u64;
    assert!(tried <= 3 + given_back(&watch), "{tried} guesses were answered; the limit is 3: {statuses:?}");
    assert!(statuses.iter().all(|status| [400, 429, 503].contains(status)), "{statuses:?}");
    server.assert_healthy();
}

#[test]
fn a_password_of_a_mebibyte_is_not_hashed() {
    let server = alone(&[]);
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
    assert_eq!(wrong, (400, 0), "past a kibibyte nothing is computed, and the answer is that of a wrong one");
    let padded = guess(&page, &fixture.email, &format!("{PASSWORD}{}", " ".repeat(1025)));
    assert_eq!(padded.status, 400);
    assert_eq!(guess(&page, &fixture.email, PASSWORD).status, 302);
    server.assert_healthy();
}

#[test]
fn nothing_typed_is_nothing_tried() {
    let server = alone(&["--set", "identity.address_failures_max=3"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let page = open_sign_in_form(&fixture);
    let before = password_hash_count(&server);
    for (name, password) in [("", ""), ("a@example.com", ""), ("", "x"), ("   ", "x"), ("\t", "x"), ("", "y")]
    {
        assert_eq!(guess(&page, name, password).status, 400, "{name:?}");
    }
    assert_eq!(password_hash_count(&server), before);
    assert_eq!(guess(&page, &fixture.email, PASSWORD).status, 302, "and it does not count as failed");
    server.assert_healthy();
}
