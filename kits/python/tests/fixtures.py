"""For tests without the program: a fake network, and an identity provider whose key the tests have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import httpx
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from aldaba_client._id_token import base64url

AUTH_URL = "https://auth.example.com"
ISSUER = f"{AUTH_URL}/auth/core"
NOW = 1_800_000_000

# Generating a key takes long.
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)

Answer = Callable[[httpx.Request, int], httpx.Response]


class FakeNetwork:
    """Answers with a function, and records all requests."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[httpx.Request] = []
        self._answer = answer

    def client(self) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(self._handle))

    def _handle(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        return self._answer(request, len(self.requests))


def _number(value: int) -> str:
    return base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class FakeProvider:
    """An identity provider in memory. `claims` are added to the id_tokens that it issues."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "one"}
        self.token_requests: list[dict[str, list[str]]] = []
        self.change_id_token: Callable[[str], str | None] = lambda token: token
        self.token_status = 200
        self.network = FakeNetwork(self._answer)

    def issue(self, **claims: Any) -> str:
        """A signed id_token. A claim that is None is left out."""
        payload = {"iss": ISSUER, "aud": "panel", "sub": "maria", "iat": NOW, "exp": NOW + 300, **self.claims, **claims}
        payload = {name: value for name, value in payload.items() if value is not None}
        signed = ".".join(base64url(json.dumps(part).encode()) for part in (self.header, payload))
        return f"{signed}.{base64url(KEY.sign(signed.encode(), padding.PKCS1v15(), SHA256()))}"

    def _answer(self, request: httpx.Request, _: int) -> httpx.Response:
        if request.url.path.endswith("/openid-configuration"):
            metadata = {
                "issuer": ISSUER,
                "jwks_uri": f"{ISSUER}/.well-known/jwks",
                "revocation_endpoint": f"{ISSUER}/connect/revocation",
                "end_session_endpoint": f"{ISSUER}/connect/endsession",
            }
            return httpx.Response(200, json=metadata)
        if request.url.path.endswith("/jwks"):
            numbers = KEY.public_key().public_numbers()
            jwk = {"kty": "RSA", "kid": "one", "use": "sig", "n": _number(numbers.n), "e": _number(numbers.e)}
            return httpx.Response(200, json={"keys": [jwk]})
        self.token_requests.append(parse_qs(request.content.decode()))
        if self.token_status != 200:
            refused = {"error": "invalid_grant", "error_description": "used"}
            return httpx.Response(self.token_status, json=refused)
        number = len(self.token_requests)
        tokens: dict[str, Any] = {"access_token": f"access-{number}", "refresh_token": f"refresh-{number}"}
        id_token = self.change_id_token(self.issue())
        if id_token is not None:
            tokens["id_token"] = id_token
        return httpx.Response(200, json={**tokens, "expires_in": 3600})


def half_hash(text: str) -> str:
    return base64url(hashlib.sha256(text.encode()).digest()[:16])
