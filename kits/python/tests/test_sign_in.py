"""Sign-in without the program: everything that an attacker or a faulty provider may send."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from aldaba_client import CallbackError, IdTokenError, PendingSignIn, Session, SignIn, SignInRequiredError, Tokens
from aldaba_client._id_token import base64url

from .fixtures import AUTH_URL, ISSUER, NOW, FakeProvider, half_hash


class Setting:
    def __init__(self, client_secret: str | None = "s3cret") -> None:
        self.provider = FakeProvider()
        self.sign_in = SignIn(
            AUTH_URL,
            "panel",
            client_secret,
            "https://panel.example/callback",
            http_client=self.provider.network.client(),
            clock=lambda: NOW,
        )
        started = self.sign_in.start(["openid", "offline_access", "openid"])
        self.url, self.pending = started.url, started.pending
        self.provider.claims = {"nonce": self.pending.nonce}

    def callback(self, **parameters: str) -> str:
        query = {"code": "c0de", "state": self.pending.state, "iss": ISSUER, **parameters}
        return f"https://panel.example/callback?{urlencode(query)}"

    def refuses(self, reason: str, callback: str | None = None) -> None:
        with pytest.raises(IdTokenError) as refused:
            self.sign_in.finish(self.pending, callback or self.callback())
        assert refused.value.reason == reason


def test_authorization_request_has_state_nonce_and_a_pkce_challenge() -> None:
    setting = Setting()
    parts = urlsplit(setting.url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{ISSUER}/connect/authorize"
    assert query["scope"] == "openid offline_access"
    assert (query["state"], query["nonce"]) == (setting.pending.state, setting.pending.nonce)
    assert query["code_challenge"] == base64url(hashlib.sha256(setting.pending.verifier.encode()).digest())
    assert Setting().pending.state != setting.pending.state
    assert PendingSignIn.from_json(setting.pending.to_json()) == setting.pending


def test_good_callback_gives_tokens_and_the_user() -> None:
    setting = Setting()
    completed = setting.sign_in.finish(setting.pending, setting.callback())
    assert completed.identity is not None and completed.identity.sub == "maria"
    assert (completed.tokens.access_token, completed.tokens.expires_at) == ("access-1", NOW + 3600)
    fields = setting.provider.token_requests[0]
    assert fields["code_verifier"] == [setting.pending.verifier]
    assert fields["client_secret"] == ["s3cret"]
    assert "access-1" not in repr(completed), "a log must not show tokens"
    assert Tokens.from_json(completed.tokens.to_json()) == completed.tokens


def test_public_client_sends_no_secret() -> None:
    setting = Setting(client_secret=None)
    setting.sign_in.finish(setting.pending, setting.callback())
    assert "client_secret" not in setting.provider.token_requests[0]


def test_callbacks_of_others_are_refused_before_anything_is_sent() -> None:
    setting = Setting()
    issuer = urlencode({"state": setting.pending.state, "iss": ISSUER})
    for reason, callback in [
        ("state", setting.callback(state="another")),
        ("state", "https://panel.example/callback?code=c0de"),
        # An error is not believed before the state is checked.
        ("state", "https://panel.example/callback?error=access_denied"),
        ("issuer", setting.callback(iss="https://evil.example")),
        ("denied", setting.callback(error="access_denied")),
        ("repeated", setting.callback() + "&code=other"),
        ("missing", f"https://panel.example/callback?{issuer}"),
        ("missing", f"https://panel.example/callback?state={setting.pending.state}&code=c0de"),
        ("too_long", setting.callback(more="x" * 20_000)),
    ]:
        with pytest.raises(CallbackError) as refused:
            setting.sign_in.finish(setting.pending, callback)
        assert refused.value.reason == reason, callback
    assert setting.provider.network.requests == []


@pytest.mark.parametrize(
    ("reason", "claims"),
    [
        ("issuer", {"iss": "https://evil.example"}),
        ("audience", {"aud": "another"}),
        ("audience", {"aud": ["panel", "another"]}),
        ("expired", {"exp": NOW - 61}),
        ("expired", {"exp": None}),
        ("issued_in_future", {"iat": NOW + 61}),
        ("nonce", {"nonce": "another"}),
        ("nonce", {"nonce": None}),
        ("access_token_hash", {"at_hash": half_hash("another token")}),
        ("malformed", {"sub": ""}),
    ],
)
def test_id_token_with_wrong_claims_is_refused(reason: str, claims: dict[str, Any]) -> None:
    setting = Setting()
    setting.provider.claims |= claims
    setting.refuses(reason)


def test_id_token_for_several_audiences_names_the_client() -> None:
    setting = Setting()
    setting.provider.claims |= {"aud": ["panel", "another"], "azp": "panel", "at_hash": half_hash("access-1")}
    assert setting.sign_in.finish(setting.pending, setting.callback()).identity is not None


@pytest.mark.parametrize(
    ("reason", "header"),
    [
        ("algorithm", {"alg": "none", "kid": "one"}),
        ("algorithm", {"alg": "HS256", "kid": "one"}),
        ("unknown_key", {"alg": "RS256", "kid": "two"}),
    ],
)
def test_id_token_with_another_algorithm_or_key_is_refused(reason: str, header: dict[str, str]) -> None:
    setting = Setting()
    setting.provider.header = header
    setting.refuses(reason)


def _with_payload(token: str) -> str:
    header, _, signature = token.split(".")
    return ".".join([header, base64url(b'{"sub":"eva"}'), signature])


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("signature", lambda token: token[:-8] + "AAAAAAAA"),
        ("signature", _with_payload),
        ("malformed", lambda token: "not a token"),
        ("missing", lambda token: None),
    ],
)
def test_changed_id_token_is_refused(reason: str, change: Callable[[str], str | None]) -> None:
    setting = Setting()
    setting.provider.change_id_token = change
    setting.refuses(reason)


def test_id_token_in_the_callback_must_belong_to_the_code() -> None:
    setting = Setting()
    good = setting.provider.issue(c_hash=half_hash("c0de"))
    assert setting.sign_in.finish(setting.pending, setting.callback(id_token=good)).identity is not None
    swapped = setting.provider.issue(c_hash=half_hash("another code"))
    setting.refuses("code_hash", setting.callback(id_token=swapped))
    other = setting.provider.issue(c_hash=half_hash("c0de"), sub="eva")
    setting.refuses("subject", setting.callback(id_token=other))


def test_session_renews_once_for_all_threads_and_saves_first() -> None:
    setting = Setting()
    saved: list[Tokens] = []
    tokens = Tokens("old", NOW, "r", sub="maria")
    session = Session(setting.sign_in, tokens, save=saved.append)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: session.access_token(), range(16)))
    assert set(results) == {"access-1"}
    assert [one.refresh_token for one in saved] == ["refresh-1"]
    assert len(setting.provider.token_requests) == 1


def test_tokens_that_cannot_be_saved_are_not_used() -> None:
    setting = Setting()

    def save(_: Tokens) -> None:
        raise OSError("the disk is full")

    session = Session(setting.sign_in, Tokens("old", NOW, "r"), save=save)
    with pytest.raises(OSError):
        session.access_token()
    assert session.tokens.access_token == "old"


def test_renewal_of_another_process_is_used_and_a_refused_one_asks_for_a_sign_in() -> None:
    setting = Setting()
    tokens = Tokens("old", NOW, "r")
    theirs = Tokens("theirs", NOW + 3600, "s")
    shared = Session(setting.sign_in, tokens, save=lambda _: None, load=lambda: theirs)
    assert shared.access_token() == "theirs"
    assert setting.provider.token_requests == []
    setting.provider.token_status = 400
    saved: list[Tokens] = []
    with pytest.raises(SignInRequiredError):
        Session(setting.sign_in, tokens, save=saved.append).access_token()
    with pytest.raises(SignInRequiredError, match="offline_access"):
        Session(setting.sign_in, Tokens("a", 0), save=saved.append).access_token()
    assert saved == []


def test_renewed_id_token_must_be_of_the_same_user() -> None:
    with pytest.raises(IdTokenError) as refused:
        Setting().sign_in.refresh(Tokens("old", 0, "r", sub="eva"))
    assert refused.value.reason == "subject"
