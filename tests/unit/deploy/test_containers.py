"""Dockerfile and compose.yaml, without Docker: what they name exists, is the pinned version, and is a setting."""

import json
import re
import runpy
import shlex
import ssl
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.error import HTTPError

import pytest
import trustme

from librarian.base.settings.settings import Settings

# Read by the interpreter or the shell, not by Librarian.
FOREIGN = {"PATH", "HOME", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


@pytest.fixture(scope="module")
def instructions(project):
    """The Dockerfile's instructions as (name, rest), continued lines joined."""
    text = re.sub(r"(?m)^#.*\n", "", (project / "Dockerfile").read_text(encoding="utf-8")).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def ignored(project):
    """The patterns of .dockerignore that let something in."""
    lines = (project / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def copied(instructions):
    return [
        source
        for name, rest in instructions
        if name == "COPY" and "--from=" not in rest
        for source in shlex.split(rest)[:-1]
    ]


def test_everything_copied_exists_and_is_sent_to_the_engine(instructions, ignored, project):
    """And nothing else is sent: .env, keys and graphs stay outside."""
    sources = copied(instructions)
    assert [source for source in sources if not (project / source).exists()] == []
    assert set(sources) == ignored


def test_every_package_of_the_wheel_is_copied(instructions, project):
    built = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(built["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(copied(instructions))


def test_the_image_holds_no_secret_and_runs_as_nobody_special(instructions, setting_names):
    """Its variables are settings that it may have; it ends as another user than root, by number."""
    env = {name for kind, rest in instructions if kind in ("ENV", "ARG") for name in re.findall(r"([A-Z_0-9]+)=", rest)}
    assert env - FOREIGN <= setting_names
    assert not [name for name in env if re.search("PASSWORD|KEY|TOKEN|SECRET", name)]
    users = [rest for kind, rest in instructions if kind == "USER"]
    assert users[-1].split(":")[0].isdecimal()
    assert users[-1].split(":")[0] != "0"


def test_the_image_starts_on_the_defaults_that_it_sets(instructions, project):
    """Its variables make settings, and its Python is one that the project takes."""
    (env,) = (rest for kind, rest in instructions if kind == "ENV")
    settings = Settings.from_env(dict(pair.split("=", 1) for pair in shlex.split(env)))
    assert (settings.http.host, settings.http.port) == ("0.0.0.0", 8765)
    (exposed,) = (rest for kind, rest in instructions if kind == "EXPOSE")
    assert int(exposed) == settings.http.port
    images = {rest.split()[0] for kind, rest in instructions if kind == "FROM"}
    assert images == {"python:3.12-slim"}
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "Programming Language :: Python :: 3.12" in about["classifiers"]


def test_compose_runs_the_neo4j_that_the_managed_server_is(compose, project):
    lock = tomllib.loads((project / "graph/local/neo4j.lock.toml").read_text(encoding="utf-8"))
    assert compose["services"]["neo4j"]["image"] == f"neo4j:{lock['server']['version']}"


def test_every_variable_of_the_service_is_a_setting(compose, setting_names):
    """A misspelt one would be ignored; all together they make settings."""
    env = compose["services"]["librarian"]["environment"]
    assert set(env) <= setting_names
    settings = Settings.from_env({**env, "NEO4J_PASSWORD": "x"})
    assert settings.warnings == ()
    assert settings.neo4j.uri == "bolt://neo4j:7687"


def test_ports_are_published_on_loopback_only(compose):
    ports = [port for service in compose["services"].values() for port in service["ports"]]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_state_lies_in_named_volumes_and_services_wait_for_what_they_need(compose):
    """Every volume is declared, both services are looked at, and a stop has the time that it needs."""
    services = compose["services"]
    mounted = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert mounted == set(compose["volumes"])
    assert services["librarian"]["depends_on"]["neo4j"]["condition"] == "service_healthy"
    assert "healthcheck" in services["neo4j"]
    assert services["librarian"]["read_only"]
    assert "ALL" in services["librarian"]["cap_drop"]
    assert {name: service["stop_grace_period"] for name, service in services.items()} == {
        "neo4j": "2m",
        "librarian": "45s",
    }


def test_no_secret_stands_in_a_file(compose):
    """The password comes from .env, which is neither in git nor in the image."""
    assert "${NEO4J_PASSWORD:?" in compose["services"]["neo4j"]["environment"]["NEO4J_AUTH"]
    assert not re.search(r"password[\"']?: *[\"']?[a-z0-9]", json.dumps(compose), re.IGNORECASE)


@pytest.fixture
def answering():
    """A server that answers every request with a status; gives its port."""
    running = []

    def start(status, context=None):
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status if self.path == "/readyz" else 404)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Answer)
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        running.append((server, thread))
        return server.server_port

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("tls", [False, True])
def test_the_health_check_asks_for_readiness(answering, deploy, monkeypatch, tls):
    """By the scheme that the service speaks; a proxy of the environment is not asked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
    if context is not None:
        trustme.CA().issue_cert("librarian.example").configure_cert(context)
        monkeypatch.setenv("LIBRARIAN_TLS_CERT", "tls.crt")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("LIBRARIAN_PORT", str(answering(200, context)))
    runpy.run_path(str(deploy / "docker/healthcheck.py"))
    monkeypatch.setenv("LIBRARIAN_PORT", str(answering(503, context)))
    with pytest.raises(HTTPError) as unready:
        runpy.run_path(str(deploy / "docker/healthcheck.py"))
    unready.value.close()
