"""The errors of this package. Every message says what failed, where, and what to do about it; none has a secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ._generated.models import ErrorDetail

_REMEDIES = {
    400: "correct the request",
    401: "check the subscription key, then the token",
    403: "request the missing scope at sign-in, or wait for tomorrow's quota",
    404: "check the company and the id; records of other tenants are not found either",
    409: "the request conflicts with the current state; read it before trying again",
    413: "send a smaller request",
    429: "wait as long as Retry-After says",
}

CallbackReason = Literal["state", "issuer", "denied", "missing", "repeated", "too_long"]

IdTokenReason = Literal[
    "missing",
    "malformed",
    "algorithm",
    "unknown_key",
    "signature",
    "issuer",
    "audience",
    "expired",
    "issued_in_future",
    "nonce",
    "code_hash",
    "access_token_hash",
    "subject",
]


class AldabaError(Exception):
    """The base of all errors of this package."""

    @property
    def is_temporary(self) -> bool:
        """Whether the same call may succeed later."""
        return False


class InvalidInputError(AldabaError, ValueError):
    """A value from the application is invalid. Nothing was sent."""


class UnreachableError(AldabaError):
    """No complete response: the host cannot be reached, the connection broke, or it took too long."""

    @property
    def is_temporary(self) -> bool:
        return True


class InvalidResponseError(AldabaError):
    """The response is not in the expected format: probably something else than the service answers at this URL."""

    def __init__(self, call: str, reason: str) -> None:
        super().__init__(f"{call}: invalid response ({reason}); check that the URL is that of the service")


class ApiError(AldabaError):
    """The service answered with an error."""

    def __init__(
        self,
        call: str,
        status: int,
        code: str,
        message: str,
        request_id: str,
        errors: Sequence[ErrorDetail],
        retry_after_seconds: int | None,
    ) -> None:
        self.call = call
        """Method and path."""
        self.status = status
        self.code = code
        """What is wrong, for programs: one of the service's error codes; empty if something else than the service answered."""
        self.message = message
        """The message of the service, for people."""
        self.request_id = request_id
        """The id of the request, to report to the operator of the service."""
        self.errors = tuple(errors)
        """The individual errors, each with a stable code and the field that it is about."""
        self.retry_after_seconds = retry_after_seconds
        """The value of `Retry-After`."""
        more = "".join(f" [{error.code}] {error.message}" for error in errors if error.message != message)
        remedy = _REMEDIES.get(status, "an error of the service; try again later" if status >= 500 else "see the message")
        super().__init__(f"{call}: {status} {message}{more} ({remedy}; request {request_id})")

    def has_code(self, code: str) -> bool:
        """Whether the error, or one of the individual errors, has this code."""
        return self.code == code or any(error.code == code for error in self.errors)

    @property
    def is_temporary(self) -> bool:
        return self.status in (408, 429) or self.status >= 500


class BelowFloorError(AldabaError):
    """The position lies before the start of the feed: the service no longer keeps the changes in between."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Read the list again and follow the feed from its position.")


class ConcurrentDeletionsError(AldabaError):
    """Records were deleted during each attempt to read a consistent list."""

    def __init__(self, tries: int) -> None:
        super().__init__(
            f"records were deleted while the list was read, {tries} times; try again later or with larger pages"
        )

    @property
    def is_temporary(self) -> bool:
        return True


class CallbackError(AldabaError):
    """The callback of a sign-in cannot be trusted, or reports an error (`denied`)."""

    def __init__(self, reason: CallbackReason, message: str, error: str | None = None) -> None:
        super().__init__(f"the sign-in failed: {message}")
        self.reason = reason
        self.error = error
        """For `denied`, the OAuth error code, such as `access_denied`."""


class IdTokenError(AldabaError):
    """The id_token cannot be trusted."""

    def __init__(self, reason: IdTokenReason, message: str) -> None:
        super().__init__(f"the id_token cannot be trusted: {message}; start the sign-in again")
        self.reason = reason


class IdentityProviderError(AldabaError):
    """The identity provider answered with an OAuth error."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(f"the identity provider says {error}: {description}")
        self.error = error
        """The OAuth error code, such as `invalid_grant`."""
        self.description = description


class SignInRequiredError(AldabaError):
    """There are no tokens, or they cannot be renewed any more."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; send the user to sign in again")
