"""Everything against the running program: sign-in, reads, feed, both webhook families, and the receiver with its inbox."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from aldaba_client import (
    ACCOUNTING_SCOPES,
    PAYROLL_SCOPES,
    Api,
    ApiError,
    CompletedSignIn,
    IdentityProviderError,
    InvoicingSubscription,
    Resource,
    Resources,
    Session,
    SignIn,
    SignInRequiredError,
    StaticToken,
    Subscription,
    Tokens,
    filter_text,
    received_from_feed,
)
from aldaba_client.receiver import (
    AccountingEvent,
    Inbox,
    InvoicingEvent,
    MemoryInboxStore,
    Receiver,
    SqliteInboxStore,
    Verifier,
    WebhookEvent,
)

from .program import RunningReceiver, bank, company, customer, ingest, read_dev, sign_in_through_pages, until

# New at each run, so that a server can be used again.
COMPANY = f"kit-python/Ñ {time.time_ns()}"
BANK = f"kit-python {time.time_ns()}"


class Program:
    """The program, with a signed-in user and customers in a company of its own."""

    def __init__(self) -> None:
        self.dev = read_dev()
        self.user = next(user for user in self.dev["users"] if len(user["tenants"]) == 2)
        self.tenant: str = self.user["tenants"][1]
        client = self.dev["client"]
        self.redirect_uri: str = client["redirect_uri"]
        self.sign_in = SignIn(self.dev["auth_url"], client["client_id"], client["client_secret"], self.redirect_uri)
        self.saved: list[Tokens] = []
        completed = self.sign_in_as_user()
        assert completed.identity is not None and completed.identity.sub == completed.tokens.sub
        self.session = Session(self.sign_in, completed.tokens, save=self.saved.append)
        self.api = self.api_of(self.session)
        customers = [customer(COMPANY, f"c/{number}", f"Café {number}") for number in range(7)]
        ingest(self.dev, self.tenant, company(COMPANY), *customers)

    def sign_in_as_user(self) -> CompletedSignIn:
        started = self.sign_in.start([*ACCOUNTING_SCOPES, *PAYROLL_SCOPES], language="en")
        callback = sign_in_through_pages(started.url, self.user, self.tenant, self.redirect_uri)
        return self.sign_in.finish(started.pending, callback)

    def api_of(self, session: Session, subscription: str = "subscription") -> Api:
        return Api(self.dev["base_url"], self.dev[subscription]["primary_key"], session)


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    program = Program()
    yield program
    program.session.sign_out()


def test_refused_token_is_renewed_once_for_all_threads_and_saved(program: Program) -> None:
    old = program.session.tokens
    broken = replace(old, access_token=old.access_token[:-4] + "AAAA")
    session = Session(program.sign_in, broken, save=program.saved.append)
    api = program.api_of(session)
    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda _: api.customers(COMPANY).page(1).records_total, range(4)))
    assert pages == [7, 7, 7, 7]
    assert len(program.saved) == 1
    assert program.saved[0].refresh_token != old.refresh_token, "refresh tokens rotate"
    program.session, program.api = session, api


def test_another_sign_in_can_be_revoked_and_its_tokens_end(program: Program) -> None:
    tokens = program.sign_in_as_user().tokens
    program.sign_in.revoke(tokens)
    with pytest.raises(IdentityProviderError):
        program.sign_in.refresh(tokens)
    with pytest.raises(SignInRequiredError):
        Session(program.sign_in, replace(tokens, expires_at=0), save=program.saved.append).access_token()
    assert "/connect/endsession?client_id=" in program.sign_in.sign_out_url(tokens)


def test_lists_are_paged_and_typed_and_records_found_in_their_company(program: Program) -> None:
    api = program.api
    companies = list(api.companies(page_size=2))
    assert len(companies) >= 3 and COMPANY in [one.correlation_id for one in companies]
    customers = api.customers(COMPANY, page_size=3)
    assert [one.trade_name for one in customers] == [f"Café {number}" for number in range(7)]
    found = api.customer(COMPANY, "c/3")
    assert found is not None and found.trade_name == "Café 3"
    assert api.customer(COMPANY, "nobody") is None
    assert api.customer("no company", "c/3") is None
    page = customers.page(1)
    assert (page.records_total, page.pages_total, len(page.items)) == (7, 3, 3)
    assert page.etag is not None and customers.page_if_changed(1, page.etag) is None
    assert list(api.records(Resources.JOURNALS, COMPANY)) == []


def test_payroll_companies_are_filtered_and_ordered(program: Program) -> None:
    payroll = program.api_of(program.session, "payroll_subscription")
    all = list(payroll.payroll_companies(order_by="companyCode desc"))
    codes = [one.company_code for one in all]
    assert len(codes) > 1 and codes == sorted(codes, reverse=True)
    found = list(payroll.payroll_companies(filter=f"companyName eq {filter_text(all[0].company_name)}"))
    assert {one.company_name for one in found} == {all[0].company_name}


def test_errors_say_what_is_wrong(program: Program) -> None:
    with pytest.raises(ApiError) as refused:
        Api(program.dev["base_url"], "wrong", StaticToken("t")).companies().page(1)
    assert (refused.value.status, refused.value.code) == (401, "invalid_subscription_key") and refused.value.request_id
    with pytest.raises(ApiError) as wrong:
        program.api.call("GET", "/accounting/api/companies?pageSize=0", list[Any])
    assert (wrong.value.status, wrong.value.code) == (400, "invalid_parameter")


def test_every_resource_of_the_kit_is_served_with_these_events(program: Program) -> None:
    for resource in (Resources.CUSTOMERS, Resources.COMPANIES, Resources.ESTIMATIONS, Resources.INTEGRATION_FILES):
        assert sorted(program.api.webhooks(resource).events()) == sorted(resource.events)
    assert len([one for one in vars(Resources).values() if isinstance(one, Resource)]) == 19


def test_feed_continues_from_a_snapshot_without_a_gap_and_resumes(program: Program) -> None:
    snapshot = program.api.customers(COMPANY, page_size=3).snapshot()
    assert len(snapshot.records) == 7
    changes = [customer(COMPANY, "f/1", "Uno"), customer(COMPANY, "f/2", "Dos"), customer(COMPANY, "f/1", "Tres")]
    ingest(program.dev, program.tenant, *changes)
    feed = program.api.changes(Resources.CUSTOMERS, COMPANY, snapshot.position)
    assert next(iter(feed)).correlation_id == "f/1"
    rest = list(program.api.changes(Resources.CUSTOMERS, COMPANY, feed.position))
    assert [one.correlation_id for one in rest] == ["f/2", "f/1"]
    assert rest[1].event == "Svc.ACC.Customers.CustomerUpdated"


def test_accounting_webhooks(program: Program, tmp_path: Path) -> None:
    """Handshake, verified delivery, exactly once, tampered copies, replay, history."""
    api, secret = program.api, "a secret of the Python kit"
    outcomes: list[tuple[WebhookEvent, str]] = []
    store = SqliteInboxStore(tmp_path / "inbox.db")
    inbox = Inbox(store)
    receiver = RunningReceiver(
        Receiver(secret, lambda event: outcomes.append((event, inbox.process_once(event, lambda _: None).kind)))
    )
    webhooks = api.webhooks(Resources.CUSTOMERS)
    id = webhooks.subscribe(Subscription("Kit", f"{receiver.origin}/hooks", secret))
    try:
        webhooks.wait_until_active(id, 30)
        assert id in [webhook.id for webhook in webhooks.list()]
        ingest(program.dev, program.tenant, customer(COMPANY, "w/1", "Café «Ñ»"))
        event, kind = until("the delivery", lambda: outcomes[0] if outcomes else None)
        assert isinstance(event, AccountingEvent) and kind == "processed"
        assert event.name == "Svc.ACC.Customers.CustomerCreated"
        assert (event.tenant_id, event.company, event.correlation_id) == (program.tenant, COMPANY, "w/1")
        read = api.customer(event.company, event.correlation_id)
        assert read is not None
        assert (read.trade_name, read.sequence_version) == ("Café «Ñ»", event.sequence_version)

        headers, body = receiver.raw[-1]
        signature = next(value for name, value in headers.items() if name.lower() == "svc-webhook-signature")

        def again(body: bytes) -> int:
            signed = {"svc-webhook-signature": signature}
            return httpx.post(f"{receiver.origin}/hooks", content=body, headers=signed).status_code

        assert again(body.replace(b"w/1", b"w/2")) == 401
        assert again(body) == 200
        assert outcomes[1][1] == "duplicate", "a replayed delivery is processed once"
        assert webhooks.history(id).replay_one(event.outgoing_id).webhook_id == id
        assert until("the replay", lambda: outcomes[2] if len(outcomes) > 2 else None)[1] == "duplicate"
        for change in api.changes(Resources.CUSTOMERS, COMPANY, event.sequence_version - 1):
            received = received_from_feed(change, program.tenant, COMPANY)
            assert inbox.process_once(received, lambda _: pytest.fail("processed twice")).kind == "superseded"

        def delivered() -> str | None:
            found = webhooks.history(id).delivery(event.outgoing_id)
            return found.body if found is not None and found.status == "delivered" else None

        # The history follows the delivery within a moment.
        assert until("the delivery in the history", delivered) == body.decode()
        assert {one.status for one in webhooks.history(id).deliveries(status="delivered")} == {"delivered"}
        assert webhooks.history(id).health().is_active
        webhooks.rotate_secret(id, f"{secret}, the next", 1)
        webhooks.disable(id)
        disabled = webhooks.get(id)
        assert disabled is not None and not disabled.is_active and secret not in repr(disabled)
    finally:
        webhooks.delete(id)
        receiver.close()
        store.close()
    deleted = webhooks.get(id)
    assert deleted is not None and deleted.is_deleted


def test_invoicing_webhooks(program: Program) -> None:
    """Echo, delivery verified by its Standard Webhooks signature alone, exactly once, test event, pause."""
    api = program.api
    secret = "whsec_" + base64.b64encode(b"the key of the Python kit, 32 ..").decode()
    outcomes: list[tuple[WebhookEvent, str]] = []
    inbox = Inbox(MemoryInboxStore())
    receiver = RunningReceiver(
        Receiver(
            Verifier(secret, only_standard=True),
            lambda event: outcomes.append((event, inbox.process_once(event, lambda _: None).kind)),
        )
    )
    webhooks = api.invoicing_webhooks()
    uri = f"{receiver.origin}/api/webhooks/incoming/Invoicing"
    id = webhooks.subscribe(InvoicingSubscription(uri, "Bank", "Created", secret, application_name="Kit")).id
    try:
        webhooks.wait_until_effective(id, 30)
        position = api.companies().page(1).position
        assert position is not None
        ingest(program.dev, program.tenant, bank(BANK, "Banco «Ñ»"))
        event, kind = until("the delivery", lambda: outcomes[0] if outcomes else None)
        assert isinstance(event, InvoicingEvent) and kind == "processed"
        assert (event.entity, event.entity_id, event.tenant_id) == ("Bank", BANK, program.tenant)
        assert event.changes["name"] == "Banco «Ñ»" and event.outgoing_id is not None
        assert [change.event for change in api.invoicing_changes(position)] == ["Bank.Created"]
        webhooks.history(id).replay_one(event.outgoing_id)
        assert until("the replay", lambda: outcomes[1] if len(outcomes) > 1 else None)[1] == "duplicate"
        webhooks.history(id).test()
        until("the test event", lambda: outcomes[2] if len(outcomes) > 2 else None)
        assert webhooks.pause(id).is_paused
        assert not webhooks.resume(id).is_paused
    finally:
        webhooks.delete(id)
        receiver.close()
    assert webhooks.get(id) is None
