"""The Python client of Aldaba: sign users in, read records, follow changes, manage webhooks and receive them."""

from . import models, receiver
from ._generated.resources import Resource, Resources
from ._http import RetryPolicy
from ._id_token import Identity
from .api import Api, filter_text
from .errors import (
    AldabaError,
    ApiError,
    BelowFloorError,
    CallbackError,
    ConcurrentDeletionsError,
    IdentityProviderError,
    IdTokenError,
    InvalidInputError,
    InvalidResponseError,
    SignInRequiredError,
    UnreachableError,
)
from .feed import Feed, received_from_feed
from .lists import List, Page, Snapshot
from .session import Session, StaticToken, TokenSource
from .sign_in import (
    ACCOUNTING_SCOPES,
    PAYROLL_SCOPES,
    CompletedSignIn,
    PendingSignIn,
    SignIn,
    StartedSignIn,
    Tokens,
)
from .webhooks import History, InvoicingSubscription, InvoicingWebhooks, Subscription, Webhooks

__all__ = [
    "ACCOUNTING_SCOPES",
    "PAYROLL_SCOPES",
    "AldabaError",
    "Api",
    "ApiError",
    "BelowFloorError",
    "CallbackError",
    "CompletedSignIn",
    "ConcurrentDeletionsError",
    "Feed",
    "History",
    "IdTokenError",
    "Identity",
    "IdentityProviderError",
    "InvalidInputError",
    "InvalidResponseError",
    "InvoicingSubscription",
    "InvoicingWebhooks",
    "List",
    "Page",
    "PendingSignIn",
    "Resource",
    "Resources",
    "RetryPolicy",
    "Session",
    "SignIn",
    "SignInRequiredError",
    "Snapshot",
    "StartedSignIn",
    "StaticToken",
    "Subscription",
    "TokenSource",
    "Tokens",
    "UnreachableError",
    "Webhooks",
    "filter_text",
    "models",
    "received_from_feed",
    "receiver",
]
