//! Back-channel logout: clients are told when a session ends in which they got an id_token, and only then.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use domain::ClientId;
use serde_json::{Value, json};
use store::{LogoutProgress, LogoutState, Logouts as _};

use crate::harness::{
    Browser, EmbeddedServer, ISSUER, Installation, JwkSet, PASSWORD, Receiver, ServeProcess, Server,
    SignInFixture, TestApp, Tokens, claims, decode_form, encode_form, members, register_app, shared_server,
    wait_for,
};

const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
const LOOPBACK: [&str; 4] = ["--set", "egress.loopback=true", "--set", "egress.accept_loopback=true"];

/// A server that dials loopback addresses.
fn server() -> &'static Server {
    static SHARED: OnceLock<EmbeddedServer> = OnceLock::new();
    SHARED.get_or_init(|| EmbeddedServer::start_shared(&["egress.loopback=true"]))
}

/// A client that is told at this address.
fn told_client(server: &Server, uri: &str) -> TestApp {
    let mut arguments = vec!["--backchannel-logout-uri", uri];
    arguments.extend(LOOPBACK);
    register_app(server, &arguments)
}

fn told_fixture<'a>(server: &'a Server, receiver: &Receiver) -> SignInFixture<'a> {
    let fixture = SignInFixture::on(server, 1, &[]);
    let app = told_client(server, &receiver.url("/logout"));
    SignInFixture { app, ..fixture }
}

/// The id_token of the client, in a session of this browser.
#[track_caller]
fn sign_in(fixture: &SignInFixture<'_>, browser: &Browser) -> Tokens {
    let code = fixture.code_in_browser(browser, &fixture.authorization_request());
    Tokens::from_response(&fixture.exchange(&code))
}

fn sid(id_token: &str) -> String {
    claims(id_token)["sid"].as_str().unwrap().to_owned()
}

#[track_caller]
fn sign_out(browser: &Browser, id_token: &str) {
    let query = encode_form(&[("id_token_hint", id_token)]);
    assert_eq!(browser.get(&format!("/auth/core/connect/endsession?{query}")).status, 200);
}

/// The claims of the tokens that the receiver got, verified with the server's published keys.
fn received(server: &Server, receiver: &Receiver) -> Vec<Value> {
    let keys = JwkSet::fetch(server);
    let tokens = receiver.requests().into_iter().map(|request| {
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/logout"));
        assert_eq!(request.headers["content-type"], "application/x-www-form-urlencoded");
        let form = decode_form(&request.body);
        assert_eq!(form.len(), 1, "{form:?}");
        keys.verify_as("logout+jwt", &form["logout_token"])
    });
    tokens.collect()
}

#[track_caller]
fn wait_for_tokens(server: &Server, receiver: &Receiver, count: usize) -> Vec<Value> {
    wait_for("logout tokens", || (receiver.requests().len() >= count).then(|| received(server, receiver)))
}

fn last_logout(fixture: &SignInFixture<'_>) -> Option<LogoutProgress> {
    let client = ClientId::new(fixture.app.id.as_str());
    fixture.server.installation.in_store(async |store| store.last_logout(&client).await.unwrap())
}

#[test]
fn sign_out_tells_the_clients_of_the_session_alone() {
    let (receiver, uninvolved) = (Receiver::open(), Receiver::open());
    let fixture = told_fixture(server(), &receiver);
    let other = fixture.with_app(told_client(server(), &uninvolved.url("/logout")));
    let [here, there] = [fixture.browser(), fixture.browser()];
    let tokens = sign_in(&fixture, &here);
    sign_in(&fixture, &there);
    let of_other_session = sign_in(&other, &there);
    sign_out(&here, tokens.id());

    let [token] = &wait_for_tokens(server(), &receiver, 1)[..] else { panic!("one session has ended") };
    assert_eq!(members(token), ["aud", "events", "exp", "iat", "iss", "jti", "sid", "sub"], "no nonce");
    let id_claims = claims(tokens.id());
    for member in ["sub", "aud", "sid"] {
        assert_eq!(token[member], id_claims[member], "{member}");
    }
    assert_eq!((&token["iss"], &token["events"]), (&json!(ISSUER), &json!({ EVENT: {} })));
    let lifetime = token["exp"].as_i64().unwrap() - token["iat"].as_i64().unwrap();
    assert!((1..=120).contains(&lifetime), "{token}");

    // The other session goes on, until the user ends it.
    sign_out(&there, of_other_session.id());
    let tokens = wait_for_tokens(server(), &receiver, 2);
    assert_ne!(tokens[0]["sid"], tokens[1]["sid"]);
    assert_ne!(tokens[0]["jti"], tokens[1]["jti"]);
    let [token] = &wait_for_tokens(server(), &uninvolved, 1)[..] else { panic!("one session was its own") };
    assert_eq!(token["aud"], other.app.id);
    let delivered = wait_for("audit entries", || {
        let query = format!("kind=backchannel_logout_delivered&client={}", fixture.app.id);
        Some(fixture.audit(&query)).filter(|records| records.len() == 2)
    });
    assert_eq!(delivered[0]["actor"], "service");
    let queued = fixture.audit(&format!("kind=backchannel_logout_queued&client={}", fixture.app.id));
    assert_eq!(queued.len(), 2);
}

#[test]
fn sid_is_stable_in_a_session_and_differs_between_clients() {
    let receiver = Receiver::open();
    let fixture = told_fixture(server(), &receiver);
    let other = fixture.with_app(register_app(server(), &[]));
    let browser = fixture.browser();
    let page = fixture.authorize(&browser, &fixture.authorization_request());
    let in_callback = sid(&page.params()["id_token"]);
    let tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
    let refreshed = Tokens::from_response(&fixture.refresh(tokens.refresh()));
    let cookie = browser.cookie(crate::harness::SESSION).unwrap();
    // The user signs in again with the same browser: another cookie, the same session for clients.
    let login = fixture.authorization_request().with("prompt", "login");
    let again = Tokens::from_response(&fixture.exchange(&fixture.code_in_browser(&browser, &login)));
    assert_ne!(browser.cookie(crate::harness::SESSION).unwrap(), cookie);
    for token in [tokens.id(), refreshed.id(), again.id()] {
        assert_eq!(sid(token), in_callback);
    }
    assert!(!cookie.contains(&in_callback));
    let of_other = sid(sign_in(&other, &browser).id());
    assert_ne!(of_other, in_callback);
    sign_out(&browser, again.id());
    let [token] = &wait_for_tokens(server(), &receiver, 1)[..] else { panic!("one session has ended") };
    assert_eq!(token["sid"], in_callback);
    let next = sid(sign_in(&fixture, &browser).id());
    assert_ne!(next, in_callback, "another session");
}

#[test]
fn every_end_of_a_session_is_told() {
    let receiver = Receiver::open();
    let fixture = told_fixture(server(), &receiver);
    let mut sids = Vec::new();
    let expect_next = |sids: &mut Vec<String>, id_token: &str, how: &str| {
        sids.push(sid(id_token));
        let told = wait_for_tokens(server(), &receiver, sids.len());
        let told: BTreeSet<&str> = told.iter().map(|token| token["sid"].as_str().unwrap()).collect();
        let expected: BTreeSet<&str> = sids.iter().map(String::as_str).collect();
        assert_eq!(told, expected, "{how}");
    };
    // The user confirms at /logout.
    let browser = fixture.browser();
    let tokens = sign_in(&fixture, &browser);
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    expect_next(&mut sids, tokens.id(), "sign-out");
    // From another session, at the account's page.
    let (tokens, browser) = (sign_in(&fixture, &fixture.browser()), fixture.browser());
    let kept = fixture.authorize(&browser, &fixture.authorization_request()).params().remove("id_token");
    let page = browser.get("/auth/core/account");
    let form =
        page.forms().into_iter().find(|form| form.fields.iter().any(|(name, _)| name == "session")).unwrap();
    browser.submit(&form, &[("session", "others"), ("do", "end")]);
    expect_next(&mut sids, tokens.id(), "the account's page");
    // The operator.
    let tokens = sign_in(&fixture, &fixture.browser());
    let set = ["user", "password", fixture.email.as_str()];
    fixture.server.installation.program(&set).input("otra contraseña larga\n").run().code(0);
    sids.push(sid(&kept.unwrap()));
    expect_next(&mut sids, tokens.id(), "a new password ends both sessions");
    fixture.server.installation.program(&set).input(format!("{PASSWORD}\n")).run().code(0);
    let tokens = sign_in(&fixture, &fixture.browser());
    fixture.command(&["user", "disable", &fixture.email]);
    expect_next(&mut sids, tokens.id(), "a disabled user");
}

#[test]
fn logout_token_is_no_other_token() {
    let receiver = Receiver::open();
    let fixture = told_fixture(server(), &receiver);
    let browser = fixture.browser();
    sign_out(&browser, sign_in(&fixture, &browser).id());
    wait_for_tokens(server(), &receiver, 1);
    let token = decode_form(&receiver.requests()[0].body).remove("logout_token").unwrap();
    assert_eq!(fixture.userinfo(&token).status, 401);
    assert_eq!(fixture.introspect(&token), json!({"active": false}));
    let browser = fixture.signed_in_browser();
    let query = encode_form(&[("id_token_hint", token.as_str())]);
    let page = browser.get(&format!("/auth/core/connect/endsession?{query}"));
    assert!(page.location().starts_with("/auth/core/logout?"), "the user is asked: {page:?}");
}

#[test]
fn failed_logout_is_retried_also_after_a_crash() {
    let receiver = Receiver::open();
    let mut server = ServeProcess::start(Installation::new(), &["egress.loopback=true"]);
    receiver.respond_with(|_| Some((503, "")));
    let fixture = told_fixture(&server, &receiver);
    let (app, browser) = (fixture.app.clone(), fixture.browser());
    let tokens = sign_in(&fixture, &browser);
    sign_out(&browser, tokens.id());
    let first = wait_for_tokens(&server, &receiver, 1).remove(0);
    wait_for("the result in the store", || {
        last_logout(&fixture).filter(|last| last.error.contains("503") && last.state == LogoutState::Waiting)
    });
    drop(fixture);
    server.process.kill();
    receiver.respond_with(|_| Some((204, "")));
    let server = ServeProcess::start(server.into_installation(), &["egress.loopback=true"]);
    let tokens = wait_for_tokens(&server, &receiver, 2);
    assert_eq!((&first["sid"], &first["sub"]), (&tokens[1]["sid"], &tokens[1]["sub"]));
    assert_ne!(first["jti"], tokens[1]["jti"], "a new token for each attempt");
    let client = ClientId::new(app.id.as_str());
    let last = wait_for("its delivery", || {
        let last = server.installation.in_store(async |store| store.last_logout(&client).await.unwrap());
        last.filter(|last| last.state == LogoutState::Delivered)
    });
    assert_eq!(last.attempts, 2);
}

#[test]
fn refused_logout_is_not_repeated() {
    let receiver = Receiver::open();
    receiver.respond_with(|_| Some((400, "")));
    let fixture = told_fixture(server(), &receiver);
    let browser = fixture.browser();
    sign_out(&browser, sign_in(&fixture, &browser).id());
    let failed = wait_for("the audit entry", || {
        fixture.audit(&format!("kind=backchannel_logout_failed&client={}", fixture.app.id)).pop()
    });
    assert_eq!(failed["note"], "the application refused it with status 400");
    assert_eq!(receiver.requests().len(), 1);
    assert_eq!(last_logout(&fixture).unwrap().state, LogoutState::Failed);
}

/// The server of the other tests dials public addresses alone.
#[test]
fn addresses_that_are_not_public_are_never_dialled() {
    let receiver = Receiver::open();
    let refused =
        ["client", "add", "App", "--redirect-uri", "https://app.example/", "--backchannel-logout-uri"];
    let program = shared_server().installation.program(&refused);
    program.with(&[receiver.url("/logout").as_str()]).run().expect_failure(2, "must use https");
    // Registered while loopback addresses were allowed, or by an address that is not public.
    let addresses = [
        (receiver.url("/logout"), "must use https"),
        ("https://127.0.0.1/logout".to_owned(), "the host is not a public address"),
        ("https://[::1]/logout".to_owned(), "the host is not a public address"),
        ("https://10.0.0.8/logout".to_owned(), "the host is not a public address"),
    ];
    let fixture = SignInFixture::new();
    for (uri, why) in addresses {
        let fixture = fixture.with_app(told_client(shared_server(), &uri));
        let browser = fixture.browser();
        sign_out(&browser, sign_in(&fixture, &browser).id());
        let last = wait_for("an attempt", || last_logout(&fixture).filter(|last| !last.error.is_empty()));
        assert!(last.error.contains(why), "{uri}: {last:?}");
    }
    assert_eq!(receiver.connections(), 0);
}
