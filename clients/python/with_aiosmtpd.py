"""aiosmtpd receives the mails of the accounts from the running program: an invitation whose link makes an account, a reset
whose link sets a new password, and the notice about it. Python's own mail parser reads them."""

import queue
import re
from email import message_from_bytes, policy
from importlib.metadata import version
from urllib.parse import urljoin

import requests
from aiosmtpd.controller import Controller

from pages import SECONDS_MAX, Forms, check, done, world

EMAIL = "begona@example.com"
PASSWORDS = ["siete lunas y un faro", "cuatro gatos bailan tango"]

received = queue.Queue()


class Inbox:
    async def handle_DATA(self, server, session, envelope):
        received.put(envelope)
        return "250 taken"


def mail(subject):
    """The next mail: its text; both forms are well-formed and say the same."""
    envelope = received.get(timeout=SECONDS_MAX)
    check("the recipient", envelope.rcpt_tos == [EMAIL], envelope.rcpt_tos)
    message = message_from_bytes(envelope.content, policy=policy.default)
    check("no defects", not message.defects, message.defects)
    check("the subject", subject in message["Subject"], message["Subject"])
    check("the headers", all(message[name] for name in ("Date", "From", "To", "Message-ID")), message.items())
    text = message.get_body(("plain",)).get_content()
    html = message.get_body(("html",)).get_content()
    for url in re.findall(r"https?://\S+", text):
        check("the link in the HTML", url.replace("&", "&amp;") in html, html)
    return text


def link(text):
    urls = re.findall(r"https?://\S+", text)
    check("one link", len(urls) == 1, urls)
    return urls[0]


def submit(browser, answer, filled):
    check("a page", answer.status_code == 200, (answer.status_code, answer.text))
    _, action, fields = next(form for form in Forms(answer.text).found if form[0] == "post")
    return browser.post(urljoin(answer.url, action), data=fields | filled, timeout=SECONDS_MAX)


def twice(password):
    return {"new_password": password, "repeated_password": password}


dev = world()["dev"]
inbox = Controller(Inbox(), hostname="localhost", port=world()["mail_port"])
inbox.start()
try:
    made = requests.post(
        dev["operator_url"] + "/operator/v1/invitations",
        headers={"Authorization": "Bearer " + dev["operator_token"]},
        json={"realm": "developers", "email": EMAIL, "lang": "es"},
        timeout=SECONDS_MAX,
    )
    check("an invitation without its link", made.status_code == 201 and "link" not in made.json(), made.text)
    invitation = link(mail("Aldaba"))
    browser = requests.Session()
    page = browser.get(invitation, timeout=SECONDS_MAX)
    check("the secret leaves the address", "token=" not in page.url, page.url)
    home = submit(browser, page, {"given_name": "Nerea", "lang": "en"} | twice(PASSWORDS[0]))
    check("signed in", home.status_code == 200 and EMAIL in home.text, home.text)
    check("the link works once", requests.get(invitation, timeout=SECONDS_MAX).status_code == 404)

    base = invitation.split("/invitation")[0]
    other = requests.Session()
    asked = submit(other, other.get(base + "/forgot", timeout=SECONDS_MAX), {"email": EMAIL})
    check("the page after asking", asked.status_code == 200, asked.text)
    reset = link(mail("New password"))
    changed = submit(other, other.get(reset, timeout=SECONDS_MAX), twice(PASSWORDS[1]))
    check("the new password", changed.status_code == 200, changed.text)
    check("the notice has no link", "http" not in mail("has changed"))
    answer = browser.get(base + "/account", allow_redirects=False, timeout=SECONDS_MAX)
    check("the session has ended", answer.status_code == 302, answer.text)
    for password, status in zip(PASSWORDS, (400, 200)):
        fresh = requests.Session()
        page = fresh.get(base + "/login", timeout=SECONDS_MAX)
        answer = submit(fresh, page, {"username": EMAIL, "password": password})
        check(f"sign-in: {status}", answer.status_code == status, answer.text)
finally:
    inbox.stop()

done(f"aiosmtpd {version('aiosmtpd')}")
