//! Attacks on authorization codes: mixed up, injected, stripped of their proof, replayed, raced for, and taken
//! elsewhere.

use super::fixture;
use crate::harness::{
    AuthorizationRequest, CALLBACK, ISSUER, SignInFixture, TestApp, Tokens, claims, half_hash, oauth_error,
    register_app, run_concurrently, sha256,
};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const OTHER_CALLBACK: &str = "https://app.example/callback";

fn another_app(fixture: &SignInFixture<'_>) -> TestApp {
    register_app(fixture.server, &[])
}

/// The request of an application that proves itself.
fn proving(request: AuthorizationRequest) -> AuthorizationRequest {
    request.with("code_challenge", &sha256(VERIFIER)).with("code_challenge_method", "S256")
}

#[test]
fn mix_up_every_answer_names_its_issuer() {
    let fixture = fixture(1, &["--consent"]);
    let browser = fixture.browser();
    let refused = [
        fixture.authorization_request().with("response_type", "code id_token"),
        fixture.authorization_request().with("prompt", "none"),
        fixture.authorization_request().with("scope", "nothing.known"),
        fixture.authorization_request().with("request", "x"),
    ];
    for request in refused {
        let page = browser.get(&request.path());
        assert_eq!(page.params()["iss"], ISSUER, "{page:?}");
        assert!(page.params().contains_key("error"), "{page:?}");
    }
    let choice = fixture.submit_credentials(
        &browser,
        &browser.follow_redirects(browser.get(&fixture.authorization_request().path())),
    );
    let denied = browser.submit(&choice.form("post"), &[("decision", "deny")]);
    assert_eq!(
        (denied.params()["error"].as_str(), denied.params()["iss"].as_str()),
        ("access_denied", ISSUER)
    );
    let given = fixture.authorize(&browser, &fixture.authorization_request());
    assert_eq!(given.params()["iss"], ISSUER);
    let posted =
        fixture.authorize(&browser, &fixture.authorization_request().with("response_mode", "form_post"));
    assert_eq!(posted.value("iss"), ISSUER);
    fixture.server.assert_healthy();
}

#[test]
fn mix_up_a_code_of_one_application_is_worth_nothing_to_another() {
    let fixture = fixture(1, &[]);
    let other = fixture.with_app(another_app(&fixture));
    let code = fixture.code(&fixture.authorization_request());
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    let borrowed = TestApp { id: fixture.app.id.clone(), secret: other.app.secret.clone() };
    assert_eq!(oauth_error(&fixture.with_app(borrowed).exchange(&code), 401), "invalid_client");
    Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    fixture.server.assert_healthy();
}

#[test]
fn a_foreign_use_of_a_used_code_revokes_nothing() {
    let fixture = fixture(1, &[]);
    let other = fixture.with_app(another_app(&fixture));
    let code = fixture.code(&fixture.authorization_request());
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    oauth_error(&other.exchange(&code), 400);
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "another's replay severs nobody");
    fixture.server.assert_healthy();
}

#[test]
fn code_injection_is_seen_by_nonce_and_hash_and_stopped_by_the_proof() {
    let (victim, attacker) = (fixture(1, &[]), fixture(1, &[]));
    let attacker = SignInFixture { app: victim.app.clone(), ..attacker };
    let expected = victim.authorize(
        &victim.browser(),
        &proving(victim.authorization_request()).with("nonce", "of-the-victim"),
    );
    let other_verifier = "x".repeat(43);
    let request = attacker.authorization_request().with("nonce", "of-the-attacker");
    let request =
        request.with("code_challenge", &sha256(&other_verifier)).with("code_challenge_method", "S256");
    let attackers = attacker.browser();
    let injected = attacker.code_in_browser(&attackers, &request);
    // The victim's callback, with the attacker's code in it.
    let id_token = claims(&expected.params()["id_token"]);
    assert_eq!(id_token["c_hash"], half_hash(&expected.params()["code"]));
    assert_ne!(id_token["c_hash"], half_hash(&injected), "the callback's hash gives it away");
    let with_verifier = |verifier| [("code_verifier", verifier)];
    let stopped = victim.exchange_with(&injected, &with_verifier(VERIFIER));
    assert_eq!(oauth_error(&stopped, 400), "invalid_grant", "the victim's verifier is for another code");
    // An application that does not prove itself still sees whose nonce it is.
    let unproved = attacker
        .code_in_browser(&attackers, &attacker.authorization_request().with("nonce", "of-the-attacker"));
    let tokens = Tokens::from_response(&victim.exchange(&unproved));
    assert_eq!(claims(tokens.id())["nonce"], "of-the-attacker");
    victim.server.assert_healthy();
}

#[test]
fn pkce_downgrade_a_proof_cannot_be_stripped_from_the_request() {
    let fixture = fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let stripped = fixture.code_in_browser(&browser, &fixture.authorization_request());
    let verifier = ("code_verifier", VERIFIER);
    let refused = fixture.exchange_with(&stripped, &[verifier]);
    assert_eq!(oauth_error(&refused, 400), "invalid_grant", "somebody took the challenge out");
    assert_eq!(oauth_error(&fixture.exchange(&stripped), 400), "invalid_grant", "and the code is used up");
    let challenge = sha256(VERIFIER);
    for wrong in [&[][..], &[("code_verifier", challenge.as_str())], &[("code_verifier", "short")]] {
        let code = fixture.code_in_browser(&browser, &proving(fixture.authorization_request()));
        assert_eq!(oauth_error(&fixture.exchange_with(&code, wrong), 400), "invalid_grant", "{wrong:?}");
        let late = fixture.exchange_with(&code, &[verifier]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "a proof has one try");
    }
    let code = fixture.code_in_browser(&browser, &proving(fixture.authorization_request()));
    Tokens::from_response(&fixture.exchange_with(&code, &[verifier]));
    fixture.server.assert_healthy();
}

#[test]
fn pkce_downgrade_no_other_method_will_do() {
    let fixture = fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let challenge = sha256(VERIFIER);
    let with = |method| {
        fixture
            .authorization_request()
            .with("code_challenge", &challenge)
            .with("code_challenge_method", method)
    };
    let short = proving(fixture.authorization_request()).with("code_challenge", "abc");
    for request in [
        with("plain"),
        with("s256"),
        with("S512"),
        with(""),
        with("S256").without("code_challenge_method"),
        with("S256").without("code_challenge"),
        short,
        proving(fixture.authorization_request()).with("code_challenge", &format!("{challenge}=")),
    ] {
        let page = browser.get(&request.path());
        assert_eq!(page.params()["error"], "invalid_request", "{request:?}");
        assert!(!page.has_code(), "{page:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn pkce_downgrade_who_must_prove_must() {
    let fixture = fixture(1, &["--pkce", "required"]);
    let browser = fixture.browser();
    for request in
        [fixture.authorization_request(), fixture.authorization_request().with("code_challenge", "")]
    {
        let page = browser.get(&request.path());
        assert_eq!(page.params()["error"], "invalid_request", "{page:?}");
    }
    let code = fixture.code_in_browser(&browser, &proving(fixture.authorization_request()));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    let code = fixture.code_in_browser(&browser, &proving(fixture.authorization_request()));
    Tokens::from_response(&fixture.exchange_with(&code, &[("code_verifier", VERIFIER)]));
    fixture.server.assert_healthy();
}

#[test]
fn a_replayed_code_costs_its_application_everything_it_gave() {
    let fixture = fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let first = Tokens::from_response(&fixture.exchange(&code));
    let second = Tokens::from_response(&fixture.refresh(first.refresh()));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    for dead in [&first, &second] {
        assert_eq!(fixture.userinfo(dead.access()).status, 401);
        assert_eq!(fixture.introspect(dead.access())["active"], false);
        assert_eq!(oauth_error(&fixture.refresh(dead.refresh()), 400), "invalid_grant");
    }
    fixture.server.assert_healthy();
}

#[test]
fn a_hundred_race_for_one_code_and_one_wins_nothing() {
    let fixture = fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let responses = run_concurrently(100, |_| fixture.exchange(&code));
    let (won, lost): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 99));
    for response in lost {
        assert_eq!(oauth_error(response, 400), "invalid_grant");
    }
    let tokens = Tokens::from_response(won[0]);
    assert_eq!(fixture.userinfo(tokens.access()).status, 401, "the others' tries have revoked it");
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    fixture.server.assert_healthy();
}

#[test]
fn a_code_is_for_the_very_address_that_it_was_sent_to() {
    let fixture = fixture(1, &["--redirect-uri", OTHER_CALLBACK]);
    let browser = fixture.signed_in_browser();
    let variants = [
        OTHER_CALLBACK,
        "http://localhost:8765/callback/",
        "http://localhost:8765/callback?",
        "http://localhost:8765/Callback",
        "http%3A%2F%2Flocalhost%3A8765%2Fcallback",
        " http://localhost:8765/callback",
        "",
    ];
    for elsewhere in variants {
        let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
        let refused = fixture.exchange_with(&code, &[("redirect_uri", elsewhere)]);
        assert_eq!(oauth_error(&refused, 400), "invalid_grant", "{elsewhere:?}");
        let late = fixture.exchange_with(&code, &[("redirect_uri", CALLBACK)]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "used up by the wrong address {elsewhere:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn what_is_no_code_opens_nothing() {
    let fixture = fixture(1, &[]);
    let tokens = fixture.tokens();
    let code = fixture.code(&fixture.authorization_request());
    let longer = format!("{code}A");
    let others = ["x", "' OR '1'='1", tokens.refresh(), tokens.access(), &code[1..], &longer, " "];
    for wrong in others {
        assert_eq!(oauth_error(&fixture.exchange(wrong), 400), "invalid_grant", "{wrong}");
    }
    assert_eq!(oauth_error(&fixture.refresh(&code), 400), "invalid_grant", "a code is no refresh token");
    Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    fixture.server.assert_healthy();
}
