"""Shared by all Python clients: the file about the servers, sign-in through the pages, and checks."""

import json
import sys
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests

SECONDS_MAX = 30
SCOPE = "openid offline_access SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks"
checks = 0


def check(what, holds, seen=None):
    """Exits with the expectation unless it holds."""
    global checks
    checks += 1
    if not holds:
        sys.exit(f"expected: {what}; seen: {seen!r}")


def world():
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def accounts(dev):
    """A user with one tenant and a user with two, each with the tenant to choose."""
    one = next(user for user in dev["users"] if len(user["tenants"]) == 1)
    two = next(user for user in dev["users"] if len(user["tenants"]) == 2)
    return [(one, one["tenants"][0]), (two, two["tenants"][1])]


class Forms(HTMLParser):
    """The forms of a page, with their prefilled fields."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.names = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.found.append((attributes.get("method", "get"), attributes.get("action", ""), {}))
        elif tag == "input" and self.found and "name" in attributes:
            self.names.add(attributes["name"])
            if attributes.get("type") not in ("radio", "checkbox") or "checked" in attributes:
                self.found[-1][2][attributes["name"]] = attributes.get("value", "")


def sign_in(url, user, tenant, callback):
    """Follows redirects and submits forms like a browser; returns the callback url and whether a tenant had to be chosen."""
    browser, asked = requests.Session(), False
    answer = browser.get(url, allow_redirects=False, timeout=SECONDS_MAX)
    for _ in range(12):
        if answer.is_redirect:
            location = urljoin(answer.url, answer.headers["location"])
            if location.startswith(callback):
                return location, asked
            answer = browser.get(location, allow_redirects=False, timeout=SECONDS_MAX)
            continue
        check("a page", answer.status_code == 200, (answer.status_code, answer.text))
        forms = Forms(answer.text)
        _, action, fields = next(form for form in forms.found if form[0] == "post")
        if "password" in forms.names:
            fields |= {"username": user["email"], "password": user["password"]}
        elif "tenant" in forms.names:
            asked = True
            fields |= {"tenant": tenant}
        url = urljoin(answer.url, action)
        answer = browser.post(url, data=fields, allow_redirects=False, timeout=SECONDS_MAX)
    sys.exit(f"sent around in circles: {answer.url}")


def parameters(url):
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))


def done(library):
    print(f"{library}, {checks} checks")
