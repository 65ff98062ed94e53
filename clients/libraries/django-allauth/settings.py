"""The settings of a Django project whose users sign in with django-allauth."""

import os

SECRET_KEY = os.environ["SESSION_SECRET"]
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "django.db"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# docs: settings
INSTALLED_APPS += [
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]
MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "sign_out.Adapter"
SOCIALACCOUNT_ONLY = True  # no local passwords
ACCOUNT_EMAIL_VERIFICATION = "none"  # accounts come from Aldaba; allauth sends no mail of its own
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "aldaba",
                "name": "Aldaba",
                "client_id": os.environ["CLIENT_ID"],
                "secret": os.environ["CLIENT_SECRET"],
                "settings": {"server_url": os.environ["ISSUER"]},
            }
        ],
    }
}
# docs: end
