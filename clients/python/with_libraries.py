"""The light applications of docs/your-library.md: sign-in, renewal of the tokens, sign-out."""

import os
from pathlib import Path

from libraries import SOURCES, Application, try_all
from pages import done

INSTALLED = Path(os.environ["ALDABA_TEST_LIBRARIES"])
PYTHON = INSTALLED / "venv/bin/python"


def django(folder):
    return [PYTHON, "-B", SOURCES / "django_serve.py", SOURCES / folder]


def node(folder):
    return ["node", INSTALLED / "node" / folder / "app.mjs"]


APPLICATIONS = [
    Application(
        "Authlib", "authlib",
        [PYTHON, "-B", "-m", "uvicorn", "--app-dir", SOURCES / "authlib", "--port", "{port}", "app:app"],
        refresh="/refresh",
    ),
    Application(
        "Flask", "flask",
        [PYTHON, "-B", "-m", "flask", "--app", SOURCES / "flask/app.py", "run", "--port", "{port}"],
        refresh="/refresh",
    ),
    Application(
        "mozilla-django-oidc", "mozilla-django-oidc", django("mozilla-django-oidc"),
        login="/oidc/authenticate/", logout="/leave",
    ),
    Application(
        "django-allauth", "django-allauth", django("django-allauth"),
        login="/accounts/oidc/aldaba/login/", logout="/accounts/logout/",
    ),
    Application("Express", "express", node("express"), refresh="/refresh"),
    Application("Passport", "passport", node("passport")),
    Application(
        "Auth.js", "authjs", node("authjs"),
        login="/auth/signin", logout="/auth/signout?callbackUrl=/signed-out", refresh="/refresh",
    ),
    Application("Go", "go", [INSTALLED / "go/bin/app"], refresh="/refresh"),
]

if __name__ == "__main__":
    done(try_all(APPLICATIONS))
