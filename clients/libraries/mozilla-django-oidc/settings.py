"""The settings of a Django project whose users sign in with mozilla-django-oidc."""

import os

SECRET_KEY = os.environ["SESSION_SECRET"]
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django.db"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates"}]

# docs: settings
INSTALLED_APPS += ["mozilla_django_oidc"]
AUTHENTICATION_BACKENDS = ["sign_in.Backend"]
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"  # needed, although the function below says where to go
OIDC_RP_CLIENT_ID = os.environ["CLIENT_ID"]
OIDC_RP_CLIENT_SECRET = os.environ["CLIENT_SECRET"]
OIDC_RP_SCOPES = "openid profile email"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = os.environ["ISSUER"] + "/connect/authorize"
OIDC_OP_TOKEN_ENDPOINT = os.environ["ISSUER"] + "/connect/token"
OIDC_OP_USER_ENDPOINT = os.environ["ISSUER"] + "/connect/userinfo"
OIDC_OP_JWKS_ENDPOINT = os.environ["ISSUER"] + "/.well-known/jwks"
OIDC_STORE_ID_TOKEN = True  # the sign-out sends it as id_token_hint
OIDC_OP_LOGOUT_URL_METHOD = "sign_in.logout_url"
# docs: end
