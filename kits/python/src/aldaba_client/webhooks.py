"""Webhook management for both families: subscriptions, delivery history, health and replays."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from ._generated.models import (
    Delivery,
    DeliveryStatus,
    InvoicingAction,
    InvoicingEntity,
    InvoicingWebhook,
    Replay,
    RotatedSecret,
    Webhook,
    WebhookHealth,
)
from ._generated.resources import Resource
from ._http import parse
from .errors import UnreachableError

if TYPE_CHECKING:
    from .api import Api

T = TypeVar("T")

_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class Subscription:
    """The settings of a new webhook of the accounting family."""

    application_name: str
    """The name of the application, shown to people."""
    url: str
    """The URL of the receiver: https, port 443, on a public address."""
    secret: str = field(repr=False)
    """Signs deliveries: 1 to 256 bytes. After the prefix `whsec_`, it is the Standard Webhooks key in base64."""
    event_types: Sequence[str] | None = None
    """The semantic names of the events; None: all events of the resource."""


@dataclass(frozen=True)
class InvoicingSubscription:
    """The settings of a new webhook of invoicing."""

    uri: str
    """The URL of the receiver: `https://<host>/api/webhooks/incoming/Invoicing`."""
    entity: InvoicingEntity
    action: InvoicingAction
    """`CompanyData` and `CompanySettings` have only `Updated`."""
    secret: str = field(repr=False)
    is_paused: bool = False
    """Whether to create the subscription paused."""
    application_name: str = ""
    description: str = ""


class Webhooks:
    """The webhooks of one resource of the accounting family."""

    def __init__(self, api: Api, resource: Resource) -> None:
        self._api = api
        self._resource = resource
        self._path = f"{resource.path}/webhooks"

    def events(self) -> list[str]:
        """The semantic names of all events of the resource."""
        return self._call("GET", "/events", list[str])

    def subscribe(self, subscription: Subscription) -> str:
        """Creates a webhook and returns its id. The same subscription returns the same webhook and enables it, so applications can
        call this at every start."""
        return self._operation("POST", "/subscribe", self._body(subscription))

    def unsubscribe(self, subscription: Subscription) -> str:
        """Ends the webhook with exactly this subscription."""
        return self._operation("POST", "/unsubscribe", self._body(subscription))

    def list(self) -> Sequence[Webhook]:
        """All webhooks that are neither deleted nor unsubscribed."""
        return self._call("GET", "", lambda all: [Webhook.from_json(one) for one in all])

    def get(self, id: str) -> Webhook | None:
        """One webhook, even if it is deleted; None if it does not exist or belongs to another client."""
        return self._api.find(f"{self._path}/{id}", Webhook.from_json, context="none")

    def enable(self, id: str) -> None:
        """Enables deliveries."""
        self._operation("PUT", f"/status/{id}", {"webhookId": id, "enable": True})

    def disable(self, id: str) -> None:
        """Disables deliveries."""
        self._operation("PUT", f"/status/{id}", {"webhookId": id, "enable": False})

    def change_url(self, id: str, url: str) -> None:
        """Changes the URL. Deliveries continue once the new URL has accepted the handshake; no event is lost."""
        self._operation("PUT", f"/change/{id}", {"webhookId": id, "url": url})

    def delete(self, id: str) -> None:
        """Deletes the webhook. Deletion is permanent."""
        self._operation("DELETE", f"/delete/{id}")

    def rotate_secret(self, id: str, secret: str, overlap_hours: int) -> RotatedSecret:
        """Replaces the secret. For `overlap_hours`, `webhook-signature` contains a signature of both secrets."""
        body = {"secret": secret, "overlapHours": overlap_hours}
        return self._call("PUT", f"/secret/{id}", RotatedSecret.from_json, body)

    def history(self, id: str) -> History:
        """The deliveries, health and replays of a webhook."""
        return History(self._api, f"{self._path}/{id}", "none")

    def wait_until_active(self, id: str, timeout_seconds: float) -> None:
        """Waits until the receiver has accepted the handshake."""

        def is_active() -> bool:
            webhook = self.get(id)
            return webhook is not None and webhook.is_active

        _poll(f"the Acknowledge of webhook {id}", timeout_seconds, is_active)

    def _body(self, subscription: Subscription) -> dict[str, Any]:
        events = self._resource.events if subscription.event_types is None else subscription.event_types
        return {
            "thirdPartyApplicationName": subscription.application_name,
            "url": subscription.url,
            "secret": subscription.secret,
            "eventTypes": [*events],
        }

    def _call(self, method: str, suffix: str, convert: Callable[[Any], T], body: Any = None) -> T:
        # All of these calls are idempotent, even the POSTs.
        path = self._path + suffix
        return self._api.call(method, path, convert, context="none", body=body, is_idempotent=True)

    def _operation(self, method: str, suffix: str, body: Any = None) -> str:
        return self._call(method, suffix, lambda result: str(result["webhookId"]), body)


class InvoicingWebhooks:
    """The invoicing webhooks of the client."""

    def __init__(self, api: Api, path: str) -> None:
        self._api = api
        self._path = path

    def subscribe(self, subscription: InvoicingSubscription) -> InvoicingWebhook:
        """Creates a webhook. The same subscription returns the same webhook."""
        body = {
            "uri": subscription.uri,
            "entity": subscription.entity,
            "action": subscription.action,
            "secret": subscription.secret,
            "isPaused": subscription.is_paused,
            "applicationName": subscription.application_name,
            "description": subscription.description,
        }
        return self._api.call("POST", self._path, InvoicingWebhook.from_json, body=body, is_idempotent=True)

    def list(self) -> Sequence[InvoicingWebhook]:
        """All webhooks that are not deleted."""
        return self._api.call("GET", self._path, lambda all: [InvoicingWebhook.from_json(one) for one in all])

    def get(self, id: str) -> InvoicingWebhook | None:
        """One webhook; None if it does not exist, is deleted or belongs to another client."""
        return self._api.find(f"{self._path}/{id}", InvoicingWebhook.from_json)

    def delete(self, id: str) -> InvoicingWebhook:
        """Deletes a webhook and returns its last state. Deletion is permanent."""
        return self._api.call("DELETE", f"{self._path}/{id}", InvoicingWebhook.from_json)

    def pause(self, id: str) -> InvoicingWebhook:
        """Pauses deliveries. Changes made while paused are not delivered later."""
        return self._set_paused(id, True)

    def resume(self, id: str) -> InvoicingWebhook:
        """Resumes a paused webhook: deliveries continue with the next change."""
        return self._set_paused(id, False)

    def rotate_secret(self, id: str, secret: str, overlap_hours: int) -> RotatedSecret:
        """Replaces the secret. For `overlap_hours`, `webhook-signature` contains a signature of both secrets."""
        body = {"secret": secret, "overlapHours": overlap_hours}
        return self._api.call("PUT", f"{self._path}/{id}/secret", RotatedSecret.from_json, body=body)

    def history(self, id: str) -> History:
        """The deliveries, health and replays of a webhook."""
        return History(self._api, f"{self._path}/{id}", None)

    def wait_until_effective(self, id: str, timeout_seconds: float) -> None:
        """Waits until the receiver has echoed the GUID."""

        def is_effective() -> bool:
            webhook = self.get(id)
            return webhook is not None and webhook.status == "Effective"

        _poll(f"the echo of webhook {id}", timeout_seconds, is_effective)

    def _set_paused(self, id: str, is_paused: bool) -> InvoicingWebhook:
        return self._api.call("PUT", f"{self._path}/{id}", InvoicingWebhook.from_json, body={"isPaused": is_paused})


class History:
    """The delivery history of one webhook."""

    def __init__(self, api: Api, path: str, context: str | None) -> None:
        self._api = api
        self._path = path
        self._context = context

    def deliveries(self, *, status: DeliveryStatus | None = None, since: datetime | None = None) -> Iterator[Delivery]:
        """The deliveries, newest first; pages are read as needed. `since` is the time of the oldest event to list."""
        parameters = {"pageSize": "100", "status": status, "since": None if since is None else _iso(since)}
        query: str | None = urlencode({name: value for name, value in parameters.items() if value is not None})
        while query is not None:
            response = self._api.send("GET", f"{self._path}/deliveries?{query}", context=self._context)
            call = f"GET {self._path}/deliveries"
            yield from parse(call, response.body, lambda all: [Delivery.from_json(one) for one in all])
            # Only the query of the link is used, so that it cannot send the credentials to another host.
            link = re.search(r'<[^>?]*\?([^>]*)>;\s*rel="next"', response.headers.get("link", ""))
            query = link[1] if link else None

    def delivery(self, outgoing_id: str) -> Delivery | None:
        """One delivery with its body; None if it does not belong to this webhook."""
        return self._api.find(f"{self._path}/deliveries/{outgoing_id}", Delivery.from_json, context=self._context)

    def replay_one(self, outgoing_id: str) -> Replay:
        """Sends one delivery again, with the same id and body."""
        return self._post(f"/deliveries/{outgoing_id}/replay")

    def replay(self, start: datetime, end: datetime | None = None) -> Replay:
        """Sends all events between two times again; without `end`, up to now."""
        return self._post("/replay", {"from": _iso(start), **({} if end is None else {"to": _iso(end)})})

    def test(self, event: str | None = None) -> Replay:
        """Sends a test event, of the given kind if there is one."""
        return self._post("/test" if event is None else f"/test?event={quote(event, safe='')}")

    def health(self) -> WebhookHealth:
        """The health of the webhook over the last 24 hours."""
        return self._api.call("GET", f"{self._path}/health", WebhookHealth.from_json, context=self._context)

    def _post(self, suffix: str, body: Any = None) -> Replay:
        return self._api.call("POST", self._path + suffix, Replay.from_json, context=self._context, body=body)


def _iso(time: datetime) -> str:
    """ISO 8601 in UTC; a time without a zone is local, as everywhere in Python."""
    return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _poll(what: str, timeout_seconds: float, is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + timeout_seconds
    while not is_done():
        if time.monotonic() > end:
            raise UnreachableError(f"{what}: not accepted within {timeout_seconds} s; look at the webhook's health")
        time.sleep(_POLL_SECONDS)
