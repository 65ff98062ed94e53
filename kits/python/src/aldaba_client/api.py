"""The API client: sends every call with the subscription key, the access token and the context, and renews refused tokens."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from ._generated.models import Account, AnyRecord, Company, Customer, PayrollCompany
from ._generated.resources import Resource, Resources
from ._http import HttpClient, HttpResponse, RetryPolicy, check_header, check_url, error_of, parse
from .errors import ApiError
from .feed import Feed
from .lists import List
from .session import TokenSource
from .webhooks import InvoicingWebhooks, Webhooks

T = TypeVar("T")

_INVOICING = "/invoicing/api"
_PAYROLL = Resource("/payroll/api/companies", "", False, ())


class Api:
    """A client of the APIs for one user. It may be used by several threads, and as a context manager."""

    def __init__(
        self,
        base_url: str,
        subscription_key: str,
        tokens: TokenSource,
        *,
        http_client: httpx.Client | None = None,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        """`base_url` is the URL of the service without a path; `tokens` is a `Session` or a `StaticToken`. An `http_client` of your
        own has proxies or certificates of a private authority."""
        self._base_url = check_url("the URL of the service", base_url)
        self._key = check_header("the subscription key", subscription_key)
        self._tokens = tokens
        self._http = HttpClient(http_client, retry_policy)

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def companies(self, *, page_size: int = 100) -> List[Company]:
        """The companies of the user's tenant."""
        return List(self, Resources.COMPANIES, None, Company.from_json, page_size)

    def company(self, id: str) -> Company | None:
        """One company; None if the tenant has no such company."""
        return self._find(Resources.COMPANIES, None, id, Company.from_json)

    def customers(self, company: str, *, page_size: int = 100) -> List[Customer]:
        """The customers of a company."""
        return List(self, Resources.CUSTOMERS, company, Customer.from_json, page_size)

    def customer(self, company: str, id: str) -> Customer | None:
        """One customer; None if the customer or the company does not exist."""
        return self._find(Resources.CUSTOMERS, company, id, Customer.from_json)

    def accounts(self, company: str, *, page_size: int = 100) -> List[Account]:
        """The accounts of a company."""
        return List(self, Resources.ACCOUNTS, company, Account.from_json, page_size)

    def account(self, company: str, id: str) -> Account | None:
        """One account; None if the account or the company does not exist."""
        return self._find(Resources.ACCOUNTS, company, id, Account.from_json)

    def payroll_companies(
        self, *, filter: str | None = None, order_by: str | None = None, page_size: int = 100
    ) -> List[PayrollCompany]:
        """The payroll companies of the user's tenant, for example with the filter `lastUpdate gt 2026-11-01` (see `filter_text`) and
        ordered by `lastUpdate desc,companyCode`. They have no feed, so `snapshot` is not for them."""
        query = {name: value for name, value in (("filter", filter), ("OrderBy", order_by)) if value is not None}
        return List(self, _PAYROLL, None, PayrollCompany.from_json, page_size, query)

    def records(self, resource: Resource, company: str, *, page_size: int = 100) -> List[AnyRecord]:
        """The records of any resource of the accounting family. `company` is ignored where the tenant owns the records."""
        return List(self, resource, company, AnyRecord.from_json, page_size)

    def record(self, resource: Resource, company: str, id: str) -> AnyRecord | None:
        """One record of any resource of the accounting family; None if it does not exist."""
        return self._find(resource, company, id, AnyRecord.from_json)

    def changes(self, resource: Resource, company: str | None, after: int) -> Feed:
        """The changes of a company's records after a log position. `company` is ignored where the tenant owns the records."""
        return Feed(self, resource.path, context_of(resource, company), after)

    def invoicing_changes(self, after: int) -> Feed:
        """The changes of the tenant's invoicing entities after a log position."""
        return Feed(self, _INVOICING, None, after)

    def webhooks(self, resource: Resource) -> Webhooks:
        """Manages the webhooks of a resource of the accounting family."""
        return Webhooks(self, resource)

    def invoicing_webhooks(self) -> InvoicingWebhooks:
        """Manages the webhooks of invoicing."""
        return InvoicingWebhooks(self, f"{_INVOICING}/webhooks")

    def call(
        self,
        method: str,
        path: str,
        convert: Callable[[Any], T],
        *,
        context: str | None = None,
        body: Any = None,
        is_idempotent: bool | None = None,
    ) -> T:
        """Sends any call and converts the JSON of its response; for what this class has no method for."""
        response = self.send(method, path, context=context, body=body, is_idempotent=is_idempotent)
        return parse(_name(method, path), response.body, convert)

    def find(self, path: str, convert: Callable[[Any], T], *, context: str | None = None) -> T | None:
        """Like `call` with GET; None if the service answers 404."""
        try:
            return self.call("GET", path, convert, context=context)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def send(
        self,
        method: str,
        path: str,
        *,
        context: str | None = None,
        body: Any = None,
        etag: str | None = None,
        is_idempotent: bool | None = None,
    ) -> HttpResponse:
        """Sends a call and returns a successful response, or 304 to a conditional call. Renews a refused token once."""
        headers = {"ocp-apim-subscription-key": self._key, "content-type": "application/json"}
        if context is not None:
            headers["context"] = context
        if etag is not None:
            headers["if-none-match"] = check_header("the etag", etag)
        content = b"" if body is None else json.dumps(body).encode()
        # Every method but POST is idempotent, unless the caller knows better.
        is_safe = method != "POST" if is_idempotent is None else is_idempotent

        def attempt(token: str) -> HttpResponse:
            authorized = {**headers, "authorization": f"Bearer {check_header('the access token', token)}"}
            url = self._base_url + path
            return self._http.send(method, url, headers=authorized, body=content, is_idempotent=is_safe)

        token = self._tokens.access_token()
        response = attempt(token)
        if _is_token_refused(response):
            response = attempt(self._tokens.replace_token(token))
        if 200 <= response.status < 300 or (response.status == 304 and etag is not None):
            return response
        raise error_of(_name(method, path), response)

    def _find(self, resource: Resource, company: str | None, id: str, convert: Callable[[Any], T]) -> T | None:
        return self.find(f"{resource.path}/{quote(id, safe='')}", convert, context=context_of(resource, company))


def filter_text(text: str) -> str:
    """Escapes a text for a filter: `f"companyName eq {filter_text(name)}"`."""
    return "'" + text.replace("'", "''") + "'"


def context_of(resource: Resource, company: str | None) -> str | None:
    """The header `context` of a company. Characters that a header cannot have are escaped as in JSON."""
    if not resource.of_company or company is None:
        return None
    return json.dumps({"clientId": company}, ensure_ascii=True, separators=(",", ":"))


def _name(method: str, path: str) -> str:
    """Method and path, without the query."""
    return f"{method} {path.split('?', 1)[0]}"


def _is_token_refused(response: HttpResponse) -> bool:
    """Whether the service refused the access token, rather than the subscription key."""
    return response.status == 401 and "invalid_token" in response.headers.get("www-authenticate", "")
