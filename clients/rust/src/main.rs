//! The crate openidconnect signs a user in: discovery, PKCE, code, id_tokens, userinfo, introspection, refresh and revocation.
//! Its first argument is the JSON file about the servers.

mod pages;

use std::{env, error::Error, fs};

use openidconnect::{
    AccessTokenHash, AuthenticationFlow, AuthorizationCode, AuthorizationCodeHash, ClientId, ClientSecret,
    CsrfToken, IntrospectionUrl, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, RedirectUrl,
    RefreshToken, RequestTokenError, Scope, StandardErrorResponse, SubjectIdentifier,
    TokenIntrospectionResponse, TokenResponse,
    core::{
        CoreClient, CoreErrorResponseType, CoreIdToken, CoreIdTokenVerifier, CoreProviderMetadata,
        CoreResponseType, CoreTokenResponse, CoreUserInfoClaims,
    },
};
use pages::{Web, call};
use serde_json::Value;

type Done<T> = Result<T, Box<dyn Error>>;

const SCOPES: [&str; 3] = ["offline_access", "SVC.ES.NEWPOL.ACC.API", "SVC.ES.Webhooks"];

fn main() -> Done<()> {
    let path = env::args().nth(1).ok_or("the file that tells of the servers is missing")?;
    let world: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let dev = &world["dev"];
    let users = dev["users"].as_array().ok_or("no users")?;
    let mut journeys = 0;
    for count in [1, 2] {
        let has_them = |user: &&Value| user["tenants"].as_array().is_some_and(|all| all.len() == count);
        let user = users.iter().find(has_them).ok_or("no such user")?;
        for has_pkce in [true, false] {
            journey(dev, user, text(&user["tenants"][count - 1]), has_pkce)?;
            journeys += 1;
        }
    }
    println!("4.1.0, {journeys} journeys");
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Fails with the expectation unless it holds.
fn check(what: &str, holds: bool) -> Done<()> {
    if holds { Ok(()) } else { Err(format!("expected: {what}").into()) }
}

fn journey(dev: &Value, user: &Value, tenant: &str, has_pkce: bool) -> Done<()> {
    let issuer = IssuerUrl::new(format!("{}/auth/core", text(&dev["auth_url"])))?;
    let metadata = CoreProviderMetadata::discover(&issuer, &call)?;
    // The crate reads only the OpenID Connect endpoints from discovery.
    let introspection = IntrospectionUrl::new(format!("{}/connect/introspect", issuer.as_str()))?;
    let app = &dev["client"];
    let redirect = text(&app["redirect_uri"]);
    let client = CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(text(&app["client_id"]).to_owned()),
        Some(ClientSecret::new(text(&app["client_secret"]).to_owned())),
    )
    .set_redirect_uri(RedirectUrl::new(redirect.to_owned())?)
    .set_introspection_url(introspection);

    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let flow = AuthenticationFlow::<CoreResponseType>::AuthorizationCode;
    let mut request = client
        .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
        .add_scopes(SCOPES.map(|scope| Scope::new(scope.to_owned())));
    if has_pkce {
        request = request.set_pkce_challenge(challenge);
    }
    let (url, state, nonce) = request.url();
    let callback = Web::default().sign_in(url.as_str(), user, tenant, redirect)?;
    check("the state", callback.get("state") == Some(state.secret()))?;
    check("RFC 9207's iss", callback.get("iss").map(String::as_str) == Some(issuer.as_str()))?;
    let code = AuthorizationCode::new(callback.get("code").ok_or("no code")?.clone());

    let judge = client.id_token_verifier();
    check("an id_token in the callback without PKCE alone", callback.contains_key("id_token") != has_pkce)?;
    let early = callback.get("id_token").map(|token| callback_person(token, &judge, &nonce, &code));
    let early = early.transpose()?;
    let mut exchange = client.exchange_code(code)?;
    if has_pkce {
        exchange = exchange.set_pkce_verifier(verifier);
    }
    let tokens = exchange.request(&call)?;
    let person = person(&tokens, &judge, &nonce)?;
    check("the same person in both id_tokens", early.is_none_or(|early| early == person))?;

    let told: CoreUserInfoClaims =
        client.user_info(tokens.access_token().clone(), Some(person.clone()))?.request(&call)?;
    check("userinfo of the same person", *told.subject() == person)?;
    check("an active token", client.introspect(tokens.access_token()).request(&call)?.active())?;

    let first = tokens.refresh_token().ok_or("no refresh token")?;
    let renewed = client.exchange_refresh_token(first)?.request(&call)?;
    let second = renewed.refresh_token().ok_or("no second refresh token")?;
    check("rotation", second.secret() != first.secret())?;

    // The crate revokes only over https, so this call does not use it.
    pages::revoke(issuer.as_str(), app, second.secret())?;
    check("an inactive token", !client.introspect(renewed.access_token()).request(&call)?.active())?;
    let barred: Result<CoreUserInfoClaims, _> =
        client.user_info(renewed.access_token().clone(), None)?.request(&call);
    check("a revoked access token is refused", barred.is_err())?;
    let late = client.exchange_refresh_token(&RefreshToken::new(second.secret().clone()))?.request(&call);
    expect_invalid_grant(late)
}

fn expect_invalid_grant<E: Error + 'static>(
    response: Result<CoreTokenResponse, RequestTokenError<E, StandardErrorResponse<CoreErrorResponseType>>>,
) -> Done<()> {
    match response {
        Err(RequestTokenError::ServerResponse(error)) => {
            check("invalid_grant", error.error().to_string() == "invalid_grant")
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err("a revoked refresh token was taken".into()),
    }
}

/// The subject of the callback's id_token, after verifying it and its c_hash.
fn callback_person(
    token: &str,
    judge: &CoreIdTokenVerifier<'_>,
    nonce: &Nonce,
    code: &AuthorizationCode,
) -> Done<SubjectIdentifier> {
    let token: CoreIdToken = token.parse()?;
    let claims = token.claims(judge, nonce)?;
    let hash = AuthorizationCodeHash::from_code(code, token.signing_alg()?, token.signing_key(judge)?)?;
    check("the c_hash", claims.code_hash() == Some(&hash))?;
    Ok(claims.subject().clone())
}

/// The subject of the token endpoint's id_token, after verifying it and its at_hash.
fn person(
    tokens: &CoreTokenResponse,
    judge: &CoreIdTokenVerifier<'_>,
    nonce: &Nonce,
) -> Done<SubjectIdentifier> {
    let token = tokens.id_token().ok_or("no id_token")?;
    let claims = token.claims(judge, nonce)?;
    let (algorithm, key) = (token.signing_alg()?, token.signing_key(judge)?);
    let hash = AccessTokenHash::from_token(tokens.access_token(), algorithm, key)?;
    check("the at_hash", claims.access_token_hash() == Some(&hash))?;
    Ok(claims.subject().clone())
}
