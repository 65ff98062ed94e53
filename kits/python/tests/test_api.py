"""Reads, retries and the feed without the program: what it answers rarely."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from aldaba_client import (
    Api,
    ApiError,
    BelowFloorError,
    InvalidInputError,
    InvalidResponseError,
    Resources,
    RetryPolicy,
    SignInRequiredError,
    StaticToken,
    UnreachableError,
    filter_text,
)

from .fixtures import Answer, FakeNetwork

ERROR = {
    "statusCode": 429,
    "message": "Too many requests.",
    "requestId": "r-1",
    "errors": [{"code": "rate_limited", "message": "x"}],
}


def api(answer: Answer) -> tuple[Api, FakeNetwork]:
    network = FakeNetwork(answer)
    policy = RetryPolicy(attempts_max=3, wait_max_seconds=5)
    client = network.client()
    return Api("https://api.example.com/", "key", StaticToken("token"), http_client=client, retry_policy=policy), network


def company(number: int) -> dict[str, Any]:
    return {
        "vatName": "Café",
        "vatNumber": "",
        "state": "Enabled",
        "chartOfAccountId": 1,
        "accountLength": 9,
        "correlationId": str(number),
        "version": "v",
        "sequenceVersion": str(number),
        "of a later version": True,
    }


def page(items: list[Any], pages_total: int) -> httpx.Response:
    headers = {
        "x-pagination": f'{{"totalCount":3,"totalPages":{pages_total}}}',
        "x-sequence-version": "40",
        "etag": '"e"',
    }
    return httpx.Response(200, json=items, headers=headers)


def change(number: int, event: str) -> dict[str, Any]:
    return {
        "sequenceVersion": str(number),
        "event": event,
        "correlationId": "1",
        "version": "v",
        "user": "u",
        "processId": "p",
    }


def test_lists_follow_all_pages_with_key_and_token() -> None:
    pages = [[company(1), company(2)], [company(3)]]
    client, network = api(lambda _, number: page(pages[number - 1], 2))
    companies = list(client.companies(page_size=2))
    assert [one.sequence_version for one in companies] == [1, 2, 3]
    first, second = network.requests
    assert str(first.url) == "https://api.example.com/accounting/api/companies?pageNumber=1&pageSize=2"
    assert second.url.params["pageNumber"] == "2"
    assert first.headers["authorization"] == "Bearer token"
    assert first.headers["ocp-apim-subscription-key"] == "key"
    assert "context" not in first.headers
    with pytest.raises(InvalidInputError, match="page size"):
        client.companies(page_size=0)


def test_ids_and_contexts_are_escaped() -> None:
    client, network = api(lambda *_: httpx.Response(404, json={}))
    assert client.customer("Ñandú\n", "a/b") is None
    assert network.requests[0].url.raw_path == b"/accounting/api/customers/a%2Fb"
    assert network.requests[0].headers["context"] == '{"clientId":"\\u00d1and\\u00fa\\n"}'


def test_responses_of_something_else_are_reported() -> None:
    for response in (httpx.Response(200, text="<html>"), page([{"vatName": "incomplete"}], 1), page([7], 1)):
        client, _ = api(lambda *_, response=response: response)
        with pytest.raises(InvalidResponseError, match="check that the URL"):
            client.companies().page(1)


def test_429_and_503_are_retried_after_retry_after_also_for_post() -> None:
    replay = {
        "webhookId": "w",
        "number": 1,
        "kind": "test",
        "askedAt": "t",
        "after": "0",
        "upto": "0",
        "delivered": 0,
        "failed": 0,
        "isDone": False,
    }
    now = {"retry-after": "0"}
    answers = [httpx.Response(429, headers=now), httpx.Response(503, headers=now), httpx.Response(200, json=replay)]
    client, network = api(lambda _, number: answers[number - 1])
    assert client.webhooks(Resources.CUSTOMERS).history("id").test().kind == "test"
    assert len(network.requests) == 3


@pytest.mark.parametrize(("seconds", "attempts"), [("6", 1), ("0", 3)])
def test_errors_of_the_service_are_raised_after_the_last_attempt(seconds: str, attempts: int) -> None:
    client, network = api(lambda *_: httpx.Response(429, json=ERROR, headers={"retry-after": seconds}))
    with pytest.raises(ApiError, match=r"GET /accounting/api/companies: 429 Too many requests.*request r-1") as raised:
        client.companies().page(1)
    assert raised.value.has_code("rate_limited") and raised.value.is_temporary
    assert raised.value.code == "rate_limited"
    assert raised.value.retry_after_seconds == int(seconds)
    assert len(network.requests) == attempts


def test_without_a_response_only_idempotent_calls_are_retried() -> None:
    def broken(request: httpx.Request, _: int) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    client, network = api(broken)
    with pytest.raises(UnreachableError, match="connection refused"):
        client.companies().page(1)
    assert len(network.requests) == 3
    with pytest.raises(UnreachableError):
        client.webhooks(Resources.CUSTOMERS).history("id").test()
    assert len(network.requests) == 4


def test_refused_token_is_replaced_once_and_a_refused_key_is_not() -> None:
    challenge = {"www-authenticate": 'Bearer error="invalid_token"'}
    client, _ = api(lambda *_: httpx.Response(401, json=ERROR, headers=challenge))
    with pytest.raises(SignInRequiredError):
        client.companies().page(1)
    client, _ = api(lambda *_: httpx.Response(401, json=ERROR))
    with pytest.raises(ApiError):
        client.companies().page(1)


def test_feed_resumes_at_its_position_and_says_when_the_log_is_too_short() -> None:
    def answer(request: httpx.Request, _: int) -> httpx.Response:
        after = int(request.url.params["after"])
        if after < 10:
            return httpx.Response(410, json={**ERROR, "message": "The feed begins after 10."})
        return httpx.Response(200, json=[change(after + 1, "Bank.Created")] if after < 12 else [])

    client, network = api(answer)
    feed = client.changes(Resources.CUSTOMERS, "c", 10)
    assert next(iter(feed)).sequence_version == 11
    assert feed.position == 11
    assert [one.sequence_version for one in client.changes(Resources.CUSTOMERS, "c", feed.position)] == [12]
    assert network.requests[0].headers["context"] == '{"clientId":"c"}'
    with pytest.raises(BelowFloorError, match="begins after 10"):
        client.invoicing_changes(3).next_page()


def test_following_the_feed_waits_for_changes_and_ends_by_its_event() -> None:
    stop = threading.Event()
    client, _ = api(lambda _, number: httpx.Response(200, json=[change(1, "Bank.Created")] if number == 2 else []))
    seen = []
    for one in client.invoicing_changes(0).follow(pause_seconds=0.001, stop=stop):
        seen.append(one.event)
        stop.set()
    assert seen == ["Bank.Created"]


def test_snapshot_is_read_again_if_a_record_was_deleted_meanwhile() -> None:
    deletions = [[change(41, "Svc.ACC.Journals.JournalDeleted")], []]
    record = {"correlationId": "1", "version": "v", "sequenceVersion": "7", "total": 3}

    def answer(request: httpx.Request, _: int) -> httpx.Response:
        if request.url.path.endswith("/changes"):
            return httpx.Response(200, json=deletions.pop(0))
        return page([record], 1)

    client, network = api(answer)
    snapshot = client.records(Resources.JOURNALS, "c").snapshot()
    assert (snapshot.position, snapshot.records[0].fields) == (40, {"total": 3})
    assert len([one for one in network.requests if not one.url.path.endswith("/changes")]) == 2


def test_page_that_has_not_changed_is_not_read_again() -> None:
    client, network = api(lambda request, _: httpx.Response(304) if "if-none-match" in request.headers else page([], 0))
    etag = client.companies().page(1).etag
    assert etag is not None and client.companies().page_if_changed(1, etag) is None
    assert network.requests[1].headers["if-none-match"] == '"e"'


def test_deliveries_follow_the_query_of_the_link_never_its_host() -> None:
    link = {"link": '<https://evil.example/x?cursor=2>; rel="next"'}
    delivery = {"sequenceVersion": "1", "status": "failed", "attempts": []}
    client, network = api(lambda _, number: httpx.Response(200, json=[delivery], headers=link if number == 1 else {}))
    assert len(list(client.invoicing_webhooks().history("id").deliveries(status="failed"))) == 2
    assert network.requests[0].url.query == b"pageSize=100&status=failed"
    assert str(network.requests[1].url) == "https://api.example.com/invoicing/api/webhooks/id/deliveries?cursor=2"


def test_plain_http_is_refused_beyond_loopback_and_keys_that_are_no_header() -> None:
    with pytest.raises(InvalidInputError, match="https"):
        Api("http://api.example.com", "k", StaticToken("t"))
    with pytest.raises(InvalidInputError) as refused:
        Api("https://a.example", "secret\n", StaticToken("t"))
    assert "secret\n" not in str(refused.value)
    assert filter_text("O'Brien") == "'O''Brien'"
