//! A sign-in from the authorization URL to the tokens, and everything that must be refused on the way.

use std::sync::OnceLock;

use aldaba_client::sign_in::{
    AuthorizationRequest, CallbackError, CompletedSignIn, IdTokenError, PendingSignIn, SignIn,
};
use aldaba_client::{Error, Secret};
use serde_json::{Value, json};

use super::fake_network::{
    AUTH_URL, FakeClock, FakeTransport, ISSUER, IssuerKey, NOW, metadata, ok, pairs, response,
};

const REDIRECT: &str = "https://panel.example/callback";

/// The settings of the fake identity provider.
#[derive(Clone)]
struct ProviderSetup {
    /// Changes to the claims of the id_token in the callback.
    callback: Value,
    /// Changes to the claims of the id_token from the token endpoint; null for no id_token.
    token: Value,
}

fn signer() -> &'static IssuerKey {
    static SIGNER: OnceLock<IssuerKey> = OnceLock::new();
    SIGNER.get_or_init(|| IssuerKey::new("key-1"))
}

fn half_hash(text: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    domain::secret::base64url(&digest.as_ref()[..16])
}

fn claims(pending: &PendingSignIn, more: &Value) -> Value {
    let nonce = serde_json::to_value(pending).unwrap()["nonce"].clone();
    let mut claims = json!({
        "iss": ISSUER, "aud": "app", "sub": "maria", "iat": NOW, "exp": NOW + 300, "nonce": nonce,
    });
    for (name, value) in more.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

/// Runs a whole sign-in with a provider that the closure has set up.
async fn run(change: impl FnOnce(&mut ProviderSetup)) -> (Result<CompletedSignIn, Error>, FakeTransport) {
    let (sign_in, started, net, setup) = {
        let slot = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
        let result = slot.clone();
        let net = FakeTransport::new(move |request| match request.uri().path() {
            "/auth/core/.well-known/openid-configuration" => ok(&metadata()),
            "/auth/core/.well-known/jwks" => ok(&json!({"keys": [{"kty": "EC"}, signer().jwk()]})),
            "/auth/core/connect/token" => ok(&result.lock().unwrap()),
            other => panic!("{other}"),
        });
        let sign_in = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT)
            .transport(net.clone())
            .clock(FakeClock::at(NOW))
            .build()
            .unwrap();
        let started = sign_in.start(&AuthorizationRequest::accounting());
        let mut setup = ProviderSetup {
            callback: claims(&started.pending, &json!({"c_hash": half_hash("code-1")})),
            token: claims(
                &started.pending,
                &json!({"at_hash": half_hash("access-1"), "given_name": "María"}),
            ),
        };
        change(&mut setup);
        let id_token = if setup.token.is_null() { Value::Null } else { json!(signer().token(&setup.token)) };
        *slot.lock().unwrap() = json!({
            "access_token": "access-1", "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": "refresh-1", "id_token": id_token,
        });
        (sign_in, started, net, setup)
    };
    let id_token = signer().token(&setup.callback);
    let state = started.pending.state().to_owned();
    let query = [("code", "code-1"), ("state", &state), ("iss", ISSUER), ("id_token", &id_token)];
    let callback = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    (sign_in.finish(&started.pending, &format!("{REDIRECT}?{callback}")).await, net)
}

async fn refused(change: impl FnOnce(&mut ProviderSetup)) -> IdTokenError {
    match run(change).await.0.unwrap_err() {
        Error::IdToken(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn plain() -> SignIn {
    SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT)
        .transport(FakeTransport::new(|request| panic!("nothing is to be asked: {request:?}")))
        .build()
        .unwrap()
}

#[tokio::test]
async fn authorization_url_has_every_parameter_once() {
    let started =
        plain().start(&AuthorizationRequest::accounting().tenant("t 1&x").login_hint("maria@example.com"));
    let (address, query) = started.url.split_once('?').unwrap();
    assert_eq!(address, format!("{ISSUER}/connect/authorize"));
    let result = pairs(query);
    assert_eq!(result.len(), query.split('&').count());
    for (name, value) in [
        ("client_id", "app"),
        ("response_type", "code"),
        ("redirect_uri", REDIRECT),
        ("state", started.pending.state()),
        ("code_challenge_method", "S256"),
        ("acr_values", "tenant:t 1&x"),
        ("login_hint", "maria@example.com"),
    ] {
        assert_eq!(result[name], value, "{name}");
    }
    let scopes = "offline_access openid SVC.ES.NEWPOL.COR.API SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.MNG.API SVC.ES.Webhooks";
    assert_eq!(result["scope"], scopes);
    let stored = serde_json::to_value(&started.pending).unwrap();
    let digest = aws_lc_rs::digest::digest(
        &aws_lc_rs::digest::SHA256,
        stored["verifier"].as_str().unwrap().as_bytes(),
    );
    assert_eq!(result["code_challenge"], domain::secret::base64url(digest.as_ref()));
    assert_eq!(result["nonce"], stored["nonce"].as_str().unwrap());
    let other = plain().start(&AuthorizationRequest::payroll());
    assert_ne!(other.pending.state(), started.pending.state());
    assert!(!format!("{:?}", started.pending).contains(stored["verifier"].as_str().unwrap()));
}

#[tokio::test]
async fn valid_sign_in_returns_tokens_and_identity() {
    let (signed_in, net) = run(|_| {}).await;
    let signed_in = signed_in.unwrap();
    let identity = signed_in.identity.unwrap();
    assert_eq!((identity.sub.as_str(), identity.text("given_name")), ("maria", Some("María")));
    assert_eq!(signed_in.tokens.access_token.reveal(), "access-1");
    assert_eq!(signed_in.tokens.expires_at, NOW + 3600);
    let asked = net.requests();
    let exchange = asked.iter().find(|one| one.uri().path().ends_with("/token")).unwrap();
    let form = pairs(std::str::from_utf8(exchange.body()).unwrap());
    assert_eq!((form["code"].as_str(), form["redirect_uri"].as_str()), ("code-1", REDIRECT));
    assert_eq!((form["client_secret"].as_str(), form["code_verifier"].len()), ("hush", 43));
    assert_eq!(net.count("/auth/core/.well-known/jwks"), 1, "keys are kept");
}

#[tokio::test]
async fn wrong_claims_are_refused() {
    for (member, value, fault) in [
        ("nonce", json!("other"), IdTokenError::Nonce),
        ("aud", json!("other"), IdTokenError::Audience),
        ("aud", json!(["app", "other"]), IdTokenError::Audience),
        ("iss", json!("https://evil.example"), IdTokenError::Issuer("https://evil.example".into())),
        ("exp", json!(NOW - 61), IdTokenError::Expired),
        ("iat", json!(NOW + 61), IdTokenError::IssuedInFuture),
        ("c_hash", json!(half_hash("code-2")), IdTokenError::CodeHash),
        ("c_hash", Value::Null, IdTokenError::CodeHash),
    ] {
        let result = refused(|setup| setup.callback[member] = value.clone()).await;
        assert_eq!(result, fault, "{member} {value}");
    }
    for (member, value, fault) in [
        ("nonce", json!("other"), IdTokenError::Nonce),
        ("at_hash", json!(half_hash("access-2")), IdTokenError::AccessTokenHash),
        ("sub", json!("eva"), IdTokenError::Subject),
    ] {
        let result = refused(|setup| setup.token[member] = value.clone()).await;
        assert_eq!(result, fault, "token's {member}");
    }
    assert_eq!(refused(|setup| setup.token = Value::Null).await, IdTokenError::Missing);
}

#[tokio::test]
async fn several_audiences_require_azp() {
    let (signed_in, _) = run(|setup| {
        setup.token["aud"] = json!(["app", "other"]);
        setup.token["azp"] = json!("app");
    })
    .await;
    assert!(signed_in.is_ok(), "{signed_in:?}");
}

/// The error of a callback with this id_token.
async fn with_token(make: impl FnOnce(&Value) -> String) -> IdTokenError {
    let net = FakeTransport::new(move |request| match request.uri().path() {
        "/auth/core/.well-known/openid-configuration" => ok(&metadata()),
        "/auth/core/.well-known/jwks" => ok(&json!({"keys": [signer().jwk()]})),
        other => panic!("nothing is exchanged: {other}"),
    });
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT);
    let sign_in = builder.transport(net).clock(FakeClock::at(NOW)).build().unwrap();
    let started = sign_in.start(&AuthorizationRequest::accounting());
    let token = make(&claims(&started.pending, &json!({"c_hash": half_hash("code-1")})));
    let state = started.pending.state();
    let callback = format!("code=code-1&state={state}&iss={ISSUER}&id_token={token}");
    match sign_in.finish(&started.pending, &callback).await.unwrap_err() {
        Error::IdToken(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn tokens_not_signed_by_the_issuer_are_refused() {
    let stranger = IssuerKey::new("key-1");
    assert_eq!(with_token(|claims| stranger.token(claims)).await, IdTokenError::Signature);
    let unknown = IssuerKey::new("key-9");
    assert_eq!(with_token(|claims| unknown.token(claims)).await, IdTokenError::UnknownKey("key-9".into()));
    for alg in ["none", "HS256", "RS512"] {
        let header = json!({"alg": alg, "kid": "key-1"});
        let result = with_token(|claims| signer().token_as(&header, claims)).await;
        assert_eq!(result, IdTokenError::Algorithm(alg.into()));
    }
    let result = with_token(|claims| {
        let token = signer().token(claims);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let other = signer().token(&json!({"sub": "eva"}));
        let payload = other.split('.').nth(1).unwrap();
        format!("{}.{payload}.{signature}", signed.split('.').next().unwrap())
    });
    assert_eq!(result.await, IdTokenError::Signature);
    for broken in ["x", "a.b.c", "", "e30.e30.e30.e30"] {
        assert_eq!(with_token(|_| broken.to_owned()).await, IdTokenError::Malformed, "{broken}");
    }
}

#[tokio::test]
async fn foreign_callback_is_refused() {
    let started = plain().start(&AuthorizationRequest::accounting());
    let state = started.pending.state();
    for (callback, fault) in [
        (format!("code=1&state=other&iss={ISSUER}"), CallbackError::State),
        (format!("code=1&iss={ISSUER}"), CallbackError::State),
        (format!("error=access_denied&state=other&iss={ISSUER}"), CallbackError::State),
        (format!("code=1&state={state}"), CallbackError::Missing("iss")),
        (
            format!("code=1&state={state}&iss=https://evil.example"),
            CallbackError::Issuer { found: "https://evil.example".into() },
        ),
        (format!("state={state}&iss={ISSUER}"), CallbackError::Missing("code")),
        (format!("code=1&code=2&state={state}&iss={ISSUER}"), CallbackError::Repeated("code")),
        (format!("state={state}&iss={ISSUER}&code={}", "x".repeat(20_000)), CallbackError::TooLong),
        (
            format!("error=access_denied&error_description=No%20tenant&state={state}&iss={ISSUER}"),
            CallbackError::Denied { error: "access_denied".into(), description: "No tenant".into() },
        ),
    ] {
        match plain().finish(&started.pending, &callback).await.unwrap_err() {
            Error::Callback(result) => assert_eq!(result, fault, "{callback}"),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn code_exchange_is_not_retried() {
    let net = FakeTransport::new(|request| match request.uri().path() {
        "/auth/core/connect/token" => Err(aldaba_client::TransportError::Unreachable("reset".into())),
        other => panic!("{other}"),
    });
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT);
    let sign_in = builder.transport(net.clone()).build().unwrap();
    let started = sign_in.start(&AuthorizationRequest::scopes(["SVC.ES.Webhooks"]));
    let callback = format!("code=1&state={}&iss={ISSUER}", started.pending.state());
    let result = sign_in.finish(&started.pending, &callback).await.unwrap_err();
    assert!(matches!(result, Error::Unreachable { .. }), "{result:?}");
    assert_eq!(net.count("/auth/core/connect/token"), 1);
}

#[tokio::test]
async fn wrong_issuer_in_the_metadata_is_refused() {
    let net = FakeTransport::new(|_| {
        let mut result = metadata();
        result["issuer"] = json!("https://other.example/auth/core");
        ok(&result)
    });
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT);
    let sign_in = builder.transport(net).build().unwrap();
    let tokens = serde_json::from_value(json!({"access_token": "a", "expires_at": 1})).unwrap();
    let result = sign_in.sign_out_url(&tokens, None).await.unwrap_err();
    assert!(result.to_string().contains("https://other.example/auth/core"), "{result}");
}

#[tokio::test]
async fn oauth_error_of_the_provider_is_returned() {
    let net = FakeTransport::new(|_| {
        response(400, &[], &json!({"error": "invalid_grant", "error_description": "Used."}))
    });
    let builder = SignIn::builder(AUTH_URL, "app", Secret::new("hush"), REDIRECT);
    let sign_in = builder.transport(net).build().unwrap();
    let started = sign_in.start(&AuthorizationRequest::scopes(["SVC.ES.Webhooks"]));
    let callback = format!("code=1&state={}&iss={ISSUER}", started.pending.state());
    let result = sign_in.finish(&started.pending, &callback).await.unwrap_err();
    assert_eq!(result.to_string(), "the identity provider says invalid_grant: Used.");
}

#[test]
fn plain_http_is_refused() {
    for (url, is_good) in [
        ("https://auth.example", true),
        ("https://auth.example/", true),
        ("http://localhost:8080", true),
        ("http://127.0.0.1:8080", true),
        ("http://[::1]:8080", true),
        ("http://auth.example", false),
        ("http://localhost.evil.example", false),
        ("http://127.0.0.1.evil.example", false),
        ("https://user@auth.example", false),
        ("ftp://auth.example", false),
        ("/auth", false),
        ("", false),
    ] {
        let made = SignIn::builder(url, "app", Secret::new("s"), REDIRECT)
            .transport(FakeTransport::new(|_| ok(&json!({}))))
            .build();
        assert_eq!(made.is_ok(), is_good, "{url}: {made:?}");
    }
}
