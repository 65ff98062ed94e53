"""Verifies id_tokens: RS256 with a key of the issuer, and the claims of this sign-in. No other algorithm is accepted, whatever
the header says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA256

from .errors import IdTokenError

_TOKEN_CHARS_MAX = 16 * 1024
_LEEWAY_SECONDS = 60


@dataclass(frozen=True)
class Identity:
    """The user who signed in, from a verified id_token."""

    sub: str
    """The stable id of the user."""
    claims: Mapping[str, Any]
    """All claims, such as `given_name`, `email` and `auth_time`, depending on the requested scopes."""


@dataclass(frozen=True)
class ExpectedClaims:
    issuer: str
    client_id: str
    now: float
    nonce: str | None = None
    code: str | None = None
    """The code of the same response."""
    access_token: str | None = None
    """The access token of the same response."""
    sub: str | None = None
    """The user of the previous id_token."""


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode_bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise IdTokenError("malformed", "it is not a valid JWT") from None


def _decode(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_decode_bytes(part))
    except ValueError:
        raise IdTokenError("malformed", "it is not a valid JWT") from None
    if not isinstance(value, dict):
        raise IdTokenError("malformed", "it is not a valid JWT")
    return value


def _parts(token: str) -> tuple[str, str, str]:
    parts = token.split(".") if len(token) <= _TOKEN_CHARS_MAX else []
    if len(parts) != 3:
        raise IdTokenError("malformed", "it is not a valid JWT")
    return parts[0], parts[1], parts[2]


def key_id_of(token: str) -> str:
    """The id of the key in the header, before verification: use it only to find the key."""
    return str(_decode(_parts(token)[0]).get("kid", ""))


def verify_id_token(token: str, keys: Sequence[Mapping[str, Any]], expected: ExpectedClaims) -> Identity:
    """Verifies an id_token and returns its claims, or raises an `IdTokenError`."""
    header, payload, signature = _parts(token)
    algorithm = _decode(header).get("alg")
    if algorithm != "RS256":
        raise IdTokenError("algorithm", f"it is signed with {algorithm!r} instead of RS256")
    kid = key_id_of(token)
    key = next((key for key in keys if key.get("kid") == kid and _is_for_signing(key)), None)
    if key is None:
        raise IdTokenError("unknown_key", f"the issuer has no key {kid!r}")
    try:
        modulus, exponent = (int.from_bytes(_decode_bytes(str(key.get(part, ""))), "big") for part in "ne")
        public = RSAPublicNumbers(exponent, modulus).public_key()
        public.verify(_decode_bytes(signature), f"{header}.{payload}".encode(), PKCS1v15(), SHA256())
    except (InvalidSignature, ValueError):
        raise IdTokenError("signature", "its signature is wrong") from None
    return _check_claims(_decode(payload), expected)


def _is_for_signing(key: Mapping[str, Any]) -> bool:
    return key.get("kty") == "RSA" and key.get("alg", "RS256") == "RS256" and key.get("use", "sig") == "sig"


def _check_claims(claims: Mapping[str, Any], expected: ExpectedClaims) -> Identity:
    if claims.get("iss") != expected.issuer:
        raise IdTokenError("issuer", f"it was issued by {claims.get('iss')!r}")
    if not _is_for_client(claims, expected.client_id):
        raise IdTokenError("audience", "it is for another client")
    exp, iat = claims.get("exp"), claims.get("iat")
    if not isinstance(exp, int) or expected.now >= exp + _LEEWAY_SECONDS:
        raise IdTokenError("expired", "it has expired, or this machine's clock is ahead")
    if not isinstance(iat, int) or iat > expected.now + _LEEWAY_SECONDS:
        raise IdTokenError("issued_in_future", "it was issued in the future, or this machine's clock is behind")
    if expected.nonce is not None and claims.get("nonce") != expected.nonce:
        raise IdTokenError("nonce", "its nonce is not the one that was sent")
    # With a code, `c_hash` is required; with an access token, `at_hash` is optional.
    if expected.code is not None and claims.get("c_hash") != _half_hash(expected.code):
        raise IdTokenError("code_hash", "it belongs to another code (c_hash)")
    at_hash = claims.get("at_hash")
    if expected.access_token is not None and at_hash is not None and at_hash != _half_hash(expected.access_token):
        raise IdTokenError("access_token_hash", "it belongs to another access token (at_hash)")
    sub = claims.get("sub")
    if not isinstance(sub, str) or not sub:
        raise IdTokenError("malformed", "it has no sub")
    if expected.sub is not None and sub != expected.sub:
        raise IdTokenError("subject", "it is for another user than before")
    return Identity(sub, claims)


def _is_for_client(claims: Mapping[str, Any], client_id: str) -> bool:
    """Whether the audience is this client. With several audiences, `azp` must name it, too."""
    audience = claims.get("aud")
    if not isinstance(audience, list):
        return bool(audience == client_id)
    return client_id in audience and (len(audience) == 1 or claims.get("azp") == client_id)


def _half_hash(text: str) -> str:
    """The left half of a SHA-256 hash, in base64url."""
    return base64url(hashlib.sha256(text.encode()).digest()[:16])
