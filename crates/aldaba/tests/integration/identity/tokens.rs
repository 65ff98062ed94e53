//! Token contents: the claims of the contract's tables.

use std::time::Duration;

use serde_json::{Value, json};
use web::Stopwatch;

use crate::harness::{
    AuthorizationRequest, CALLBACK, EmbeddedServer, ISSUER, Installation, JwkSet, SignInFixture, Tokens,
    claims, half_hash, is_guid, members, shared_fixture, shared_signed_in_browser, wait_for,
};

/// The claims of every access token: the contract's common rows, `jti` and `iat`.
const COMMON: [&str; 19] = [
    "$id",
    "amr",
    "aud",
    "auth_time",
    "client_id",
    "exp",
    "iat",
    "idp",
    "iss",
    "jti",
    "mem",
    "nbf",
    "oun",
    "owapp",
    "scope",
    "sub",
    "svc.es.clientid",
    "svc.es.idcda",
    "usr",
];
const ACCOUNTING: [&str; 5] =
    ["email", "given_name", "lang", "svc.es.keyusercorrelationid", "svc.es.modules"];
const PAYROLL: [&str; 2] = ["svc.es.equipouserid", "svc.es.secondclientid"];

/// Tokens of the shared fixture's user, for these scopes.
fn tokens_for(scope: &str) -> Tokens {
    let fixture = shared_fixture();
    Tokens::from_response(&fixture.exchange(
        &fixture.code_in_browser(
            &shared_signed_in_browser(),
            &fixture.authorization_request().with("scope", scope),
        ),
    ))
}

/// The verified claims of an access token with these scopes.
fn access_claims(scope: &str) -> Value {
    JwkSet::fetch(shared_fixture().server).verify(tokens_for(scope).access())
}

#[track_caller]
fn expect_exactly(claims: &Value, parts: &[&[&str]]) {
    let mut expected = parts.concat();
    expected.sort_unstable();
    assert_eq!(members(claims), expected);
}

#[test]
fn accounting_scopes_add_the_accounting_claims() {
    for scope in ["SVC.ES.NEWPOL.COR.API", "SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.MNG.API"] {
        let claims = access_claims(&format!("openid {scope} SVC.ES.Webhooks"));
        expect_exactly(&claims, &[&COMMON, &ACCOUNTING]);
        assert_eq!(claims["scope"], json!(["openid", scope, "SVC.ES.Webhooks"]));
        for name in ACCOUNTING {
            assert!(claims[name].is_string(), "{name}: {claims}");
        }
        assert!(is_guid(claims["svc.es.keyusercorrelationid"].as_str().unwrap()), "{claims}");
        assert_eq!(
            (&claims["given_name"], &claims["lang"], claims["email"].as_str()),
            (&"Lucía".into(), &"es".into(), Some(shared_fixture().email.as_str()))
        );
    }
}

#[test]
fn payroll_scope_adds_the_payroll_claims() {
    let claims = access_claims("offline_access openid IDInfo SVC.ES.EquipoContex");
    expect_exactly(&claims, &[&COMMON, &PAYROLL]);
    assert_eq!(claims["scope"], json!(["openid", "offline_access", "IDInfo", "SVC.ES.EquipoContex"]));
    for name in PAYROLL {
        assert!(claims[name].is_string(), "{name}: {claims}");
    }
}

#[test]
fn both_scopes_add_both_claim_sets_and_no_scope_adds_none() {
    let both = access_claims("SVC.ES.NEWPOL.ACC.API SVC.ES.EquipoContex");
    expect_exactly(&both, &[&COMMON, &ACCOUNTING, &PAYROLL]);
    for scope in ["openid", "SVC.ES.Webhooks", "openid profile email IDInfo"] {
        expect_exactly(&access_claims(scope), &[&COMMON]);
    }
}

#[test]
fn common_claims_have_the_contracts_types_and_values() {
    let fixture = shared_fixture();
    let claims = access_claims("SVC.ES.Webhooks");
    let user = fixture.find_listed("user", "email", &fixture.email);
    let tenant = fixture.find_listed("tenant", "id", &fixture.tenants[0]);
    let texts = [
        ("$id", "1"),
        ("iss", ISSUER),
        ("aud", &format!("{ISSUER}/resources")),
        ("client_id", &fixture.app.id),
        ("idp", "idsrv"),
        ("sub", user["id"].as_str().unwrap()),
        ("usr", user["id"].as_str().unwrap()),
        ("svc.es.clientid", &fixture.tenants[0]),
        ("svc.es.idcda", tenant["short_code"].as_str().unwrap()),
    ];
    for (name, value) in texts {
        assert_eq!(claims[name], value, "{name}");
    }
    for name in ["sub", "usr", "owapp", "mem", "oun"] {
        assert!(is_guid(claims[name].as_str().unwrap()), "{name}: {claims}");
    }
    assert_eq!(claims["scope"], json!(["SVC.ES.Webhooks"]), "an array, also with one element");
    assert_eq!(claims["amr"], json!(["password"]));
    let [exp, nbf, iat, auth_time] =
        ["exp", "nbf", "iat", "auth_time"].map(|name| claims[name].as_i64().unwrap());
    assert_eq!((exp - nbf, iat), (3600, nbf));
    assert!(auth_time <= iat && iat - auth_time < 3600, "{claims}");
}

#[test]
fn every_token_has_a_unique_jti() {
    let [one, other] = [(); 2].map(|()| access_claims("SVC.ES.Webhooks")["jti"].clone());
    assert!(one.is_string() && one != other);
}

#[test]
fn product_claims_name_the_membership_the_application_and_the_tenant() {
    let fixture = SignInFixture::with_tenants(2);
    let browser = fixture.signed_in_browser();
    let [one, other] = [0, 1].map(|number: usize| {
        let page = fixture.authorize_for_tenant(
            &browser,
            &fixture.authorization_request(),
            &fixture.tenants[number],
        );
        claims(Tokens::from_response(&fixture.exchange(&page.params()["code"])).access())
    });
    for same in ["sub", "usr", "owapp", "email"] {
        assert_eq!(one[same], other[same], "{same}");
    }
    for differs in ["mem", "oun", "svc.es.clientid", "svc.es.keyusercorrelationid"] {
        assert_ne!(one[differs], other[differs], "{differs}");
    }
    assert_eq!(other["svc.es.clientid"], fixture.tenants[1]);
}

#[test]
fn guid_tenant_id_is_used_as_the_oun_claim() {
    let fixture = SignInFixture::new();
    let id = "7f2c1a52-0a3e-4c8e-9d13-5f6f0f6f2b11";
    fixture.command(&["tenant", "add", "Bodegas Güell", "--id", id, "--short-code", "4101"]);
    fixture.command(&["user", "join", &fixture.email, id]);
    let page = fixture.authorize_for_tenant(&fixture.browser(), &fixture.authorization_request(), id);
    let claims = claims(Tokens::from_response(&fixture.exchange(&page.params()["code"])).access());
    assert_eq!(
        [&claims["oun"], &claims["svc.es.clientid"], &claims["svc.es.idcda"]]
            .map(|text| text.as_str().unwrap()),
        [id, id, "4101"]
    );
}

/// The claims of every id_token of the token endpoint.
const ID_CLAIMS: &[&str] = &[
    "iss",
    "aud",
    "sub",
    "exp",
    "iat",
    "auth_time",
    "amr",
    "sid",
    "nonce",
    "at_hash",
    "tenant_id",
    "tenant_name",
];

#[test]
fn token_endpoint_id_token_has_the_client_as_audience() {
    let fixture = shared_fixture();
    let tokens = tokens_for("openid SVC.ES.Webhooks");
    let id = JwkSet::fetch(fixture.server).verify(tokens.id());
    expect_exactly(&id, &[ID_CLAIMS]);
    assert_eq!((&id["iss"], &id["aud"]), (&ISSUER.into(), &fixture.app.id.as_str().into()));
    assert_eq!((&id["nonce"], &id["amr"]), (&"n-0S6_WzA2Mj".into(), &json!(["password"])));
    assert_eq!(id["at_hash"], half_hash(tokens.access()));
    let access = claims(tokens.access());
    assert_eq!((&id["sub"], &id["auth_time"]), (&access["sub"], &access["auth_time"]));
    assert!(id["exp"].as_i64() > id["iat"].as_i64(), "{id}");
}

#[test]
fn personal_data_depends_on_the_scopes() {
    let person: &[&str] =
        &["given_name", "name", "preferred_username", "locale", "updated_at", "email", "email_verified"];
    let expected: [(&str, &[&str]); 7] = [
        ("openid SVC.ES.Webhooks SVC.ES.EquipoContex", &[]),
        ("openid SVC.ES.NEWPOL.ACC.API", person),
        ("openid SVC.ES.NEWPOL.COR.API", person),
        ("openid SVC.ES.NEWPOL.MNG.API", person),
        ("openid profile", &["given_name", "name", "locale", "updated_at"]),
        ("openid email", &["email", "email_verified"]),
        ("openid IDInfo", person),
    ];
    for (scope, more) in expected {
        let id = claims(tokens_for(scope).id());
        expect_exactly(&id, &[ID_CLAIMS, more]);
    }
}

#[test]
fn scopes_can_be_separated_by_spaces_plus_signs_and_their_escapes() {
    let fixture = shared_fixture();
    let request = |scope: &str| -> Vec<Value> {
        let path = format!("{}&scope={scope}", fixture.authorization_request().without("scope").path());
        let code = shared_signed_in_browser().get(&path).params()["code"].clone();
        claims(Tokens::from_response(&fixture.exchange(&code)).access())["scope"].as_array().unwrap().clone()
    };
    for separator in ["%20", "+", "%2B", "%20%20", "%2b+"] {
        let scope = ["openid", "SVC.ES.NEWPOL.ACC.API", "offline_access"].join(separator);
        assert_eq!(request(&scope), ["openid", "offline_access", "SVC.ES.NEWPOL.ACC.API"], "{separator}");
    }
}

#[test]
fn scope_is_returned_only_if_it_differs_from_the_request() {
    let returned_scope = |scope: &str| tokens_for(scope).0.get("scope").cloned();
    assert_eq!(returned_scope("openid SVC.ES.Webhooks"), None);
    assert_eq!(returned_scope("SVC.ES.Webhooks openid"), None, "the order does not matter");
    assert_eq!(returned_scope("openid SVC.ES.Webhooks address"), Some("openid SVC.ES.Webhooks".into()));
}

#[test]
fn refresh_and_id_tokens_require_their_scopes() {
    let all = tokens_for("openid offline_access SVC.ES.Webhooks");
    assert_eq!(members(&all.0), ["access_token", "expires_in", "id_token", "refresh_token", "token_type"]);
    let plain = tokens_for("SVC.ES.Webhooks");
    assert_eq!(members(&plain.0), ["access_token", "expires_in", "token_type"]);
}

#[test]
fn access_token_expires_after_the_configured_time_plus_five_seconds_of_clock_skew() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.access_token_ttl=1s"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let watch = Stopwatch::start();
    let tokens = fixture.tokens();
    assert_eq!(tokens.0["expires_in"], 1);
    let claims = claims(tokens.access());
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["nbf"].as_i64().unwrap(), 1);
    let issued = watch.elapsed();
    wait_for("the token to expire", || (fixture.userinfo(tokens.access()).status == 401).then_some(()));
    let expired = watch.elapsed();
    assert!(expired > issued + Duration::from_secs(4), "issued after {issued:?}, expired after {expired:?}");
    assert!(expired < Duration::from_secs(12), "it expired after {expired:?}");
    assert_eq!(fixture.introspect(tokens.access()), json!({"active": false}));
    assert_eq!(fixture.refresh(tokens.refresh()).status, 200, "and it can be refreshed");
}

#[test]
fn nonce_is_copied_unchanged() {
    let fixture = shared_fixture();
    for nonce in ["0d9d1d4e-5a0d-4b43-9a8a-3f1c3c1b1a11", "ñ & \"+% €", &"x".repeat(4096)] {
        let request: AuthorizationRequest =
            fixture.authorization_request().with("nonce", nonce).with("redirect_uri", CALLBACK);
        let tokens = Tokens::from_response(
            &fixture.exchange(&fixture.code_in_browser(&shared_signed_in_browser(), &request)),
        );
        assert_eq!(claims(tokens.id())["nonce"], nonce);
    }
}
