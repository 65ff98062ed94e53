"""Signs users in with Authlib's client for Starlette, which FastAPI uses as well."""

import os
from urllib.parse import urlencode

from authlib.integrations.starlette_client import OAuth
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

# docs: settings
oauth = OAuth()
oauth.register(
    "aldaba",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)
# docs: end

# docs: use
APP = os.environ["APP"]
tokens = {}  # a table of the application's database


async def login(request):
    return await oauth.aldaba.authorize_redirect(request, APP + "/callback")


async def callback(request):
    token = await oauth.aldaba.authorize_access_token(request)
    user = token["userinfo"]  # the claims of the id_token, which Authlib has verified
    request.session["user"] = user
    tokens[user["sub"]] = token
    return RedirectResponse("/")


async def refresh(request):
    sub = request.session["user"]["sub"]
    old = tokens[sub]
    new = await oauth.aldaba.fetch_access_token(
        grant_type="refresh_token", refresh_token=old["refresh_token"]
    )
    tokens[sub] = {**old, **new}  # the refresh token is a new one
    return JSONResponse({"renewed": old["refresh_token"] != new["refresh_token"]})


async def logout(request):
    token = tokens.pop(request.session.pop("user")["sub"])
    metadata = await oauth.aldaba.load_server_metadata()
    query = {"id_token_hint": token["id_token"], "post_logout_redirect_uri": APP + "/"}
    return RedirectResponse(metadata["end_session_endpoint"] + "?" + urlencode(query))
# docs: end


async def home(request):
    return JSONResponse({"user": request.session.get("user")})


paths = {"/": home, "/login": login, "/callback": callback, "/refresh": refresh, "/logout": logout}
app = Starlette(
    routes=[Route(path, view) for path, view in paths.items()],
    middleware=[Middleware(SessionMiddleware, secret_key=os.environ["SESSION_SECRET"])],
)
