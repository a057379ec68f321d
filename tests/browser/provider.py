"""A small OpenID provider on loopback: discovery, a page that asks for a name, signed tokens, new keys, log-out."""

import base64
import hashlib
import hmac
import html
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

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
        self.signing = ["RS256"]  # algorithms that it says it signs with
        self.held = None  # a list takes the address that ends a login, which its browser then never asks for
        self.head = {}  # what a token's head says instead of the truth
        self.published = {}  # name of a key -> the key, of all that it publishes
        self.new_key("one")
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"provider": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def new_key(self, name, *, curve=False, publish=True):
        """Signs with a new key from now on, RS256 or (curve) ES256; older keys stay published."""
        made = ec.generate_private_key(ec.SECP256R1()) if curve else rsa.generate_private_key(65537, 2048)
        self.key, self.kid = made, name
        if publish:
            self.published[name] = made

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
            "id_token_signing_alg_values_supported": self.signing,
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["openid", "email", "profile"],
        }

    def keys(self):
        number = lambda n: encoded(n.to_bytes((n.bit_length() + 7) // 8, "big"))  # noqa: E731
        found = []
        for name, key in self.published.items():
            public, told = key.public_key().public_numbers(), {"kid": name, "use": "sig"}
            if isinstance(key, rsa.RSAPrivateKey):
                told |= {"kty": "RSA", "alg": "RS256", "n": number(public.n), "e": number(public.e)}
            else:
                x, y = (encoded(n.to_bytes(32, "big")) for n in (public.x, public.y))
                told |= {"kty": "EC", "alg": "ES256", "crv": "P-256", "x": x, "y": y}
            found.append(told)
        return {"keys": found}

    def token(self, claims):
        curve = isinstance(self.key, ec.EllipticCurvePrivateKey)
        head = {"alg": "ES256" if curve else "RS256", "kid": self.kid, "typ": "JWT", **self.head}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{encoded(self.signature(signed.encode(), head['alg']))}"

    def signature(self, signed, algorithm):
        if algorithm == "none":
            return b""
        if algorithm == "HS256":  # with the public key for a secret, as those who know no other would
            form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            return hmac.digest(self.key.public_key().public_bytes(*form), signed, "sha256")
        if algorithm == "ES256":
            r, s = decode_dss_signature(self.key.sign(signed, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return self.key.sign(signed, padding.PKCS1v15(), hashes.SHA256())


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
            end = f"{given['redirect_uri']}?{urlencode(back)}"
            if asked.held is None:
                self.answer("", status=302, Location=end)
            else:
                asked.held.append(end)
                self.answer("held", "text/plain")
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
