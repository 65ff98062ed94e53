//! Floods: many sign-ins at once, and bodies, headers and URLs of excessive size.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hyper::Method;
use web::Stopwatch;

use super::{attack_fixture, credentials};
use crate::harness::{
    CALLBACK, EmbeddedServer, HttpRequest, Installation, Server, SignInFixture, get, oauth_error,
    password_hash_count, send_raw_bytes, wait_for,
};

const MEBIBYTE: usize = 1 << 20;
/// Far longer than an endpoint without password hashing takes, even with a debug build on a busy machine.
const QUICK: Duration = Duration::from_secs(3);

#[test]
fn flood_of_sign_ins_is_bounded_and_other_requests_are_served() {
    let limits = [
        "identity.hashing_parallel=1",
        "identity.hashing_queue_max=4",
        "identity.address_failures_max=100000",
    ];
    let server = EmbeddedServer::start(Installation::new(), &limits);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.browser();
    let form = browser.follow_redirects(browser.get(&fixture.authorization_request().path())).form("post");
    let mark = browser.cookie("aldaba-browser").unwrap();
    let before = password_hash_count(&server);
    let (stop, answered, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _end = StopOnDrop(&stop);
        for number in 0..20 {
            let (fixture, form, mark, stop, answered, refused) =
                (&fixture, &form, &mark, &stop, &answered, &refused);
            scope.spawn(move || {
                let browser = fixture.browser();
                browser.set_cookie("aldaba-browser", mark);
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    round += 1;
                    let name = format!("user-{number}-{round}@example.com");
                    let page = browser.submit(form, &[("username", &name), ("password", "wrong")]);
                    match page.status {
                        400 => answered.fetch_add(1, Ordering::Relaxed),
                        503 => {
                            assert!(!page.header("retry-after").is_empty(), "{page:?}");
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                        other => panic!("{other}: {page:?}"),
                    };
                }
            });
        }
        wait_for("the queue to be full", || (refused.load(Ordering::Relaxed) > 20).then_some(()));
        let slowest = slowest_other_endpoint(&server);
        assert!(slowest < QUICK, "an endpoint without password hashing took {slowest:?}");
    });
    let computed = password_hash_count(&server) - before;
    assert_eq!(computed, answered.load(Ordering::Relaxed) as u64, "a refused sign-in is not hashed");
    assert_eq!(
        fixture.authorize(&fixture.browser(), &fixture.authorization_request()).status,
        302,
        "and afterwards sign-ins work again"
    );
    server.assert_healthy();
}

/// Stops the other threads when the test ends, also by a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn slowest_other_endpoint(server: &Server) -> Duration {
    let mut slowest = Duration::ZERO;
    for _ in 0..10 {
        let calls = [
            HttpRequest::get(&format!("{}/livez", server.public_url)),
            get(server, ".well-known/openid-configuration"),
            get(server, ".well-known/jwks"),
            get(server, "login"),
        ];
        for request in calls {
            let watch = Stopwatch::start();
            assert_eq!(request.send().status, 200);
            slowest = slowest.max(watch.elapsed());
        }
    }
    slowest
}

#[test]
fn bodies_of_a_mebibyte_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let huge = "x".repeat(MEBIBYTE);
    let fields =
        [("grant_type", "authorization_code"), ("code", &code), ("redirect_uri", CALLBACK), ("junk", &huge)];
    assert_eq!(oauth_error(&fixture.token_request(&fields), 413), "invalid_request");
    for path in ["connect/introspect", "connect/revocation"] {
        let [id, secret] = credentials(&fixture.app);
        let response = fixture.post_form(path, &[id, secret, ("token", &huge)]);
        assert_eq!(oauth_error(&response, 413), "invalid_request", "{path}");
    }
    for path in ["connect/authorize", "connect/endsession", "login", "tenant", "logout", "permissions"] {
        let response = fixture.post_form(path, &[("ticket", &huge)]);
        assert_eq!((response.status, response.header("location")), (413, ""), "{path}");
    }
    let form = fixture.post_form("connect/userinfo", &[("access_token", &huge)]);
    assert_eq!(form.status, 413);
    for (name, value) in [("client_secret", &huge), ("client_id", &huge), ("code_verifier", &huge)] {
        assert_eq!(fixture.post_form("connect/token", &[(name, value)]).status, 413, "{name}");
    }
    assert_eq!(fixture.exchange(&code).status, 200, "the code is unused");
    fixture.server.assert_healthy();
}

#[test]
fn long_parameter_values_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let long = "x".repeat(17 * 1024);
    for name in ["code", "redirect_uri", "code_verifier", "refresh_token", "scope", "junk"] {
        let response = fixture.token_request(&[("grant_type", "authorization_code"), (name, &long)]);
        assert_eq!(oauth_error(&response, 400), "invalid_request", "{name}");
    }
    let browser = fixture.browser();
    let too_long = "x".repeat(4097);
    for name in ["state", "nonce", "login_hint", "ui_locales", "acr_values", "prompt", "junk"] {
        let page = browser.get(&fixture.authorization_request().with(name, &too_long).path());
        assert_eq!(page.params()["error"], "invalid_request", "{name}");
        assert!(page.location().len() < 2048, "{name} is not repeated: {}", page.location().len());
    }
    let (most, nonce) = ("é".repeat(2048), "n".repeat(4096));
    let page = fixture
        .authorize(&browser, &fixture.authorization_request().with("state", &most).with("nonce", &nonce));
    assert_eq!(page.params()["state"], most, "a value of the maximum length is returned");
    fixture.server.assert_healthy();
}

#[test]
fn very_long_query_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let path = fixture.authorization_request().path();
    let browser = fixture.browser();
    for bytes in [25 * 1024, 40 * 1024] {
        let page = browser.get(&format!("{path}&x={}", "y".repeat(bytes)));
        assert_eq!((page.status, page.location()), (414, ""), "{bytes}");
    }
    for bytes in [100 * 1024, MEBIBYTE] {
        let head = format!("GET {path}&x={} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(bytes));
        let status = send_raw_bytes(fixture.server, head.as_bytes());
        assert!(status.is_none_or(|status| [400, 414, 431].contains(&status)), "{bytes}: {status:?}");
    }
    let many = "a=1&".repeat(10_000);
    assert_eq!(browser.get(&format!("{path}&{many}")).status, 414);
    let some = "a=&".repeat(5_000);
    let page = browser.get(&format!("{path}&{some}"));
    assert_eq!(page.params()["error"], "invalid_request", "{page:?}");
    fixture.server.assert_healthy();
}

#[test]
fn ten_thousand_parameters_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let names: Vec<String> = (0..10_000).map(|number| format!("p{number}")).collect();
    let mut fields: Vec<(&str, &str)> = credentials(&fixture.app).to_vec();
    fields.extend([("grant_type", "authorization_code"), ("code", &code)]);
    fields.push(("redirect_uri", CALLBACK));
    let most: Vec<_> = names.iter().take(5_000).map(|name| (name.as_str(), "")).collect();
    fields.extend(&most);
    let watch = Stopwatch::start();
    assert_eq!(oauth_error(&fixture.post_form("connect/token", &fields), 400), "invalid_request");
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    for path in ["login", "tenant", "logout", "permissions", "connect/authorize", "connect/endsession"] {
        let response = fixture.post_form(path, &all);
        assert!(response.status < 500, "{path}: {response:?}");
    }
    assert!(watch.elapsed() < QUICK, "{:?}", watch.elapsed());
    assert_eq!(fixture.exchange(&code).status, 200, "the code is unused");
    fixture.server.assert_healthy();
}

#[test]
fn excessive_headers_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let long = "x".repeat(MEBIBYTE);
    let many = (0..2_000).fold(String::new(), |all, number| format!("{all}x-{number}: y\r\n"));
    let path = "/auth/core/connect/userinfo";
    for headers in [format!("authorization: Bearer {long}\r\n"), format!("cookie: {long}\r\n"), many] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n");
        let status = send_raw_bytes(fixture.server, head.as_bytes());
        assert!(status.is_none_or(|status| [400, 401, 431].contains(&status)), "{status:?}");
    }
    let wrong = HttpRequest::new(Method::GET, &format!("{}{path}", fixture.server.public_url));
    assert_eq!(wrong.header("authorization", &format!("Bearer {}", "y".repeat(30_000))).send().status, 401);
    fixture.server.assert_healthy();
}
