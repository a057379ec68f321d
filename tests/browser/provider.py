"""A small OpenID provider on loopback: discovery, a page that asks for a name, tokens signed with RS256, log-out."""

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT, SECRET = "dpsyn-studio", "the client's secret"


def encoded(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Provider:
    """`people`: name typed at the provider -> the subject that its tokens carry."""

    def __init__(self, people):
        self.people = people
        self.codes = {}  # code -> what was asked for, and by whom
        self.asked = []  # paths, in order
        self.forge = None  # changes a token's claims before they are signed
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"provider": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def discovery(self):
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["openid", "email", "profile"],
        }

    def keys(self):
        public = self.key.public_key().public_numbers()
        number = lambda n: encoded(n.to_bytes((n.bit_length() + 7) // 8, "big"))  # noqa: E731
        return {"keys": [{"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": number(public.n),
                          "e": number(public.e)}]}  # fmt: skip

    def token(self, claims):
        head = {"alg": "RS256", "kid": "one", "typ": "JWT"}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{encoded(self.key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def log_message(self, *_):
        pass

    def answer(self, body, kind="application/json", status=200, **headers):
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self):
        place, asked = urlsplit(self.path), self.provider
        given = {k: v[0] for k, v in parse_qs(place.query).items()}
        asked.asked.append(place.path)
        if place.path == "/.well-known/openid-configuration":
            self.answer(asked.discovery())
        elif place.path == "/keys":
            self.answer(asked.keys())
        elif place.path == "/authorize" and "name" not in given:
            hidden = "".join(f'<input type="hidden" name="{k}" value="{html.escape(v)}">' for k, v in given.items())
            self.answer(
                f'<form action="/authorize">{hidden}<label>Name <input name="name"></label></form>', "text/html"
            )
        elif place.path == "/authorize" and given["client_id"] == CLIENT and given["name"] in asked.people:
            code = secrets.token_hex(8)
            asked.codes[code] = given
            back = {"code": code, "state": given["state"]}
            self.answer("", status=302, Location=f"{given['redirect_uri']}?{urlencode(back)}")
        elif place.path == "/authorize":
            back = {"error": "access_denied", "state": given["state"]}
            self.answer("", status=302, Location=f"{given['redirect_uri']}?{urlencode(back)}")
        elif place.path == "/logout":
            self.answer("", status=302, Location=given["post_logout_redirect_uri"])
        else:
            self.answer({"error": "not_found"}, status=404)

    def do_POST(self):
        asked, size = self.provider, int(self.headers["Content-Length"])
        given = {k: v[0] for k, v in parse_qs(self.rfile.read(size).decode()).items()}
        asked.asked.append(self.path)
        wanted = asked.codes.pop(given.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        known = self.headers.get("Authorization") == f"Basic {basic}"
        if wanted is None or not known or given["redirect_uri"] != wanted["redirect_uri"]:
            self.answer({"error": "invalid_grant"}, status=400)
            return
        if encoded(hashlib.sha256(given["code_verifier"].encode()).digest()) != wanted["code_challenge"]:
            self.answer({"error": "invalid_grant"}, status=400)
            return
        now, name = int(time.time()), wanted["name"]
        claims = {"iss": asked.url, "aud": CLIENT, "sub": asked.people[name], "name": name, "iat": now,
                  "exp": now + 300, "nonce": wanted["nonce"], "email": f"{name}@example.org"}  # fmt: skip
        if asked.forge is not None:
            claims = asked.forge(claims)
        self.answer({"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 300,
                     "id_token": asked.token(claims)})  # fmt: skip
