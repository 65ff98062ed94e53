//! Attacks on authorization codes: mixed up, injected, stripped of their proof, replayed, raced for, and taken
//! elsewhere.

use super::office;
use crate::harness::{
    App, Ask, CALLBACK, ISSUER, Office, Tokens, at_once, claims, half_hash, new_app, oauth_error, sha256,
};

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const OTHER_CALLBACK: &str = "https://app.example/callback";

fn another_app(office: &Office<'_>) -> App {
    new_app(office.serve, &[])
}

/// The request of an application that proves itself.
fn proving(ask: Ask) -> Ask {
    ask.with("code_challenge", &sha256(VERIFIER)).with("code_challenge_method", "S256")
}

#[test]
fn mix_up_every_answer_names_its_issuer() {
    let office = office(1, &["--consent"]);
    let browser = office.browser();
    let refused = [
        office.ask().with("response_type", "code id_token"),
        office.ask().with("prompt", "none"),
        office.ask().with("scope", "nothing.known"),
        office.ask().with("request", "x"),
    ];
    for ask in refused {
        let page = browser.get(&ask.path());
        assert_eq!(page.params()["iss"], ISSUER, "{page:?}");
        assert!(page.params().contains_key("error"), "{page:?}");
    }
    let choice = office.enter(&browser, &browser.settle(browser.get(&office.ask().path())));
    let denied = browser.submit(&choice.form("post"), &[("decision", "deny")]);
    assert_eq!(
        (denied.params()["error"].as_str(), denied.params()["iss"].as_str()),
        ("access_denied", ISSUER)
    );
    let given = office.arrive(&browser, &office.ask());
    assert_eq!(given.params()["iss"], ISSUER);
    let posted = office.arrive(&browser, &office.ask().with("response_mode", "form_post"));
    assert_eq!(posted.value("iss"), ISSUER);
    office.serve.is_well();
}

#[test]
fn mix_up_a_code_of_one_application_is_worth_nothing_to_another() {
    let office = office(1, &[]);
    let other = office.with_app(another_app(&office));
    let code = office.code(&office.ask());
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    let borrowed = App { id: office.app.id.clone(), secret: other.app.secret.clone() };
    assert_eq!(oauth_error(&office.with_app(borrowed).exchange(&code), 401), "invalid_client");
    Tokens::of(&office.exchange(&code));
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    office.serve.is_well();
}

#[test]
fn a_foreign_use_of_a_used_code_revokes_nothing() {
    let office = office(1, &[]);
    let other = office.with_app(another_app(&office));
    let code = office.code(&office.ask());
    let tokens = Tokens::of(&office.exchange(&code));
    oauth_error(&other.exchange(&code), 400);
    assert_eq!(office.userinfo(tokens.access()).status, 200, "another's replay severs nobody");
    office.serve.is_well();
}

#[test]
fn code_injection_is_seen_by_nonce_and_hash_and_stopped_by_the_proof() {
    let (victim, attacker) = (office(1, &[]), office(1, &[]));
    let attacker = Office { app: victim.app.clone(), ..attacker };
    let expected = victim.arrive(&victim.browser(), &proving(victim.ask()).with("nonce", "of-the-victim"));
    let other_verifier = "x".repeat(43);
    let ask = attacker.ask().with("nonce", "of-the-attacker");
    let ask = ask.with("code_challenge", &sha256(&other_verifier)).with("code_challenge_method", "S256");
    let attackers = attacker.browser();
    let injected = attacker.code_in(&attackers, &ask);
    // The victim's callback, with the attacker's code in it.
    let id_token = claims(&expected.params()["id_token"]);
    assert_eq!(id_token["c_hash"], half_hash(&expected.params()["code"]));
    assert_ne!(id_token["c_hash"], half_hash(&injected), "the callback's hash gives it away");
    let with_verifier = |verifier| [("code_verifier", verifier)];
    let stopped = victim.exchange_with(&injected, &with_verifier(VERIFIER));
    assert_eq!(oauth_error(&stopped, 400), "invalid_grant", "the victim's verifier is for another code");
    // An application that does not prove itself still sees whose nonce it is.
    let unproved = attacker.code_in(&attackers, &attacker.ask().with("nonce", "of-the-attacker"));
    let tokens = Tokens::of(&victim.exchange(&unproved));
    assert_eq!(claims(tokens.id())["nonce"], "of-the-attacker");
    victim.serve.is_well();
}

#[test]
fn pkce_downgrade_a_proof_cannot_be_stripped_from_the_request() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let stripped = office.code_in(&browser, &office.ask());
    let verifier = ("code_verifier", VERIFIER);
    let refused = office.exchange_with(&stripped, &[verifier]);
    assert_eq!(oauth_error(&refused, 400), "invalid_grant", "somebody took the challenge out");
    assert_eq!(oauth_error(&office.exchange(&stripped), 400), "invalid_grant", "and the code is used up");
    let challenge = sha256(VERIFIER);
    for wrong in [&[][..], &[("code_verifier", challenge.as_str())], &[("code_verifier", "short")]] {
        let code = office.code_in(&browser, &proving(office.ask()));
        assert_eq!(oauth_error(&office.exchange_with(&code, wrong), 400), "invalid_grant", "{wrong:?}");
        let late = office.exchange_with(&code, &[verifier]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "a proof has one try");
    }
    let code = office.code_in(&browser, &proving(office.ask()));
    Tokens::of(&office.exchange_with(&code, &[verifier]));
    office.serve.is_well();
}

#[test]
fn pkce_downgrade_no_other_method_will_do() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let challenge = sha256(VERIFIER);
    let with = |method| office.ask().with("code_challenge", &challenge).with("code_challenge_method", method);
    let short = proving(office.ask()).with("code_challenge", "abc");
    for ask in [
        with("plain"),
        with("s256"),
        with("S512"),
        with(""),
        with("S256").without("code_challenge_method"),
        with("S256").without("code_challenge"),
        short,
        proving(office.ask()).with("code_challenge", &format!("{challenge}=")),
    ] {
        let page = browser.get(&ask.path());
        assert_eq!(page.params()["error"], "invalid_request", "{ask:?}");
        assert!(!page.has_code(), "{page:?}");
    }
    office.serve.is_well();
}

#[test]
fn pkce_downgrade_who_must_prove_must() {
    let office = office(1, &["--pkce", "required"]);
    let browser = office.browser();
    for ask in [office.ask(), office.ask().with("code_challenge", "")] {
        let page = browser.get(&ask.path());
        assert_eq!(page.params()["error"], "invalid_request", "{page:?}");
    }
    let code = office.code_in(&browser, &proving(office.ask()));
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
    let code = office.code_in(&browser, &proving(office.ask()));
    Tokens::of(&office.exchange_with(&code, &[("code_verifier", VERIFIER)]));
    office.serve.is_well();
}

#[test]
fn a_replayed_code_costs_its_application_everything_it_gave() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let first = Tokens::of(&office.exchange(&code));
    let second = Tokens::of(&office.refresh(first.refresh()));
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
    for dead in [&first, &second] {
        assert_eq!(office.userinfo(dead.access()).status, 401);
        assert_eq!(office.introspect(dead.access())["active"], false);
        assert_eq!(oauth_error(&office.refresh(dead.refresh()), 400), "invalid_grant");
    }
    office.serve.is_well();
}

#[test]
fn a_hundred_race_for_one_code_and_one_wins_nothing() {
    let office = office(1, &[]);
    let code = office.code(&office.ask());
    let replies = at_once(100, |_| office.exchange(&code));
    let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert_eq!((won.len(), lost.len()), (1, 99));
    for reply in lost {
        assert_eq!(oauth_error(reply, 400), "invalid_grant");
    }
    let tokens = Tokens::of(won[0]);
    assert_eq!(office.userinfo(tokens.access()).status, 401, "the others' tries have revoked it");
    assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
    office.serve.is_well();
}

#[test]
fn a_code_is_for_the_very_address_that_it_was_sent_to() {
    let office = office(1, &["--redirect-uri", OTHER_CALLBACK]);
    let browser = office.signed_in();
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
        let code = office.code_in(&browser, &office.ask());
        let refused = office.exchange_with(&code, &[("redirect_uri", elsewhere)]);
        assert_eq!(oauth_error(&refused, 400), "invalid_grant", "{elsewhere:?}");
        let late = office.exchange_with(&code, &[("redirect_uri", CALLBACK)]);
        assert_eq!(oauth_error(&late, 400), "invalid_grant", "used up by the wrong address {elsewhere:?}");
    }
    office.serve.is_well();
}

#[test]
fn what_is_no_code_opens_nothing() {
    let office = office(1, &[]);
    let tokens = office.tokens();
    let code = office.code(&office.ask());
    let longer = format!("{code}A");
    let others = ["x", "' OR '1'='1", tokens.refresh(), tokens.access(), &code[1..], &longer, " "];
    for wrong in others {
        assert_eq!(oauth_error(&office.exchange(wrong), 400), "invalid_grant", "{wrong}");
    }
    assert_eq!(oauth_error(&office.refresh(&code), 400), "invalid_grant", "a code is no refresh token");
    Tokens::of(&office.exchange(&code));
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    office.serve.is_well();
}
