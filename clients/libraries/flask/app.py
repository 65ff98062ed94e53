"""Signs users in with Flask and Authlib."""

import os
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

# docs: settings
app = Flask(__name__)
app.secret_key = os.environ["SESSION_SECRET"]
oauth = OAuth(app)
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


@app.get("/login")
def login():
    return oauth.aldaba.authorize_redirect(APP + "/callback")


@app.get("/callback")
def callback():
    token = oauth.aldaba.authorize_access_token()
    session["user"] = token["userinfo"]  # the claims of the id_token, which Authlib has verified
    tokens[session["user"]["sub"]] = token
    return redirect("/")


@app.get("/logout")
def logout():
    token = tokens.pop(session.pop("user")["sub"])
    query = {"id_token_hint": token["id_token"], "post_logout_redirect_uri": APP + "/"}
    metadata = oauth.aldaba.load_server_metadata()
    return redirect(metadata["end_session_endpoint"] + "?" + urlencode(query))
# docs: end


@app.get("/refresh")
def refresh():
    sub = session["user"]["sub"]
    old = tokens[sub]
    new = oauth.aldaba.fetch_access_token(grant_type="refresh_token", refresh_token=old["refresh_token"])
    tokens[sub] = {**old, **new}
    return {"renewed": old["refresh_token"] != new["refresh_token"]}


@app.get("/")
def home():
    return {"user": session.get("user")}
