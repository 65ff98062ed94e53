"""Shared by the tests of docs/your-library.md: starts the applications in `clients/libraries` and uses each like a browser."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urljoin

import requests

from pages import SECONDS_MAX, Forms, check, world

SOURCES = Path(__file__).resolve().parent.parent / "libraries"
READY_SECONDS_MAX = 60


@dataclass
class Application:
    """A small application of `clients/libraries`, and how a browser uses it."""

    name: str
    folder: str
    command: list
    # Signs in; a page in between may have a form.
    login: str = "/login"
    # Shows the user as JSON.
    home: str = "/"
    # Signs out; `{app}` stands for the application's address, percent-encoded.
    logout: str = "/logout"
    # Renews the tokens, and says so or shows the access token; None if the library does not.
    refresh: str | None = None
    # Further variables.
    environment: dict = field(default_factory=dict)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def register(application, site, app_url):
    """Runs the command of the documentation that registers the client; returns its id and secret."""
    program = Path(site["program"])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ALDABA_")}
    environment |= {"PATH": f"{program.parent}:{os.environ['PATH']}", "APP": app_url}
    command = (SOURCES / application.folder / "client.sh").read_text()
    ran = subprocess.run(
        ["sh", "-euc", command], cwd=site["folder"], env=environment, capture_output=True, text=True
    )
    check(f"{application.name}: client.sh succeeds", ran.returncode == 0, ran.stderr)
    return json.loads(ran.stdout)


@contextmanager
def running(application, site):
    """The application with a client of its own; yields its address."""
    port = free_port()
    app_url = f"http://localhost:{port}"
    client = register(application, site, app_url)
    environment = {
        **os.environ,
        **application.environment,
        "ISSUER": site["auth_url"] + "/auth/core",
        "CLIENT_ID": client["client_id"],
        "CLIENT_SECRET": client["client_secret"],
        "APP": app_url,
        "PORT": str(port),
        "SESSION_SECRET": "a secret of the session cookie, 32 bytes or longer",
    }
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [part.replace("{port}", str(port)) for part in map(str, application.command)],
            cwd=folder, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
        )
        try:
            wait_until_ready(application, process, port)
            yield app_url
        except BaseException:
            log.seek(0)
            sys.stderr.write(f"{application.name} wrote:\n{log.read()[-6000:]}\n")
            raise
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_ready(application, process, port):
    deadline = time.monotonic() + READY_SECONDS_MAX
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                sys.exit(f"{application.name}: it ended before it listened: {process.returncode}")
            if time.monotonic() > deadline:
                sys.exit(f"{application.name}: it does not listen after {READY_SECONDS_MAX} s")
            time.sleep(0.05)


class Browser:
    """Follows redirects and submits forms without scripts."""

    def __init__(self, name, user, tenant):
        self.name, self.user, self.tenant = name, user, tenant
        self.session = requests.Session()
        self.session.headers["accept"] = "text/html, application/json"
        self.passwords = self.choices = 0

    def open(self, url):
        """Goes on until a page is JSON; returns its value."""
        answer = self.request("GET", url)
        for _ in range(20):
            if answer.is_redirect:
                answer = self.request("GET", urljoin(answer.url, answer.headers["location"]))
            elif answer.headers.get("content-type", "").startswith("application/json"):
                check(f"{self.name}: {answer.url} succeeds", answer.ok, (answer.status_code, answer.text))
                return answer.json()
            else:
                answer = self.submit(answer)
        sys.exit(f"{self.name}: sent around in circles: {answer.url}")

    def request(self, method, url, **options):
        return self.session.request(method, url, allow_redirects=False, timeout=SECONDS_MAX, **options)

    def submit(self, answer):
        """Fills and submits the first POST form of a page."""
        page = f"{answer.url}: {answer.status_code} {answer.text[:3000]}"
        check(f"{self.name}: a page", answer.status_code == 200, page)
        forms = Forms(answer.text)
        form = next((form for form in forms.found if form[0].lower() == "post"), None)
        check(f"{self.name}: a page with a form", form is not None, page)
        _, action, fields = form
        if "password" in forms.names:
            self.passwords += 1
            fields |= {"username": self.user["email"], "password": self.user["password"]}
        elif "tenant" in forms.names:
            self.choices += 1
            fields |= {"tenant": self.tenant}
        return self.request("POST", urljoin(answer.url, action), data=fields)


def try_out(application, site):
    """Signs in, renews the tokens, signs out and signs in again."""
    user = site["users"]["two"]
    with running(application, site) as app_url:
        browser = Browser(application.name, user, user["tenants"][1])
        check_user(application, browser.open(app_url + application.login), user)
        check_user(application, browser.open(app_url + application.home), user)
        seen = (browser.passwords, browser.choices)
        check(f"{application.name}: one password and one choice of a tenant", seen == (1, 1), seen)
        if application.refresh:
            first, second = (browser.open(app_url + application.refresh) for _ in range(2))
            renewed = second.get("renewed") or first["access_token"] != second["access_token"]
            check(f"{application.name}: new tokens", renewed, second)
            check_user(application, browser.open(app_url + application.home), user)
        answer = browser.open(app_url + application.logout.replace("{app}", quote(app_url, "")))
        check(f"{application.name}: nobody after the sign-out", answer == {"user": None}, answer)
        check_user(application, browser.open(app_url + application.login), user)
        check(f"{application.name}: the password again", browser.passwords == 2, browser.passwords)


def check_user(application, answer, user):
    known = answer.get("user") or {}
    check(f"{application.name}: a sub", len(known.get("sub") or "") >= 16, answer)
    check(f"{application.name}: the e-mail address", known.get("email") == user["email"], answer)
    check(f"{application.name}: the name", known.get("name") == user["name"], answer)


def try_all(applications):
    site = world()["site"]
    seconds = {}
    for application in applications:
        started = time.monotonic()
        try_out(application, site)
        seconds[application.name] = time.monotonic() - started
    return ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds.items())
