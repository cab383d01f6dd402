"""Access tokens at /mcp: an issuer of its own, the SDK's own client, and every token that must not open anything."""

import asyncio
import base64
import contextlib
import json
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import httpx
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms
from mcp import ClientSession
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from librarian.base.errors import SettingsError
from librarian.base.settings.settings import OAuthSettings, Settings
from librarian.http import issuer as issuers
from librarian.http.app import build_app
from librarian.http.server import Server, listen

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
SCOPES = "librarian:read librarian:write"


class Issuer:
    """A small one: metadata, public keys, and a token endpoint for clients with a secret."""

    def __init__(self):
        self.keys = {
            "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
            "ES256": ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate(),
        }
        self.asked = []
        self.claims = {"librarian_namespaces": ["app:ada"]}
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.asked.append(self.path)
                answers = {"/realms/a/.well-known/openid-configuration": issuer.metadata(), "/keys": issuer.jwks()}
                issuer.answer(self, answers.get(self.path))

            def do_POST(self):
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                assert base64.b64decode(self.headers["Authorization"].split()[1]) == b"agent:secret"
                token = issuer.token(aud=form["resource"][0], scope=form["scope"][0])
                issuer.answer(self, {"access_token": token, "token_type": "Bearer", "expires_in": 60})

            def log_message(self, *_args):
                pass

        self.start = lambda port=0: ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server = self.start()
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}/realms/a"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def metadata(self):
        at = f"http://127.0.0.1:{self.port}"
        return {
            "issuer": self.url, "jwks_uri": f"{at}/keys", "token_endpoint": f"{at}/token",
            "authorization_endpoint": f"{at}/authorize", "response_types_supported": ["code"],
            "grant_types_supported": ["client_credentials"], "scopes_supported": SCOPES.split(),
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }  # fmt: skip

    def jwks(self):
        secret = {"kty": "oct", "k": base64.urlsafe_b64encode(b"x" * 32).decode(), "kid": "HS256", "alg": "HS256"}
        algorithms = get_default_algorithms()
        public = [
            {**json.loads(algorithms[name[:5]].to_jwk(key.public_key())), "kid": name, "use": "sig"}
            for name, key in self.keys.items()
        ]
        return {"keys": [secret, *public]}

    @staticmethod
    def answer(handler, found):
        body = json.dumps(found).encode()
        handler.send_response(404 if found is None else 200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def token(self, algorithm="RS256", *, kid=None, key=None, without=(), **claims):
        now = int(time.time())
        said = {
            "iss": self.url,
            "sub": "agent-7",
            "iat": now,
            "exp": now + 60,
            "scope": SCOPES,
            **self.claims,
            **claims,
        }
        said = {name: value for name, value in said.items() if name not in without}
        return jwt.encode(said, key or self.keys[algorithm], algorithm, headers={"kid": kid or algorithm})

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def made():
    issuer = Issuer()
    yield issuer
    issuer.stop()


@pytest.fixture
def issuer(made, monkeypatch):
    monkeypatch.setattr(made, "keys", dict(made.keys))
    monkeypatch.setattr(made, "claims", dict(made.claims))
    monkeypatch.setattr(issuers, "_PAUSE_S", 0.0)
    made.asked.clear()
    return made


@pytest.fixture
async def service(settings, keys, starting, issuer):
    """The address of a service that takes the issuer's tokens."""

    @contextlib.asynccontextmanager
    async def connect():
        yield starting

    http = replace(settings.http, port=0)
    with listen(http) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = Server(build_app(http, keys, connect, oauth=OAuthSettings(issuer.url, f"{url}/mcp")))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        yield url
        server.should_exit = True
        await running


@pytest.fixture
async def ask(service):
    """Asks MCP with a token, or with other headers."""
    async with httpx.AsyncClient(base_url=service, trust_env=False, timeout=30) as client:

        async def run(token=None, message=LIST, **headers):
            shown = {} if token is None else {"Authorization": f"Bearer {token}"}
            return await client.post("/mcp", json=message, headers=ACCEPT | shown | headers)

        run.client, run.audience = client, f"{service}/mcp"
        yield run


class Kept:
    """Storage of the SDK's client."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def test_a_client_finds_the_issuer_and_gets_in_by_itself(service, issuer):
    """The SDK's own client knows the address of /mcp: the challenge leads to the metadata, these to the issuer."""
    auth = ClientCredentialsOAuthProvider(f"{service}/mcp", Kept(), "agent", "secret", issuer=issuer.url)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, trust_env=False) as http,
        streamable_http_client(f"{service}/mcp", http_client=http) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
    assert {"search_all", "remember"} <= tools
    assert "sweep" not in tools


@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_the_service_says_whose_tokens_it_takes(ask, issuer, path):
    """At both places of RFC 9728; the challenge leads there without a token, with a worthless one and a wrong key."""
    said = (await ask.client.get(f"/.well-known/oauth-protected-resource{path}")).json()
    assert said["resource"] == ask.audience
    assert said["authorization_servers"] == [issuer.url]
    assert set(SCOPES.split()) < set(said["scopes_supported"])
    where = ask.audience.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    for token in (None, "a.b.c", "lib_wrong"):
        refused = await ask(token)
        assert refused.status_code == 401
        challenge = refused.headers["WWW-Authenticate"]
        assert challenge.startswith("Bearer ")
        assert f'resource_metadata="{where}"' in challenge
        assert ('error="invalid_token"' in challenge) == (token is not None)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_opens_what_it_grants(ask, issuer, algorithm):
    """Also with several audiences, scopes as a list, and namespaces as words."""
    for claims in (
        {"aud": ask.audience},
        {"aud": ["account", ask.audience], "scope": "openid", "scp": SCOPES.split()},
        {"aud": ask.audience, "librarian_namespaces": "app:ada"},
    ):
        answer = await ask(issuer.token(algorithm, **claims))
        assert answer.status_code == 200, answer.text
    assert issuer.asked.count("/keys") == 1


async def test_a_token_that_proves_nothing_opens_nothing(ask, issuer):
    """Another audience or issuer, out of time, no or a symmetric signature, a stranger's key, claims that lack."""
    aud = ask.audience
    public = issuer.keys["RS256"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    none, head = (
        issuer.token(aud=aud).split("."),
        base64.urlsafe_b64encode(b'{"alg":"none","kid":"RS256"}').rstrip(b"="),
    )
    confused = jwt.api_jws.PyJWS()
    confused.unregister_algorithm("HS256")
    confused.register_algorithm("HS256", Lax(jwt.algorithms.HMACAlgorithm.SHA256))
    signed = confused.encode(base64.urlsafe_b64decode(none[1] + "=="), pem, "HS256", headers={"kid": "RS256"})
    refused = {
        "audience": issuer.token(aud="https://other.example/mcp"),
        "no audience": issuer.token(),
        "audience above": issuer.token(aud=aud.removesuffix("/mcp")),
        "issuer": issuer.token(aud=aud, iss="https://other.example/"),
        "expired": issuer.token(aud=aud, exp=int(time.time()) - 120),
        "not yet": issuer.token(aud=aud, nbf=int(time.time()) + 120),
        "for ever": issuer.token(aud=aud, without=["exp"]),
        "nobody's": issuer.token(aud=aud, without=["sub"]),
        "subject": issuer.token(aud=aud, sub="a\nb"),
        "none": f"{head.decode()}.{none[1]}.",
        "no signature": f"{none[0]}.{none[1]}.",
        "public key as secret": signed,
        "secret of the key set": issuer.token("HS256", aud=aud, key=b"x" * 32),
        "algorithm of another key": issuer.token("RS256", aud=aud, kid="ES256"),
        "stranger's key": issuer.token(
            "RS256", aud=aud, key=rsa.generate_private_key(public_exponent=65537, key_size=2048)
        ),
        "unknown key": issuer.token(aud=aud, kid="new"),
    }
    for what, token in refused.items():
        answer = await ask(token)
        assert answer.status_code == 401, what
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"], what
        assert token.split(".")[1] not in answer.text
    assert (await ask(issuer.token(aud=aud))).status_code == 200


class Lax(jwt.algorithms.HMACAlgorithm):
    """Takes a public key for a secret, as somebody does who hopes that we do."""

    def prepare_key(self, key):
        return key


async def test_what_was_not_granted_is_refused(ask, issuer):
    """No scope of ours, a tool of another scope, a namespace beyond the claim, none at all, and ones that are none."""
    aud = ask.audience
    nothing = await ask(issuer.token(aud=aud, scope="openid librarian:admin"))
    reading = issuer.token(aud=aud, scope="librarian:read")
    call = {**LIST, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": "x"}}}
    writing = await ask(reading, call)
    for answer, scope in ((nothing, SCOPES), (writing, "librarian:write")):
        assert answer.status_code == 403
        assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
        assert f'scope="{scope}' in answer.headers["WWW-Authenticate"]
    assert (await ask(reading, **{"Librarian-Namespace": "app:ada"})).status_code == 200
    beyond = await ask(reading, **{"Librarian-Namespace": "app:bob"})
    assert (beyond.status_code, beyond.json()["code"]) == (403, "forbidden")
    for claim in (None, [], "", ["a b"], [7], {"app:ada": True}):
        assert (await ask(issuer.token(aud=aud, librarian_namespaces=claim))).status_code == 403


async def test_tokens_open_mcp_alone_and_keys_go_on(ask, issuer, key_for):
    """Their audience is /mcp; the rest of the interface takes keys, which work at /mcp too."""
    refused = await ask.client.get(
        "/v1/namespaces", headers={"Authorization": f"Bearer {issuer.token(aud=ask.audience)}"}
    )
    assert refused.status_code == 401
    assert (await ask(None, **key_for("read", "app:ada"))).status_code == 200
    assert issuer.asked == []


async def test_a_new_key_of_the_issuer_is_found_and_an_old_one_forgotten(ask, issuer, monkeypatch):
    """By its name; and what the issuer has withdrawn is worth nothing once the keys are read again."""
    aud = ask.audience
    old = issuer.token(aud=aud)
    assert (await ask(old)).status_code == 200
    issuer.keys = {"next": rsa.generate_private_key(public_exponent=65537, key_size=2048)}
    monkeypatch.setattr(issuer, "jwks", lambda: {"keys": [
        {**json.loads(get_default_algorithms()["RS256"].to_jwk(issuer.keys["next"].public_key())), "kid": "next"}
    ]})  # fmt: skip
    assert (await ask(old)).status_code == 200
    assert (await ask(issuer.token(aud=aud, kid="next", key=issuer.keys["next"]))).status_code == 200
    assert (await ask(old)).status_code == 401


async def test_unknown_keys_do_not_make_the_service_ask_again_and_again(ask, issuer, monkeypatch):
    """Anybody can send them."""
    monkeypatch.setattr(issuers, "_PAUSE_S", 60.0)
    for n in range(5):
        assert (await ask(issuer.token(aud=ask.audience, kid=f"made-up-{n}"))).status_code == 401
    assert issuer.asked.count("/keys") == 1


async def test_keys_work_while_the_issuer_is_away(ask, issuer, key_for, monkeypatch):
    """Its tokens are a 503 until its keys were read once, and work while they are known."""
    aud, key = ask.audience, key_for("read", "app:ada")
    issuer.stop()
    try:
        away = await ask(issuer.token(aud=aud))
        assert (away.status_code, away.headers["Retry-After"]) == (503, "10")
        assert "issuer" in away.json()["detail"]
        assert (await ask(None, **key)).status_code == 200
    finally:
        issuer.server = issuer.start(issuer.port)
        threading.Thread(target=issuer.server.serve_forever, daemon=True).start()
    assert (await ask(issuer.token(aud=aud))).status_code == 200
    monkeypatch.setattr(issuers, "_FRESH_S", 0.0)
    monkeypatch.setattr(issuer, "metadata", lambda: {"issuer": "https://other.example", "jwks_uri": issuer.url})
    assert (await ask(issuer.token(aud=aud))).status_code == 200
    monkeypatch.setattr(issuers, "_USABLE_S", 0.0)
    assert (await ask(issuer.token(aud=aud))).status_code == 503


def test_an_issuer_and_an_audience_go_together():
    """Both have to be https, or on this machine."""
    both = {"LIBRARIAN_OAUTH_ISSUER": "https://id.example/", "LIBRARIAN_OAUTH_AUDIENCE": "https://memory.example/mcp"}
    assert Settings.from_env(both).oauth.issuer == "https://id.example/"
    issuer, audience = both
    for name, value in ((issuer, ""), (audience, ""), (issuer, "http://id.example/"), (audience, "memory")):
        with pytest.raises(SettingsError):
            Settings.from_env(both | {name: value})
