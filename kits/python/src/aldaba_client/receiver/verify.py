"""Verifies the signatures of deliveries, over the raw bytes of the body and in constant time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from .events import header_of

SignatureScheme = Literal["accounting", "invoicing", "standard"]
"""Which signature matched: the contract's own for each family, or that of Standard Webhooks."""

MismatchReason = Literal["missing_header", "wrong_signature", "outside_tolerance"]

_CONTRACT_HEADERS: tuple[tuple[SignatureScheme, str], ...] = (
    ("accounting", "svc-webhook-signature"),
    ("invoicing", "ms-signature"),
)
_STANDARD_PREFIX = "whsec_"
_MESSAGES = {
    "missing_header": "the request has no signature header; check that a proxy passes all headers on",
    "wrong_signature": "no signature matches; check the secret, and that the body is verified byte by byte as it came",
    "outside_tolerance": "the signature is of another time; check this machine's clock, or it is a replayed request",
}


class SignatureMismatch(Exception):
    """No signature of a delivery is valid. Log the reason, and answer 401 without it: it would help an attacker."""

    def __init__(self, reason: MismatchReason) -> None:
        super().__init__(_MESSAGES[reason])
        self.reason = reason


class Verifier:
    """Verifies deliveries with one secret, or with several during a rotation.

    By default one valid signature of any scheme is enough. The contract's own signature does not cover a timestamp, so a captured
    delivery can be replayed: process each event once with an `Inbox`, or set `only_standard`.
    """

    def __init__(
        self,
        secret: str | Sequence[str],
        *,
        only_standard: bool = False,
        tolerance_seconds: float = 300.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._secrets = [secret] if isinstance(secret, str) else list(secret)
        if not self._secrets or "" in self._secrets:
            raise ValueError("the secret is empty")
        self._only_standard = only_standard
        self._tolerance_seconds = tolerance_seconds
        self._clock = clock

    def verify(self, headers: Mapping[str, str], body: bytes) -> SignatureScheme:
        """Returns the scheme of the signature that matched, or raises a `SignatureMismatch`."""
        is_signed = False
        for scheme, header in () if self._only_standard else _CONTRACT_HEADERS:
            signature = header_of(headers, header)
            if signature is None:
                continue
            is_signed = True
            if any(_is_equal(_contract_signature(secret, body), signature) for secret in self._secrets):
                return scheme
        signatures, id, timestamp = (
            header_of(headers, name) for name in ("webhook-signature", "webhook-id", "webhook-timestamp")
        )
        if signatures is not None and id is not None and timestamp is not None:
            is_signed = True
            expected = [_standard_signature(secret, id, timestamp, body) for secret in self._secrets]
            if any(_is_equal(one, given) for one in expected for given in signatures.split(" ")):
                if self._is_in_time(timestamp):
                    return "standard"
                raise SignatureMismatch("outside_tolerance")
        raise SignatureMismatch("wrong_signature" if is_signed else "missing_header")

    def _is_in_time(self, timestamp: str) -> bool:
        is_number = re.fullmatch(r"[0-9]{1,12}", timestamp) is not None
        return is_number and abs(self._clock() - int(timestamp)) <= self._tolerance_seconds


def _contract_signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().upper()


def _standard_signature(secret: str, id: str, timestamp: str, body: bytes) -> str:
    signed = f"{id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(_standard_key(secret), signed, hashlib.sha256).digest()).decode()


def _standard_key(secret: str) -> bytes:
    """After `whsec_`, a secret is the key in base64; any other secret is the key itself."""
    if secret.startswith(_STANDARD_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_STANDARD_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            pass
    return secret.encode()


def _is_equal(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))
