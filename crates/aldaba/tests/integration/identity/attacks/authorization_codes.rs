//! Attacks on authorization codes: mix-up, injection, PKCE downgrade, replay, races, and other redirect URIs.

use super::attack_fixture;
use crate::harness::{
    AuthorizationRequest, CALLBACK, ISSUER, SignInFixture, TestApp, Tokens, claims, half_hash, oauth_error,
    register_app, run_concurrently, sha256,
};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const OTHER_CALLBACK: &str = "https://app.example/callback";

fn another_app(fixture: &SignInFixture<'_>) -> TestApp {
    register_app(fixture.server, &[])
}

/// An authorization request with a code challenge.
fn with_code_challenge(request: AuthorizationRequest) -> AuthorizationRequest {
    request.with("code_challenge", &sha256(VERIFIER)).with("code_challenge_method", "S256")
}

#[test]
fn mix_up_every_response_has_the_issuer() {
    let fixture = attack_fixture(1, &["--consent"]);
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
    let granted = fixture.authorize(&browser, &fixture.authorization_request());
    assert_eq!(granted.params()["iss"], ISSUER);
    let posted =
        fixture.authorize(&browser, &fixture.authorization_request().with("response_mode", "form_post"));
    assert_eq!(posted.value("iss"), ISSUER);
    fixture.server.assert_healthy();
}

#[test]
fn mix_up_code_of_one_client_is_refused_for_another() {
    let fixture = attack_fixture(1, &[]);
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
fn reuse_of_a_code_by_another_client_revokes_nothing() {
    let fixture = attack_fixture(1, &[]);
    let other = fixture.with_app(another_app(&fixture));
    let code = fixture.code(&fixture.authorization_request());
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    oauth_error(&other.exchange(&code), 400);
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "a replay by another client revokes nothing");
    fixture.server.assert_healthy();
}

#[test]
fn code_injection_is_detected_by_nonce_and_c_hash_and_stopped_by_pkce() {
    let victim = attack_fixture(1, &["--callback-id-token", "always"]);
    let attacker = SignInFixture { app: victim.app.clone(), ..attack_fixture(1, &[]) };
    let expected = victim.authorize(
        &victim.browser(),
        &with_code_challenge(victim.authorization_request()).with("nonce", "of-the-victim"),
    );
    let other_verifier = "x".repeat(43);
    let request = attacker.authorization_request().with("nonce", "of-the-attacker");
    let request =
        request.with("code_challenge", &sha256(&other_verifier)).with("code_challenge_method", "S256");
    let attackers = attacker.browser();
    let injected = attacker.code_in_browser(&attackers, &request);
    // The victim's callback with the attacker's code.
    let id_token = claims(&expected.params()["id_token"]);
    assert_eq!(id_token["c_hash"], half_hash(&expected.params()["code"]));
    assert_ne!(id_token["c_hash"], half_hash(&injected), "c_hash reveals the foreign code");
    let with_verifier = |verifier| [("code_verifier", verifier)];
    let stopped = victim.exchange_with(&injected, &with_verifier(VERIFIER));
    assert_eq!(
        oauth_error(&stopped, 400),
        "invalid_grant",
        "the victim's verifier does not match the attacker's code"
    );
    // A client without PKCE still notices the foreign nonce.
    let unproved = attacker
        .code_in_browser(&attackers, &attacker.authorization_request().with("nonce", "of-the-attacker"));
    let tokens = Tokens::from_response(&victim.exchange(&unproved));
    assert_eq!(claims(tokens.id())["nonce"], "of-the-attacker");
    victim.server.assert_healthy();
}

#[test]
fn pkce_downgrade_by_removing_the_challenge_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let stripped = fixture.code_in_browser(&browser, &fixture.authorization_request());
    let verifier = ("code_verifier", VERIFIER);
    let refused = fixture.exchange_with(&stripped, &[verifier]);
    assert_eq!(oauth_error(&refused, 400), "invalid_grant", "the challenge was removed from the request");
    assert_eq!(oauth_error(&fixture.exchange(&stripped), 400), "invalid_grant", "and the code is used up");
    let challenge = sha256(VERIFIER);
    for wrong in [&[][..], &[("code_verifier", challenge.as_str())], &[("code_verifier", "short")]] {
        let code = fixture.code_in_browser(&browser, &with_code_challenge(fixture.authorization_request()));
        assert_eq!(oauth_error(&fixture.exchange_with(&code, wrong), 400), "invalid_grant", "{wrong:?}");
        let late = fixture.exchange_with(&code, &[verifier]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "a verifier has one attempt");
    }
    let code = fixture.code_in_browser(&browser, &with_code_challenge(fixture.authorization_request()));
    Tokens::from_response(&fixture.exchange_with(&code, &[verifier]));
    fixture.server.assert_healthy();
}

#[test]
fn pkce_downgrade_to_another_method_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let challenge = sha256(VERIFIER);
    let with = |method| {
        fixture
            .authorization_request()
            .with("code_challenge", &challenge)
            .with("code_challenge_method", method)
    };
    let short = with_code_challenge(fixture.authorization_request()).with("code_challenge", "abc");
    for request in [
        with("plain"),
        with("s256"),
        with("S512"),
        with(""),
        with("S256").without("code_challenge_method"),
        with("S256").without("code_challenge"),
        short,
        with_code_challenge(fixture.authorization_request()).with("code_challenge", &format!("{challenge}=")),
    ] {
        let page = browser.get(&request.path());
        assert_eq!(page.params()["error"], "invalid_request", "{request:?}");
        assert!(!page.has_code(), "{page:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn pkce_downgrade_of_a_client_that_requires_pkce_is_refused() {
    let fixture = attack_fixture(1, &["--pkce", "required"]);
    let browser = fixture.browser();
    for request in
        [fixture.authorization_request(), fixture.authorization_request().with("code_challenge", "")]
    {
        let page = browser.get(&request.path());
        assert_eq!(page.params()["error"], "invalid_request", "{page:?}");
    }
    let code = fixture.code_in_browser(&browser, &with_code_challenge(fixture.authorization_request()));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    let code = fixture.code_in_browser(&browser, &with_code_challenge(fixture.authorization_request()));
    Tokens::from_response(&fixture.exchange_with(&code, &[("code_verifier", VERIFIER)]));
    fixture.server.assert_healthy();
}

#[test]
fn replayed_code_revokes_all_its_tokens() {
    let fixture = attack_fixture(1, &[]);
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
fn race_of_a_hundred_exchanges_leaves_no_valid_tokens() {
    let fixture = attack_fixture(1, &[]);
    let code = fixture.code(&fixture.authorization_request());
    let responses = run_concurrently(100, |_| fixture.exchange(&code));
    let (won, lost): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 99));
    for response in lost {
        assert_eq!(oauth_error(response, 400), "invalid_grant");
    }
    let tokens = Tokens::from_response(won[0]);
    assert_eq!(fixture.userinfo(tokens.access()).status, 401, "the other attempts have revoked the tokens");
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    fixture.server.assert_healthy();
}

#[test]
fn code_is_bound_to_its_redirect_uri() {
    let fixture = attack_fixture(1, &["--redirect-uri", OTHER_CALLBACK]);
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
    for wrong_uri in variants {
        let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
        let refused = fixture.exchange_with(&code, &[("redirect_uri", wrong_uri)]);
        assert_eq!(oauth_error(&refused, 400), "invalid_grant", "{wrong_uri:?}");
        let late = fixture.exchange_with(&code, &[("redirect_uri", CALLBACK)]);
        assert_eq!(
            oauth_error(&late, 400),
            "invalid_grant",
            "used up by the wrong redirect URI {wrong_uri:?}"
        );
    }
    fixture.server.assert_healthy();
}

#[test]
fn invalid_codes_are_refused() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture.tokens();
    let code = fixture.code(&fixture.authorization_request());
    let longer = format!("{code}A");
    let others = ["x", "' OR '1'='1", tokens.refresh(), tokens.access(), &code[1..], &longer, " "];
    for wrong in others {
        assert_eq!(oauth_error(&fixture.exchange(wrong), 400), "invalid_grant", "{wrong}");
    }
    assert_eq!(oauth_error(&fixture.refresh(&code), 400), "invalid_grant", "a code is not a refresh token");
    Tokens::from_response(&fixture.exchange(&code));
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    fixture.server.assert_healthy();
}
