//! Guessing is slow, whoever is guessed; nobody is locked out, and nobody keeps the server busy.

use std::sync::Barrier;
use std::time::Duration;

use web::Stopwatch;

use crate::harness::{Browser, Call, Form, Office, PASSWORD, Page, Serve, Site, at_once, let_pass};

/// A sign-in page that is tried again and again.
struct Door {
    browser: Browser,
    form: Form,
    email: String,
}

impl Door {
    fn of(office: &Office<'_>, browser: Browser) -> Self {
        let form = browser.ask(&office.ask()).form("post");
        Self { browser, form, email: office.email.clone() }
    }

    fn enter(&self, password: &str) -> Page {
        self.browser.submit(&self.form, &[("username", &self.email), ("password", password)])
    }

    /// A try, and how long its answer took.
    fn timed(&self, password: &str) -> (Page, Duration) {
        let watch = Stopwatch::start();
        let page = self.enter(password);
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
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let known = Door::of(&office, office.browser());
    let nobody = Door { email: "nobody@example.com".into(), ..Door::of(&office, office.browser()) };
    let guess = |door: Door| {
        for _ in 0..3 {
            is_wrong(&door.enter("wrong"));
        }
        for wait in [500, 1000] {
            let (page, spent) = door.timed("wrong");
            is_wrong(&page);
            assert!(spent >= Duration::from_millis(wait), "{} waited {spent:?}", door.email);
        }
        door
    };
    let known = std::thread::scope(|scope| {
        let [known, _] = [known, nobody].map(|door| scope.spawn(move || guess(door)));
        known.join().unwrap()
    });
    let (page, spent) = known.timed(PASSWORD);
    is_in(&page);
    assert!(spent >= Duration::from_secs(2), "even the right one waits: {spent:?}");
    let again = Door::of(&office, office.browser());
    is_wrong(&again.enter("wrong"));
    let (_, spent) = again.timed("wrong");
    assert!(spent < Duration::from_secs(2), "and then all is forgotten: {spent:?}");
}

#[test]
fn an_unknown_name_gets_the_very_same_answer() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let known = Door::of(&office, office.browser());
    let nobody = Door { email: "nobody@example.com".into(), ..Door::of(&office, office.browser()) };
    let bare = |door: &Door| {
        let page = door.enter("wrong");
        is_wrong(&page);
        let ticket = &door.form.fields.iter().find(|(name, _)| name == "ticket").unwrap().1;
        page.text().replace(&door.email, "NAME").replace(ticket, "TICKET")
    };
    assert_eq!(bare(&known), bare(&nobody));
    office.command(&["user", "disable", &office.email]);
    is_wrong(&known.enter(PASSWORD));
}

#[test]
fn names_have_no_case_and_passwords_do() {
    let serve = Serve::start(Site::new(), &[]);
    let office = Office::on(&serve, 1, &[]);
    let door = Door::of(&office, office.browser());
    is_wrong(&door.enter(&PASSWORD.to_uppercase()));
    is_wrong(&door.enter(&format!("{PASSWORD} ")));
    is_in(&Door { email: format!(" {} ", office.email.to_uppercase()), ..door }.enter(PASSWORD));
    let change = serve.site.program(&["user", "password", &office.email]).input("otra contraseña larga\n");
    change.run().code(0);
    let door = Door::of(&office, office.browser());
    is_wrong(&door.enter(PASSWORD));
    is_in(&door.enter("otra contraseña larga"));
}

#[test]
fn an_endless_password_costs_nothing_and_an_empty_one_is_no_try() {
    let serve = Serve::start(Site::new(), &["--set", "identity.address_failures_max=2"]);
    let office = Office::on(&serve, 1, &[]);
    let door = Door::of(&office, office.browser());
    let hashed = || {
        let measures = Call::get(&format!("{}/metrics", serve.operator_url)).send();
        let line = measures.text().lines().find(|line| line.starts_with("aldaba_password_hashes_total"));
        line.unwrap().split(' ').nth(1).unwrap().to_owned()
    };
    let before = hashed();
    for (email, password) in [("", ""), ("", "x"), (office.email.as_str(), "")] {
        let page = Door { email: email.into(), ..Door::of(&office, office.browser()) }.enter(password);
        assert_eq!((page.status, page.has_field("password")), (400, true));
        assert!(page.text().contains("Faltan datos"), "{}", page.text());
    }
    is_wrong(&door.enter(&"x".repeat(1025)));
    assert_eq!(hashed(), before, "1 KiB is the most that is hashed");
    is_wrong(&door.enter(&"x".repeat(1024)));
    assert_ne!(hashed(), before);
}

#[test]
fn an_address_that_fails_too_often_must_wait() {
    let limits = ["--set", "identity.address_failures_max=3", "--set", "server.trusted_proxies=127.0.0.0/8"];
    let serve = Serve::start(Site::new(), &limits);
    let office = Office::on(&serve, 1, &[]);
    let from = |address: &str| Door::of(&office, office.browser().with_header("x-forwarded-for", address));
    let door = from("203.0.113.7");
    for number in 0..3 {
        is_wrong(
            &Door { email: format!("guess-{number}@example.com"), ..from("203.0.113.7") }.enter("wrong"),
        );
    }
    let page = door.enter(PASSWORD);
    assert_eq!((page.status, page.has_field("password")), (429, true), "{page:?}");
    let seconds: u64 = page.header("retry-after").parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    is_in(&from("203.0.113.8").enter(PASSWORD));
}

#[test]
fn tries_come_back_while_others_sign_in() {
    let serve = Serve::start(Site::new(), &["--set", "identity.address_failures_max=2"]);
    let office = Office::on(&serve, 1, &[]);
    let guess = |number: u32| {
        Door { email: format!("guess-{number}@example.com"), ..Door::of(&office, office.browser()) }
            .enter("wrong")
    };
    is_wrong(&guess(1));
    for _ in 0..2 {
        let_pass(Duration::from_secs(3));
        is_in(&Door::of(&office, office.browser()).enter(PASSWORD));
    }
    // More than five seconds later the first failure is given back, whatever came in between.
    is_wrong(&guess(2));
    is_wrong(&guess(3));
    assert_eq!(guess(4).status, 429);
}

#[test]
fn who_comes_when_too_many_wait_is_sent_away_at_once() {
    let limits = ["--set", "identity.hashing_parallel=1", "--set", "identity.hashing_queue_max=1"];
    let serve = Serve::start(Site::new(), &limits);
    let office = Office::on(&serve, 1, &[]);
    let all_at_the_door = Barrier::new(8);
    let answers: Vec<Page> = at_once(8, |number| {
        let door = Door::of(&office, office.browser());
        let door = Door { email: format!("guess-{number}@example.com"), ..door };
        all_at_the_door.wait();
        door.enter("wrong")
    });
    let busy: Vec<&Page> = answers.iter().filter(|page| page.status == 503).collect();
    assert!(!busy.is_empty() && busy.len() < 8, "{} of 8", busy.len());
    for page in busy {
        assert_eq!((page.header("retry-after"), page.has_field("password")), ("5", true), "{page:?}");
    }
    is_in(&Door::of(&office, office.browser()).enter(PASSWORD));
}
