# docs: use
"""Ends the session of the identity provider too, which the library does not do by itself."""

import os
from urllib.parse import urlencode

from allauth.account.adapter import DefaultAccountAdapter


class Adapter(DefaultAccountAdapter):
    def get_logout_redirect_url(self, request):
        client = {"client_id": os.environ["CLIENT_ID"]}
        query = urlencode({**client, "post_logout_redirect_uri": os.environ["APP"] + "/"})
        return os.environ["ISSUER"] + "/connect/endsession?" + query
# docs: end
