"""Whom a question goes to: the service of the home, over its socket, or the graph."""

import asyncio
import json
import socketserver
import subprocess
import sys
import tempfile
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from librarian.base.settings.local_socket import socket_of
from librarian.base.settings.settings import Settings
from librarian.cli import opening, runtime
from librarian.client import ApiError
from librarian.items.contracts import ItemPatch
from librarian.search.contracts import SearchInput, SearchOutput

FOUND = SearchOutput(
    namespace="team", queries=["x"], results=[], arms={"vector": "ok"}, reranked=False, notes=["from the service"]
)
LOADED = "import sys; from librarian.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
NOT_FOR_QUESTIONS = {"neo4j", "neomodel", "numpy", "onnxruntime", "uvicorn", "starlette", "httpx", "structlog"}


class _Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
        status, media_type, answer = self.server.answer
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.end_headers()
        self.wfile.write(answer)

    def address_string(self):
        return "-"

    def log_message(self, *_):
        pass


@pytest.fixture
def home():
    """A folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory(prefix="lib") as folder:
        yield Path(folder)


@pytest.fixture
def environment(home):
    return {"LIBRARIAN_HOME": str(home), "LIBRARIAN_NAMESPACE": "team"}


@pytest.fixture
def settings(environment):
    return Settings.from_env(environment)


@pytest.fixture
def service(settings, home):
    """A service of the home: its answer, and the requests it got."""
    (home / "admin.key").write_text("lib_secret\n")
    with socketserver.UnixStreamServer(str(socket_of(settings)), _Answer) as server:
        server.requests = []
        server.answer = 200, "application/json", msgspec.json.encode(FOUND)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield server
        server.shutdown()


def refusal(status):
    problem = {"code": "some_code", "detail": "no", "status": status}
    return status, "application/problem+json", json.dumps(problem).encode()


class _Graph:
    """Answers every verb by its name."""

    def __getattr__(self, verb):
        async def answer(*_args, **_options):
            return f"{verb} of the graph"

        return answer


@asynccontextmanager
async def graph(_settings, _purpose):
    yield _Graph()


def asked(settings, verb="search", *args, times=1):
    """The last answer to a verb."""

    async def work():
        async with opening.answering(settings, "test", otherwise=graph) as answering:
            for _ in range(times):
                answer = await getattr(answering, verb)("team", *(args or (SearchInput(queries=["x"]),)))
            return answer

    return asyncio.run(work())


def test_a_question_goes_to_the_service_of_the_home_with_its_key(settings, service):
    assert asked(settings) == FOUND
    [(path, headers, body)] = service.requests
    assert path == "/v1/search"
    assert (headers["Authorization"], headers["Librarian-Namespace"]) == ("Bearer lib_secret", "team")
    assert body["queries"] == ["x"]


def test_what_writes_opens_the_graph(settings, service):
    """It waits for its vectors there, and is recorded as the command line's."""
    assert asked(settings, "patch_item", "m1", ItemPatch()) == "patch_item of the graph"
    assert service.requests == []


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503, 504])
def test_what_the_service_cannot_answer_now_the_graph_does_once_for_all(settings, service, status):
    service.answer = refusal(status)
    assert asked(settings, times=2) == "search of the graph"
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [400, 404, 409, 422])
def test_an_answer_that_is_an_error_is_the_answer(settings, service, status):
    service.answer = refusal(status)
    with pytest.raises(ApiError) as caught:
        asked(settings)
    assert caught.value.status == status


def test_a_socket_that_a_killed_service_left_behind_is_nobodys(settings, service):
    service.shutdown()
    service.server_close()
    assert socket_of(settings).is_socket()
    assert asked(settings) == "search of the graph"


def test_without_a_service_or_a_key_the_graph_is_asked(settings, home):
    assert asked(settings) == "search of the graph"
    with socketserver.UnixStreamServer(str(socket_of(settings)), _Answer):
        assert asked(settings) == "search of the graph"


def test_the_service_of_another_user_is_not_asked(settings, service, monkeypatch):
    monkeypatch.setattr("librarian.client.local.os", SimpleNamespace(geteuid=lambda: -1))
    assert asked(settings) == "search of the graph"
    assert service.requests == []


def test_local_keeps_from_asking_the_service(settings, service):
    token = runtime.local_option.set(True)
    try:
        assert asked(settings) == "search of the graph"
    finally:
        runtime.local_option.reset(token)


@pytest.mark.parametrize(
    "variables",
    [
        {"NEO4J_URI": "bolt://db.example"},
        {"NEO4J_DATABASE": "other"},
        {"LIBRARIAN_ENCODER": "none"},
        {"DEFAULT_FUSION_METHOD": "rrf"},
        {"RERANKER_MODEL": "other"},
        {"LLM_BASE_URL": "http://llm.example", "LLM_MODEL": "m"},
        {"LIBRARIAN_MAX_TEXT_CHARS": "1000"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_settings_that_change_answers_lead_to_another_service(environment, settings, service, variables):
    other = Settings.from_env({**environment, **variables})
    assert socket_of(other) != socket_of(settings)
    assert asked(other) == "search of the graph"


def test_settings_that_change_no_answer_lead_to_the_same_service(environment, settings):
    """A secret is not part of the name either: it would be there for everybody to guess."""
    variables = {
        "LIBRARIAN_NAMESPACE": "b",
        "LIBRARIAN_LOG_LEVEL": "debug",
        "LIBRARIAN_PORT": "1",
        "LIBRARIAN_ENCODER_THREADS": "1",
        "RERANKER_API_KEY": "secret",
    }
    assert socket_of(Settings.from_env({**environment, **variables})) == socket_of(settings)


def command(environment, *args):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *args],
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    *said, modules = done.stderr.splitlines()
    return done.returncode, done.stdout, "\n".join(said), set(modules.split())


def test_a_command_that_a_service_answers_loads_nothing_of_what_a_graph_takes(environment, service):
    code, out, said, modules = command(environment, "search", "x", "--json")
    assert (code, json.loads(out)["notes"], said) == (0, ["from the service"], "")
    assert NOT_FOR_QUESTIONS & modules == set()


def test_local_and_remote_exclude_each_other(environment):
    code, _, said, _ = command(environment, "--local", "--remote", "http://127.0.0.1:1", "list")
    assert code == 2
    assert "--local" in said


def test_local_counts_more_than_a_service_of_the_environment(monkeypatch):
    monkeypatch.setenv("LIBRARIAN_REMOTE", "http://127.0.0.1:1")
    token = runtime.local_option.set(True)
    try:
        assert runtime.settings_of_question().remote.url is None
    finally:
        runtime.local_option.reset(token)
