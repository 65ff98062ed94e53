"""requests-oauthlib signs a user in as a plain OAuth client without OpenID Connect; the id_tokens are verified here, with
the library cryptography."""

import base64
import hashlib
import json
import os
import time

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # loopback without TLS

import oauthlib
import requests
import requests_oauthlib
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256
from oauthlib.oauth2 import InvalidGrantError
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from pages import SCOPE, SECONDS_MAX, accounts, check, done, parameters, sign_in, world


def unpacked(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def claims(token, keys):
    """The claims of a token, after verifying its signature with one of the keys."""
    head, body, signature = token.split(".")
    header = json.loads(unpacked(head))
    check("RS256", header["alg"] == "RS256", header)
    key = next(key for key in keys if key["kid"] == header["kid"])
    numbers = [int.from_bytes(unpacked(key[name]), "big") for name in ("e", "n")]
    public = RSAPublicNumbers(*numbers).public_key()
    public.verify(unpacked(signature), f"{head}.{body}".encode(), PKCS1v15(), SHA256())
    return json.loads(unpacked(body))


def half_hash(value):
    half = hashlib.sha256(value.encode("ascii")).digest()[:16]
    return base64.urlsafe_b64encode(half).rstrip(b"=").decode()


def check_id_token(token, keys, issuer, client, nonce):
    told = claims(token, keys)
    check("the issuer", told["iss"] == issuer, told)
    check("the audience", told["aud"] == client["client_id"], told)
    check("the nonce", told.get("nonce") == nonce, told)
    check("now", told["iat"] - 5 <= time.time() < told["exp"], told)
    check("when the user signed in", told["auth_time"] <= time.time() + 5, told)
    return told


def journey(dev, client, user, tenant, has_pkce):
    issuer = dev["auth_url"] + "/auth/core"
    metadata = requests.get(issuer + "/.well-known/openid-configuration", timeout=SECONDS_MAX).json()
    keys = requests.get(metadata["jwks_uri"], timeout=SECONDS_MAX).json()["keys"]
    session = OAuth2Session(
        client["client_id"], redirect_uri=client["redirect_uri"], scope=SCOPE.split(), pkce="S256" if has_pkce else None
    )
    nonce = os.urandom(16).hex()
    url, state = session.authorization_url(metadata["authorization_endpoint"], nonce=nonce)
    location, asked = sign_in(url, user, tenant, client["redirect_uri"])
    check("a choice for who has several tenants", asked == (len(user["tenants"]) > 1), asked)
    callback = parameters(location)
    check("the state", callback["state"] == state, callback)
    check("RFC 9207's iss", callback["iss"] == issuer, callback)
    check("an id_token in the callback without PKCE alone", ("id_token" in callback) != has_pkce, callback)
    early = None
    if not has_pkce:
        early = check_id_token(callback["id_token"], keys, issuer, client, nonce)
        check("the c_hash", early["c_hash"] == half_hash(callback["code"]), early)

    tokens = session.fetch_token(
        metadata["token_endpoint"], authorization_response=location, client_secret=client["client_secret"]
    )
    late = check_id_token(tokens["id_token"], keys, issuer, client, nonce)
    check("the at_hash", late["at_hash"] == half_hash(tokens["access_token"]), late)
    check("the same person", early is None or late["sub"] == early["sub"], (early, late))
    access = claims(tokens["access_token"], keys)
    check("the chosen tenant", access["svc.es.clientid"] == tenant, access)

    told = session.get(metadata["userinfo_endpoint"])
    check("userinfo of the same person", told.ok and told.json()["sub"] == late["sub"], told.text)

    basic = HTTPBasicAuth(client["client_id"], client["client_secret"])
    renewed = session.refresh_token(metadata["token_endpoint"], auth=basic)
    check("a new refresh token", renewed["refresh_token"] != tokens["refresh_token"])
    renewed_access = claims(renewed["access_token"], keys)
    check("the same tenant", renewed_access["svc.es.clientid"] == tenant, renewed_access)

    told = requests.post(
        metadata["revocation_endpoint"],
        data={"token": renewed["access_token"], "token_type_hint": "access_token"},
        auth=basic,
        timeout=SECONDS_MAX,
    )
    check("revocation", told.status_code == 200, told.text)
    told = session.get(metadata["userinfo_endpoint"])
    check("a revoked access token is refused", told.status_code == 401, (told.status_code, told.text))
    try:
        session.refresh_token(metadata["token_endpoint"], auth=basic)
        check("the grant is gone with its token", False, "it was refreshed")
    except InvalidGrantError:
        pass


def second_use(dev, client, user, tenant):
    """A code that is used twice may be stolen: the second use fails and revokes the tokens of the first."""
    issuer = dev["auth_url"] + "/auth/core"
    sessions = [OAuth2Session(client["client_id"], redirect_uri=client["redirect_uri"], scope=SCOPE.split())]
    url, state = sessions[0].authorization_url(issuer + "/connect/authorize")
    location, _ = sign_in(url, user, tenant, client["redirect_uri"])
    check("no id_token without a nonce", "id_token" not in parameters(location), location)
    sessions.append(OAuth2Session(client["client_id"], redirect_uri=client["redirect_uri"], state=state))
    fetch = {"authorization_response": location, "client_secret": client["client_secret"]}
    sessions[0].fetch_token(issuer + "/connect/token", **fetch)
    try:
        sessions[1].fetch_token(issuer + "/connect/token", **fetch)
        check("a code works once", False, "it was taken twice")
    except InvalidGrantError:
        pass
    told = sessions[0].get(issuer + "/connect/userinfo")
    check("the first use's token is revoked", told.status_code == 401, (told.status_code, told.text))


dev = world()["dev"]
for user, tenant in accounts(dev):
    journey(dev, dev["client"], user, tenant, has_pkce=True)
    journey(dev, dev["other_client"], user, tenant, has_pkce=False)
    second_use(dev, dev["client"], user, tenant)
done(f"{requests_oauthlib.__version__} (oauthlib {oauthlib.__version__})")
