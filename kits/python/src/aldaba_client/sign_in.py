"""The OpenID Connect client: starts and finishes sign-ins, and renews and revokes tokens."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs, urlencode

import httpx

from ._http import HttpClient, HttpResponse, RetryPolicy, call_name, check_url, error_of, parse
from ._id_token import ExpectedClaims, Identity, base64url, key_id_of, verify_id_token
from .errors import CallbackError, IdentityProviderError, IdTokenError, InvalidInputError, SignInRequiredError

ACCOUNTING_SCOPES = (
    "offline_access",
    "openid",
    "SVC.ES.NEWPOL.COR.API",
    "SVC.ES.NEWPOL.ACC.API",
    "SVC.ES.NEWPOL.MNG.API",
    "SVC.ES.Webhooks",
)
"""Scopes of the accounting APIs and webhooks, with a refresh token."""

PAYROLL_SCOPES = ("offline_access", "openid", "IDInfo", "SVC.ES.EquipoContex")
"""Scopes of the payroll API, with a refresh token."""

_CALLBACK_CHARS_MAX = 16 * 1024
_EXPIRES_IN_SECONDS = 3600
_RENEWAL_MARGIN_SECONDS = 60
# The lifetime that the service allows for its keys, and how often tokens with unknown keys may cause a request.
_CACHE_SECONDS = 300
_REFETCH_SECONDS = 10


@dataclass(frozen=True)
class PendingSignIn:
    """The state of a sign-in between its start and its callback. It belongs to one browser: keep it in that browser's session
    (`to_json`, `from_json`)."""

    state: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    """The PKCE verifier."""
    expects_id_token: bool

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> PendingSignIn:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class StartedSignIn:
    url: str
    """Redirect the browser to this URL."""
    pending: PendingSignIn


@dataclass(frozen=True)
class Tokens:
    """The tokens of one sign-in. `repr` does not show them; `to_json` writes them in plain text: encrypt it before you store
    it."""

    access_token: str = field(repr=False)
    expires_at: int
    """When the access token expires, in Unix seconds."""
    refresh_token: str | None = field(default=None, repr=False)
    """Only with the scope `offline_access`. It can be used once: each renewal returns the next one."""
    id_token: str | None = field(default=None, repr=False)
    """The last id_token, for signing out."""
    sub: str | None = None
    """The user, if there was an id_token."""

    def is_valid(self, now: float) -> bool:
        """Whether the access token is valid for a while."""
        return now + _RENEWAL_MARGIN_SECONDS < self.expires_at

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Tokens:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class CompletedSignIn:
    tokens: Tokens
    identity: Identity | None
    """The user; None if the scope `openid` was not requested."""


@dataclass(frozen=True)
class _Provider:
    revocation_endpoint: str
    end_session_endpoint: str
    keys: Sequence[Mapping[str, Any]]
    fetched_at: float


class SignIn:
    """An OpenID Connect client of the identity provider. It may be used by several threads."""

    def __init__(
        self,
        auth_url: str,
        client_id: str,
        client_secret: str | None,
        redirect_uri: str,
        *,
        http_client: httpx.Client | None = None,
        retry_policy: RetryPolicy | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`auth_url` is the URL of the identity provider without a path. A public client has no secret (None)."""
        self._issuer = check_url("the URL of the identity provider", auth_url) + "/auth/core"
        self._client_id = client_id
        self._client_secret = client_secret
        self._redirect_uri = redirect_uri
        self._http = HttpClient(http_client, retry_policy)
        self.clock = clock
        self._lock = threading.Lock()
        self._provider: _Provider | None = None

    def start(
        self,
        scopes: Iterable[str],
        *,
        tenant: str | None = None,
        login_hint: str | None = None,
        prompt: Literal["none", "login", "consent", "select_account"] | None = None,
        max_age_seconds: int | None = None,
        language: Literal["es", "en"] | None = None,
    ) -> StartedSignIn:
        """Starts a sign-in, with a random state, nonce and PKCE verifier.

        Without the scope `openid` there is no id_token, without `offline_access` no refresh token. `tenant` preselects one if the
        user has several, `login_hint` fills in the user name, and `max_age_seconds` requires the user to authenticate again if the
        last time is longer ago.
        """
        names = list(dict.fromkeys(scopes))
        verifier = secrets.token_urlsafe(32)
        pending = PendingSignIn(str(uuid.uuid4()), str(uuid.uuid4()), verifier, "openid" in names)
        parameters = {
            "client_id": self._client_id,
            "response_type": "code",
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(names),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
            "acr_values": None if tenant is None else f"tenant:{tenant}",
            "login_hint": login_hint,
            "prompt": prompt,
            "max_age": None if max_age_seconds is None else str(max_age_seconds),
            "ui_locales": language,
        }
        query = urlencode({name: value for name, value in parameters.items() if value is not None})
        return StartedSignIn(f"{self._issuer}/connect/authorize?{query}", pending)

    def finish(self, pending: PendingSignIn, callback: str) -> CompletedSignIn:
        """Finishes a sign-in: checks the callback against the pending sign-in, exchanges the code, and verifies the id_token.

        `callback` is the URL of the callback, its query, or the body of a `form_post`. Delete `pending` afterwards, whatever the
        result.
        """
        code, early_token = _parse_callback(callback, pending, self._issuer)
        early = None if early_token is None else self._identity(early_token, nonce=pending.nonce, code=code)
        response = self._token_request(
            grant_type="authorization_code",
            code=code,
            redirect_uri=self._redirect_uri,
            code_verifier=pending.verifier,
        )
        identity, id_token = early, response.get("id_token")
        if id_token is not None:
            sub = early.sub if early else None
            identity = self._identity(id_token, nonce=pending.nonce, access_token=response["access_token"], sub=sub)
        elif pending.expects_id_token:
            raise IdTokenError("missing", "it is missing")
        return CompletedSignIn(self._tokens(response, None, identity.sub if identity else None), identity)

    def refresh(self, tokens: Tokens) -> Tokens:
        """Renews tokens. A refresh token can be used once, so applications with several threads use a `Session` instead."""
        if tokens.refresh_token is None:
            reason = "the access token has expired and there is no refresh token (scope offline_access)"
            raise SignInRequiredError(reason)
        response = self._token_request(grant_type="refresh_token", refresh_token=tokens.refresh_token)
        if response.get("id_token") is not None:
            self._identity(response["id_token"], access_token=response["access_token"], sub=tokens.sub)
        return self._tokens(response, tokens, tokens.sub)

    def revoke(self, tokens: Tokens) -> None:
        """Revokes the tokens and the grant behind them."""
        self._post_form(self._discover().revocation_endpoint, {"token": tokens.refresh_token or tokens.access_token})

    def sign_out_url(self, tokens: Tokens, return_to: str | None = None) -> str:
        """Redirect the browser to this URL to end the user's session at the identity provider."""
        parameters = {
            "client_id": self._client_id,
            "id_token_hint": tokens.id_token,
            "post_logout_redirect_uri": return_to,
        }
        query = urlencode({name: value for name, value in parameters.items() if value is not None})
        return f"{self._discover().end_session_endpoint}?{query}"

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _identity(
        self,
        token: str,
        *,
        nonce: str | None = None,
        code: str | None = None,
        access_token: str | None = None,
        sub: str | None = None,
    ) -> Identity:
        keys = self._discover(key_id_of(token)).keys
        now = self.clock()
        expected = ExpectedClaims(self._issuer, self._client_id, now, nonce, code, access_token, sub)
        return verify_id_token(token, keys, expected)

    def _tokens(self, response: Mapping[str, Any], previous: Tokens | None, sub: str | None) -> Tokens:
        return Tokens(
            access_token=response["access_token"],
            expires_at=int(self.clock()) + int(response.get("expires_in", _EXPIRES_IN_SECONDS)),
            refresh_token=response.get("refresh_token") or (previous.refresh_token if previous else None),
            id_token=response.get("id_token") or (previous.id_token if previous else None),
            sub=sub,
        )

    def _discover(self, kid: str | None = None) -> _Provider:
        """The metadata and keys of the identity provider; fetched again after a time, or if this key is missing."""
        with self._lock:
            known = self._provider
            if known is not None:
                age = self.clock() - known.fetched_at
                is_enough = kid is None or any(key.get("kid") == kid for key in known.keys)
                if age < _REFETCH_SECONDS or (age < _CACHE_SECONDS and is_enough):
                    return known
            self._provider = self._fetch_provider()
            return self._provider

    def _fetch_provider(self) -> _Provider:
        metadata = self._get(f"{self._issuer}/.well-known/openid-configuration")
        if metadata.get("issuer") != self._issuer:
            raise InvalidInputError(
                f"the URL of the identity provider: it has the issuer {metadata.get('issuer')!r}; use the URL that it is"
                " configured with"
            )
        jwks_uri, revocation, end_session = (
            check_url("a URL in the metadata of the identity provider", str(metadata.get(name, "")))
            for name in ("jwks_uri", "revocation_endpoint", "end_session_endpoint")
        )
        keys = [key for key in self._get(jwks_uri).get("keys", []) if isinstance(key, dict)]
        return _Provider(revocation, end_session, keys, self.clock())

    def _get(self, url: str) -> dict[str, Any]:
        response = self._http.send("GET", url, headers={}, is_idempotent=True)
        call = call_name("GET", url)
        if response.status != 200:
            raise error_of(call, response)
        return parse(call, response.body, dict[str, Any])

    def _token_request(self, **fields: str) -> dict[str, Any]:
        def convert(data: dict[str, Any]) -> dict[str, Any]:
            return {**data, "access_token": str(data["access_token"])}

        url = f"{self._issuer}/connect/token"
        return parse(f"POST {url}", self._post_form(url, fields).body, convert)

    def _post_form(self, url: str, fields: Mapping[str, str]) -> HttpResponse:
        """Posts a form with the client's credentials. Without a response it is sent again, because a refresh token that is used
        twice in quick succession returns the same tokens. A code is not: its second use revokes the tokens of the first."""
        secret = {} if self._client_secret is None else {"client_secret": self._client_secret}
        body = urlencode({"client_id": self._client_id, **secret, **fields}).encode()
        headers = {"content-type": "application/x-www-form-urlencoded"}
        response = self._http.send("POST", url, headers=headers, body=body, is_idempotent="code" not in fields)
        if response.status == 200:
            return response
        try:
            refused = json.loads(response.body)
            failure = IdentityProviderError(str(refused["error"]), str(refused.get("error_description", "")))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise error_of(call_name("POST", url), response) from None
        raise failure


def _parse_callback(callback: str, pending: PendingSignIn, issuer: str) -> tuple[str, str | None]:
    """Parses a callback and checks that it belongs to the pending sign-in."""
    if len(callback) > _CALLBACK_CHARS_MAX:
        raise CallbackError("too_long", "it is longer than any valid callback; start the sign-in again")
    query = callback.split("?", 1)[-1].split("#", 1)[0]
    parameters = parse_qs(query, keep_blank_values=True)

    def find(name: str) -> str | None:
        values = parameters.get(name, [])
        if len(values) > 1:
            raise CallbackError("repeated", f"the parameter {name} appears twice; start the sign-in again")
        return values[0] if values else None

    # Check the sender first: even an error must not be trusted before.
    if not hmac.compare_digest((find("state") or "").encode(), pending.state.encode()):
        advice = "ignore this callback and start the sign-in again"
        raise CallbackError("state", f"its state is not the one that was sent; {advice}")
    found = find("iss")
    if found is None:
        raise CallbackError("missing", "the parameter iss is missing; start the sign-in again")
    if found != issuer:
        raise CallbackError("issuer", f"it comes from the issuer {found!r}; ignore it")
    error = find("error")
    if error is not None:
        raise CallbackError("denied", f"{error}: {find('error_description') or ''}", error)
    code = find("code")
    if code is None:
        raise CallbackError("missing", "the parameter code is missing; start the sign-in again")
    return code, find("id_token")
