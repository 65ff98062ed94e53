"""A receiver of both webhook families, written from the contract's text alone: it answers handshakes, checks signatures over
the raw bytes, and refuses changed requests. It uses only the standard library."""

import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

INVOICING_PATH = "/api/webhooks/incoming/Invoicing"


def signature(secret, body):
    return "sha256=" + hmac.new(secret.encode("utf-8"), body, hashlib.sha256).hexdigest().upper()


class Receiver:
    """Has one secret per path; records accepted and refused requests."""

    def __init__(self, secrets):
        self.secrets, self.accepted, self.refused, self.echoes = secrets, [], [], []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"receiver": self}))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        host, port = self.server.server_address
        return f"http://{host}:{port}{path}"

    def on(self, path):
        """The accepted bodies of a path, including handshakes, in order of arrival."""
        return [told for at, _, told in self.accepted if at == path]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver = None

    def do_GET(self):
        """The handshake of the invoicing API: the response body is the GUID."""
        at = urlsplit(self.path)
        echo = parse_qs(at.query).get("echo", [""])[0]
        if at.path != INVOICING_PATH or not echo:
            return self.answer(404)
        self.receiver.echoes.append(echo)
        return self.answer(200, echo.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        at = urlsplit(self.path).path
        header = "ms-signature" if at == INVOICING_PATH else "svc-webhook-signature"
        given = self.headers.get(header, "")
        if not hmac.compare_digest(signature(self.receiver.secrets[at], body).encode(), given.encode()):
            self.receiver.refused.append((at, dict(self.headers), body))
            return self.answer(401)
        # The Acknowledge is checked in the same way, and gets 200.
        self.receiver.accepted.append((at, (dict(self.headers), body), json.loads(body)))
        return self.answer(200)

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
