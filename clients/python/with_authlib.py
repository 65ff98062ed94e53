"""Authlib signs a user in: discovery, PKCE, code, id_tokens, userinfo, introspection, refresh, revocation."""

import os

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # loopback without TLS

import authlib
from authlib.common.security import generate_token
from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OAuthError, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import HybridIDToken
from joserfc import jwt
from joserfc.jwk import KeySet

from pages import SCOPE, accounts, check, done, parameters, sign_in, world


class App(OAuth2Mixin, OpenIDMixin, BaseApp):
    """Authlib's own OpenID Connect client, without a web framework around it."""

    client_cls = OAuth2Session


def check_callback_id_token(token, keys, options, wanted):
    """The id_token that a callback carries if the request has no PKCE challenge; returns its claims."""
    early = jwt.decode(token, keys, algorithms=["RS256"])
    HybridIDToken(early.claims, early.header, options, wanted).validate()
    check("a c_hash", "c_hash" in early.claims, early.claims)
    check("no personal data on the way", not {"email", "given_name"} & set(early.claims), early.claims)
    return early.claims


def journey(dev, client, auth_method, user, tenant, has_pkce):
    issuer = dev["auth_url"] + "/auth/core"
    app = App(
        None,
        client_id=client["client_id"],
        client_secret=client["client_secret"],
        client_kwargs={
            "scope": SCOPE,
            "token_endpoint_auth_method": auth_method,
            "revocation_endpoint_auth_method": auth_method,
            **({"code_challenge_method": "S256"} if has_pkce else {}),
        },
        server_metadata_url=issuer + "/.well-known/openid-configuration",
    )
    metadata = app.load_server_metadata()
    check("the issuer of discovery", metadata["issuer"] == issuer, metadata["issuer"])
    session = OAuth2Session(
        client["client_id"],
        client["client_secret"],
        redirect_uri=client["redirect_uri"],
        **app.client_kwargs,
    )
    nonce, verifier = generate_token(), generate_token(48) if has_pkce else None
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], nonce=nonce, code_verifier=verifier
    )
    location, asked = sign_in(url, user, tenant, client["redirect_uri"])
    check("a choice for who has several tenants", asked == (len(user["tenants"]) > 1), asked)
    callback = parameters(location)
    check("RFC 9207's iss", callback["iss"] == issuer, callback)

    keys = KeySet.import_key_set(app.fetch_jwk_set())
    options = {
        "iss": {"essential": True, "value": issuer},
        "aud": {"essential": True, "value": client["client_id"]},
    }
    wanted = {"nonce": nonce, "client_id": client["client_id"], "code": callback["code"]}
    check("an id_token in the callback without PKCE alone", ("id_token" in callback) != has_pkce, callback)
    early = None if has_pkce else check_callback_id_token(callback["id_token"], keys, options, wanted)

    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=location, state=state, code_verifier=verifier
    )
    check("the usual answer", tokens["token_type"] == "Bearer" and tokens["expires_in"] == 3600, tokens)
    person = app.parse_id_token(tokens, nonce, claims_options=options)
    check("the same person in both id_tokens", early is None or person["sub"] == early["sub"], person)
    check("an at_hash", "at_hash" in person, person)

    access = jwt.decode(tokens["access_token"], keys, algorithms=["RS256"])
    check("the chosen tenant", access.claims["svc.es.clientid"] == tenant, access.claims)
    check("the scopes as a list", sorted(access.claims["scope"]) == sorted(SCOPE.split()), access.claims)
    check("the resources' audience", access.claims["aud"] == issuer + "/resources", access.claims)

    told = session.get(metadata["userinfo_endpoint"])
    check("userinfo of the same person", told.ok and told.json()["sub"] == person["sub"], told.text)
    told = session.introspect_token(metadata["introspection_endpoint"], token=tokens["access_token"])
    check("an active token", told.json().get("active") is True, told.text)

    first = dict(tokens)
    second = dict(session.refresh_token(metadata["token_endpoint"]))
    check("a new refresh token", second["refresh_token"] != first["refresh_token"])
    check("a new access token", second["access_token"] != first["access_token"])
    renewed = app.parse_id_token(second, None, claims_options=options)
    check("the same person again", renewed is None or renewed["sub"] == person["sub"], renewed)

    told = session.revoke_token(
        metadata["revocation_endpoint"], token=second["refresh_token"], token_type_hint="refresh_token"
    )
    check("revocation", told.status_code == 200, told.text)
    try:
        session.refresh_token(metadata["token_endpoint"], refresh_token=second["refresh_token"])
        check("a revoked refresh token is refused", False, "it was taken")
    except OAuthError as error:
        check("invalid_grant", error.error == "invalid_grant", error)
    told = session.introspect_token(metadata["introspection_endpoint"], token=second["access_token"])
    check("an inactive token", told.json() == {"active": False}, told.text)
    told = session.get(metadata["userinfo_endpoint"])
    check("a revoked access token is refused", told.status_code == 401, (told.status_code, told.text))
    check("the reason", 'error="invalid_token"' in told.headers["www-authenticate"], told.headers)


dev = world()["dev"]
for user, tenant in accounts(dev):
    journey(dev, dev["client"], "client_secret_basic", user, tenant, has_pkce=True)
    journey(dev, dev["other_client"], "client_secret_post", user, tenant, has_pkce=False)
done(authlib.__version__)
