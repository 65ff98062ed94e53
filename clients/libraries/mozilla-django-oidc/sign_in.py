# docs: use
"""Finds users by `sub`, which never changes; the library's own backend finds them by e-mail address."""

import os
from urllib.parse import urlencode

from mozilla_django_oidc.auth import OIDCAuthenticationBackend


class Backend(OIDCAuthenticationBackend):
    def filter_users_by_claims(self, claims):
        return self.UserModel.objects.filter(username=claims["sub"])

    def create_user(self, claims):
        return self.update_user(self.UserModel(username=claims["sub"]), claims)

    def update_user(self, user, claims):
        user.email = claims["email"]
        user.first_name = claims["name"]
        user.save()
        return user


def logout_url(request):
    hint = {"id_token_hint": request.session["oidc_id_token"]}
    query = urlencode({**hint, "post_logout_redirect_uri": os.environ["APP"] + "/"})
    return os.environ["ISSUER"] + "/connect/endsession?" + query
# docs: end
