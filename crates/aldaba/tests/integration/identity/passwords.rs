//! Login throttling: guessing is slow for known and unknown users, nobody is locked out, and the work is bounded.

use std::sync::Barrier;
use std::time::Duration;

use web::Stopwatch;

use crate::harness::{
    Browser, EmbeddedServer, Form, HttpRequest, Installation, PASSWORD, Page, SignInFixture,
    run_concurrently, wait_for_duration,
};

/// An open sign-in form.
struct SignInForm {
    browser: Browser,
    form: Form,
    email: String,
}

impl SignInForm {
    fn of(fixture: &SignInFixture<'_>, browser: Browser) -> Self {
        let form = browser.start_authorization(&fixture.authorization_request()).form("post");
        Self { browser, form, email: fixture.email.clone() }
    }

    fn submit(&self, password: &str) -> Page {
        self.browser.submit(&self.form, &[("username", &self.email), ("password", password)])
    }
}

#[track_caller]
fn expect_wrong_password(page: &Page) {
    assert_eq!((page.status, page.has_field("password")), (400, true), "{page:?}");
    assert!(page.text().contains("El correo o la contraseña no son correctos"), "{}", page.text());
}

#[track_caller]
fn expect_signed_in(page: &Page) {
    let mut cookies = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let begins_session = cookies.any(|line| line.starts_with("aldaba-session="));
    assert_eq!((page.status, begins_session), (302, true), "{page:?}");
}

/// Guesses until the account has no tokens left; returns the refusal.
#[track_caller]
fn guess_until_refused(form: &SignInForm) -> Page {
    let watch = Stopwatch::start();
    for guesses in 0.. {
        let page = form.submit("wrong");
        if page.status == 429 {
            let regained = watch.elapsed().as_secs() / 10;
            assert!((5..=5 + regained).contains(&guesses), "{} had {guesses} guesses", form.email);
            return page;
        }
        expect_wrong_password(&page);
    }
    unreachable!("an account has five guesses")
}

#[test]
fn account_has_five_guesses_and_then_must_wait_whether_it_exists_or_not() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let known = SignInForm::of(&fixture, fixture.browser());
    let nobody =
        SignInForm { email: "nobody@example.com".into(), ..SignInForm::of(&fixture, fixture.browser()) };
    for form in [&known, &nobody] {
        let page = guess_until_refused(form);
        assert!(
            page.has_field("password") && page.text().contains("Demasiados intentos fallidos"),
            "{page:?}"
        );
        let seconds: u64 = page.header("retry-after").parse().unwrap();
        assert!((1..=10).contains(&seconds), "{seconds}");
    }
}

#[test]
fn browser_that_signed_in_before_is_not_locked_out() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.address_failures_max=5"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let (owner, owner_too) = (fixture.browser(), fixture.browser());
    let form = SignInForm::of(&fixture, owner);
    expect_signed_in(&form.submit(PASSWORD));
    let cookie = form.browser.cookie("aldaba-known-browser").unwrap();
    assert!(!cookie.contains(&fixture.email), "{cookie}");
    let stranger = SignInForm::of(&fixture, fixture.browser());
    guess_until_refused(&stranger);
    assert_eq!(stranger.submit(PASSWORD).status, 429, "the address is exhausted, too");
    owner_too.set_cookie("aldaba-known-browser", &cookie);
    expect_signed_in(&SignInForm::of(&fixture, owner_too).submit(PASSWORD));
    // It ends with the password.
    let change =
        server.installation.program(&["user", "password", &fixture.email]).input("otra contraseña larga\n");
    change.run().code(0);
    let again = fixture.browser();
    again.set_cookie("aldaba-known-browser", &cookie);
    let watch = Stopwatch::start();
    let page = SignInForm::of(&fixture, again).submit("otra contraseña larga");
    assert!(page.status == 429 || watch.elapsed().as_secs() >= 5, "{page:?}");
}

#[test]
fn unknown_user_gets_the_same_response() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let known = SignInForm::of(&fixture, fixture.browser());
    let nobody =
        SignInForm { email: "nobody@example.com".into(), ..SignInForm::of(&fixture, fixture.browser()) };
    let bare = |form: &SignInForm| {
        let page = form.submit("wrong");
        expect_wrong_password(&page);
        let ticket = &form.form.fields.iter().find(|(name, _)| name == "ticket").unwrap().1;
        page.text().replace(&form.email, "NAME").replace(ticket, "TICKET")
    };
    assert_eq!(bare(&known), bare(&nobody));
    fixture.command(&["user", "disable", &fixture.email]);
    expect_wrong_password(&known.submit(PASSWORD));
}

#[test]
fn email_is_case_insensitive_and_password_is_not() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let form = SignInForm::of(&fixture, fixture.browser());
    expect_wrong_password(&form.submit(&PASSWORD.to_uppercase()));
    expect_wrong_password(&form.submit(&format!("{PASSWORD} ")));
    expect_signed_in(
        &SignInForm { email: format!(" {} ", fixture.email.to_uppercase()), ..form }.submit(PASSWORD),
    );
    let change =
        server.installation.program(&["user", "password", &fixture.email]).input("otra contraseña larga\n");
    change.run().code(0);
    let form = SignInForm::of(&fixture, fixture.browser());
    expect_wrong_password(&form.submit(PASSWORD));
    expect_signed_in(&form.submit("otra contraseña larga"));
}

#[test]
fn long_password_is_not_hashed_and_empty_password_is_not_counted() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.address_failures_max=2"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let form = SignInForm::of(&fixture, fixture.browser());
    let hashed = || {
        let metrics = HttpRequest::get(&format!("{}/metrics", server.operator_url)).send();
        let line = metrics.text().lines().find(|line| line.starts_with("aldaba_password_hashes_total"));
        line.unwrap().split(' ').nth(1).unwrap().to_owned()
    };
    let before = hashed();
    for (email, password) in [("", ""), ("", "x"), (fixture.email.as_str(), "")] {
        let page = SignInForm { email: email.into(), ..SignInForm::of(&fixture, fixture.browser()) }
            .submit(password);
        assert_eq!((page.status, page.has_field("password")), (400, true));
        assert!(page.text().contains("Faltan datos"), "{}", page.text());
    }
    expect_wrong_password(&form.submit(&"x".repeat(1025)));
    assert_eq!(hashed(), before, "at most 1 KiB is hashed");
    expect_wrong_password(&form.submit(&"x".repeat(1024)));
    assert_ne!(hashed(), before);
}

#[test]
fn address_with_too_many_failures_must_wait() {
    let limits = ["identity.address_failures_max=3", "server.trusted_proxies=127.0.0.0/8"];
    let server = EmbeddedServer::start(Installation::new(), &limits);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let from =
        |address: &str| SignInForm::of(&fixture, fixture.browser().with_header("x-forwarded-for", address));
    let form = from("203.0.113.7");
    for number in 0..3 {
        expect_wrong_password(
            &SignInForm { email: format!("guess-{number}@example.com"), ..from("203.0.113.7") }
                .submit("wrong"),
        );
    }
    let page = form.submit(PASSWORD);
    assert_eq!((page.status, page.has_field("password")), (429, true), "{page:?}");
    let seconds: u64 = page.header("retry-after").parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    expect_signed_in(&from("203.0.113.8").submit(PASSWORD));
}

#[test]
fn failed_attempts_expire_while_others_sign_in() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.address_failures_max=2"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let guess = |number: u32| {
        SignInForm {
            email: format!("guess-{number}@example.com"),
            ..SignInForm::of(&fixture, fixture.browser())
        }
        .submit("wrong")
    };
    expect_wrong_password(&guess(1));
    for _ in 0..2 {
        wait_for_duration(Duration::from_secs(3));
        expect_signed_in(&SignInForm::of(&fixture, fixture.browser()).submit(PASSWORD));
    }
    // After five seconds the first failure no longer counts, whatever happened in between.
    expect_wrong_password(&guess(2));
    expect_wrong_password(&guess(3));
    assert_eq!(guess(4).status, 429);
}

#[test]
fn sign_in_is_refused_immediately_when_the_queue_is_full() {
    let limits = ["identity.hashing_parallel=1", "identity.hashing_queue_max=1"];
    let server = EmbeddedServer::start(Installation::new(), &limits);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let all_at_the_door = Barrier::new(8);
    let answers: Vec<Page> = run_concurrently(8, |number| {
        let form = SignInForm::of(&fixture, fixture.browser());
        let form = SignInForm { email: format!("guess-{number}@example.com"), ..form };
        all_at_the_door.wait();
        form.submit("wrong")
    });
    let busy: Vec<&Page> = answers.iter().filter(|page| page.status == 503).collect();
    assert!(!busy.is_empty() && busy.len() < 8, "{} of 8", busy.len());
    for page in busy {
        assert_eq!((page.header("retry-after"), page.has_field("password")), ("5", true), "{page:?}");
    }
    expect_signed_in(&SignInForm::of(&fixture, fixture.browser()).submit(PASSWORD));
}
