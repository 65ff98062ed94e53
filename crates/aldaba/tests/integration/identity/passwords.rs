//! Guessing is slow, whoever is guessed; nobody is locked out, and nobody keeps the server busy.

use std::sync::Barrier;
use std::time::Duration;

use web::Stopwatch;

use crate::harness::{
    Browser, Form, HttpRequest, Installation, PASSWORD, Page, ServeProcess, SignInFixture, run_concurrently,
    wait_for_duration,
};

/// A sign-in page that is tried again and again.
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

    /// A try, and how long its answer took.
    fn timed(&self, password: &str) -> (Page, Duration) {
        let watch = Stopwatch::start();
        let page = self.submit(password);
        (page, watch.elapsed())
    }
}

#[track_caller]
fn is_wrong(page: &Page) {
    assert_eq!((page.status, page.has_field("password")), (400, true), "{page:?}");
    assert!(page.text().contains("El correo o la contraseña no son correctos"), "{}", page.text());
}

#[track_caller]
fn is_in(page: &Page) {
    let mut cookies = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let begins_session = cookies.any(|line| line.starts_with("aldaba-session="));
    assert_eq!((page.status, begins_session), (302, true), "{page:?}");
}

#[test]
fn answers_wait_longer_each_time_and_the_right_password_still_works() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let known = SignInForm::of(&fixture, fixture.browser());
    let nobody =
        SignInForm { email: "nobody@example.com".into(), ..SignInForm::of(&fixture, fixture.browser()) };
    let guess = |form: SignInForm| {
        for _ in 0..3 {
            is_wrong(&form.submit("wrong"));
        }
        for wait in [500, 1000] {
            let (page, spent) = form.timed("wrong");
            is_wrong(&page);
            assert!(spent >= Duration::from_millis(wait), "{} waited {spent:?}", form.email);
        }
        form
    };
    let known = std::thread::scope(|scope| {
        let [known, _] = [known, nobody].map(|form| scope.spawn(move || guess(form)));
        known.join().unwrap()
    });
    let (page, spent) = known.timed(PASSWORD);
    is_in(&page);
    assert!(spent >= Duration::from_secs(2), "even the right one waits: {spent:?}");
    let again = SignInForm::of(&fixture, fixture.browser());
    is_wrong(&again.submit("wrong"));
    let (_, spent) = again.timed("wrong");
    assert!(spent < Duration::from_secs(2), "and then all is forgotten: {spent:?}");
}

#[test]
fn an_unknown_name_gets_the_very_same_answer() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let known = SignInForm::of(&fixture, fixture.browser());
    let nobody =
        SignInForm { email: "nobody@example.com".into(), ..SignInForm::of(&fixture, fixture.browser()) };
    let bare = |form: &SignInForm| {
        let page = form.submit("wrong");
        is_wrong(&page);
        let ticket = &form.form.fields.iter().find(|(name, _)| name == "ticket").unwrap().1;
        page.text().replace(&form.email, "NAME").replace(ticket, "TICKET")
    };
    assert_eq!(bare(&known), bare(&nobody));
    fixture.command(&["user", "disable", &fixture.email]);
    is_wrong(&known.submit(PASSWORD));
}

#[test]
fn names_have_no_case_and_passwords_do() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let form = SignInForm::of(&fixture, fixture.browser());
    is_wrong(&form.submit(&PASSWORD.to_uppercase()));
    is_wrong(&form.submit(&format!("{PASSWORD} ")));
    is_in(&SignInForm { email: format!(" {} ", fixture.email.to_uppercase()), ..form }.submit(PASSWORD));
    let change =
        server.installation.program(&["user", "password", &fixture.email]).input("otra contraseña larga\n");
    change.run().code(0);
    let form = SignInForm::of(&fixture, fixture.browser());
    is_wrong(&form.submit(PASSWORD));
    is_in(&form.submit("otra contraseña larga"));
}

#[test]
fn an_endless_password_costs_nothing_and_an_empty_one_is_no_try() {
    let server = ServeProcess::start(Installation::new(), &["--set", "identity.address_failures_max=2"]);
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
    is_wrong(&form.submit(&"x".repeat(1025)));
    assert_eq!(hashed(), before, "1 KiB is the most that is hashed");
    is_wrong(&form.submit(&"x".repeat(1024)));
    assert_ne!(hashed(), before);
}

#[test]
fn an_address_that_fails_too_often_must_wait() {
    let limits = ["--set", "identity.address_failures_max=3", "--set", "server.trusted_proxies=127.0.0.0/8"];
    let server = ServeProcess::start(Installation::new(), &limits);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let from =
        |address: &str| SignInForm::of(&fixture, fixture.browser().with_header("x-forwarded-for", address));
    let form = from("203.0.113.7");
    for number in 0..3 {
        is_wrong(
            &SignInForm { email: format!("guess-{number}@example.com"), ..from("203.0.113.7") }
                .submit("wrong"),
        );
    }
    let page = form.submit(PASSWORD);
    assert_eq!((page.status, page.has_field("password")), (429, true), "{page:?}");
    let seconds: u64 = page.header("retry-after").parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    is_in(&from("203.0.113.8").submit(PASSWORD));
}

#[test]
fn tries_come_back_while_others_sign_in() {
    let server = ServeProcess::start(Installation::new(), &["--set", "identity.address_failures_max=2"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let guess = |number: u32| {
        SignInForm {
            email: format!("guess-{number}@example.com"),
            ..SignInForm::of(&fixture, fixture.browser())
        }
        .submit("wrong")
    };
    is_wrong(&guess(1));
    for _ in 0..2 {
        wait_for_duration(Duration::from_secs(3));
        is_in(&SignInForm::of(&fixture, fixture.browser()).submit(PASSWORD));
    }
    // More than five seconds later the first failure is given back, whatever came in between.
    is_wrong(&guess(2));
    is_wrong(&guess(3));
    assert_eq!(guess(4).status, 429);
}

#[test]
fn who_comes_when_too_many_wait_is_sent_away_at_once() {
    let limits = ["--set", "identity.hashing_parallel=1", "--set", "identity.hashing_queue_max=1"];
    let server = ServeProcess::start(Installation::new(), &limits);
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
    is_in(&SignInForm::of(&fixture, fixture.browser()).submit(PASSWORD));
}
