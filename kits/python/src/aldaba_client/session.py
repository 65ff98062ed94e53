"""The session of a signed-in user: provides valid access tokens and renews them once for all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from .errors import IdentityProviderError, SignInRequiredError
from .sign_in import SignIn, Tokens


class TokenSource(Protocol):
    """Provides access tokens for API calls."""

    def access_token(self) -> str:
        """A valid access token."""

    def replace_token(self, refused: str) -> str:
        """A new access token, after the service refused this one."""


class StaticToken:
    """A fixed access token that cannot be renewed; for scripts and tests."""

    def __init__(self, token: str) -> None:
        self._token = token

    def access_token(self) -> str:
        return self._token

    def replace_token(self, refused: str) -> str:
        raise SignInRequiredError("the access token was refused and cannot be renewed")


class Session:
    """The tokens of one signed-in user.

    Expired tokens are renewed once, however many threads need one. If the response to a renewal is lost, it is repeated: within 30
    seconds the service returns the same new tokens.
    """

    def __init__(
        self,
        sign_in: SignIn,
        tokens: Tokens,
        *,
        save: Callable[[Tokens], None],
        load: Callable[[], Tokens] | None = None,
    ) -> None:
        """`save` stores renewed tokens durably, because a renewal invalidates the old refresh token; nobody gets a token before it
        returns. `load` reads the stored tokens, if several processes share them: another one may have renewed them."""
        self._sign_in = sign_in
        self._tokens = tokens
        self._save = save
        self._load = load
        self._lock = threading.Lock()

    @property
    def tokens(self) -> Tokens:
        """The current tokens."""
        return self._tokens

    def access_token(self) -> str:
        tokens = self._tokens
        if tokens.is_valid(self._sign_in.clock()):
            return tokens.access_token
        return self.replace_token(tokens.access_token)

    def replace_token(self, refused: str) -> str:
        with self._lock:
            before = self._current()
            if self._is_new(before, refused):
                return before.access_token
            try:
                renewed = self._sign_in.refresh(before)
            except IdentityProviderError as error:
                if error.error != "invalid_grant":
                    raise
                # Another process may have renewed the tokens, longer ago than the service's grace period.
                now = self._current()
                if now.refresh_token != before.refresh_token and self._is_new(now, refused):
                    return now.access_token
                raise SignInRequiredError(f"the sign-in has ended ({error.description})") from error
            self._save(renewed)
            self._tokens = renewed
            return renewed.access_token

    def sign_out(self) -> None:
        """Revokes the tokens. Delete the stored ones, too."""
        self._sign_in.revoke(self._tokens)

    def _current(self) -> Tokens:
        if self._load is not None:
            self._tokens = self._load()
        return self._tokens

    def _is_new(self, tokens: Tokens, refused: str) -> bool:
        return tokens.access_token != refused and tokens.is_valid(self._sign_in.clock())
