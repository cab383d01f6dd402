"""`librarian serve` as a process, on the run's home: it shares the database server with the tests themselves."""

import asyncio
import contextlib
import json
import shlex
import signal
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

# A whole start with the sample takes a tenth of it.
PATIENCE_S = 180

ROWS = [
    {"kind": "message", "uid": "m1", "text": "The nightly backup failed because the disk was full."},
    {"kind": "memory", "uid": "k1", "text": "Decision: old logs are deleted every night."},
    {"kind": "fact", "uid": "f1", "subject": "the backup", "predicate": "failed because of", "object": "a full disk"},
    {"kind": "edge", "source": "k1", "type": "CAUSES", "target": "m1"},
]
WHY = "why was there no backup?"
QUESTIONS = [
    ("search", WHY),
    ("search", WHY, "--explain", "--json"),
    ("search-all", "full disk", "--threshold", "0", "--json"),
    ("relevant", WHY),
    ("context", WHY),
    ("ask", WHY),
    ("why-not", "k1", WHY),
    ("list",),
    ("list", "--all", "--json", "--limit", "1"),
    ("get", "m1", "--json"),
    ("history", "k1"),
    ("causes", "m1"),
    ("graph", "k1", "--json"),
    ("contradictions",),
    ("edges", "--json"),
    ("sweep", "list"),
    ("get", "no-such-item"),
    ("list", "--cursor", "no cursor"),
    ("search", "x", "--threshold", "0.5", "--adaptive", "yes"),
    ("search", "x", "--kind", "poem"),
    ("open", "no/such/file:3"),
]


@dataclass
class Serving:
    process: asyncio.subprocess.Process
    url: str
    said: list[str]

    async def line_with(self, word):
        """The next line of its output that holds `word`."""
        async with asyncio.timeout(PATIENCE_S):
            while word not in (line := (await self.process.stdout.readline()).decode()):
                assert line, f"it ended without saying {word!r}:\n{''.join(self.said)}"
                self.said.append(line)
        self.said.append(line)
        return line

    async def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        rest, _ = await self.process.communicate()
        self.said.append(rest.decode())
        return self.process.returncode


@pytest.fixture
async def serve(installed, environment, librarian, tmp_path):
    started = []

    async def start(*args):
        process = await asyncio.create_subprocess_exec(
            installed,
            "serve",
            "--port",
            "0",
            *args,
            env=environment,
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        serving = Serving(process, "", [])
        started.append(serving)
        serving.url = (await serving.line_with("Listening on ")).split()[2].rstrip(";")
        return serving

    yield start
    for serving in started:
        if serving.process.returncode is None:
            await serving.stop()


@pytest.fixture
async def http():
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        yield client


async def admin(cli, namespace):
    """Headers with the home's own admin key."""
    _, key, _ = await cli("keys", "show-local")
    return {"Authorization": f"Bearer {key.strip()}", "Librarian-Namespace": namespace}


async def ready(http, serving):
    while (await http.get(f"{serving.url}/readyz")).status_code != 200:
        await asyncio.sleep(0.05)


def headers_in(path):
    """The mode of a file, and the headers that stand in it."""
    return path.stat().st_mode & 0o777, dict(line.split(": ", 1) for line in path.read_text().splitlines())


async def refused(url):
    """Return when nobody accepts connections any more."""
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        with contextlib.suppress(httpx.TransportError):
            while True:
                await client.get(f"{url}/healthz", headers={"Connection": "close"})


async def test_two_services_on_one_home_share_the_database(serve, http, cli, namespace, settings):
    """Items that one stores the other one finds; stopping one leaves the other, and the server, alone."""
    first, second = await serve(), await serve()
    headers = await admin(cli, namespace)
    row = {"kind": "message", "uid": "m1", "text": "x"}
    assert (await http.post(f"{first.url}/v1/items", json=row, headers=headers)).status_code == 200
    assert await first.stop() == 0
    await ready(http, second)
    assert (await http.get(f"{second.url}/v1/items/m1", headers=headers)).status_code == 200
    _, out, _ = await cli("server", "status", "--json")
    if settings.neo4j.uri is None:
        assert json.loads(out)["phase"] == "ready"


def without_timings(done):
    """Exit code, output and what was said, without what no two runs have in common."""
    code, out, err = done
    try:
        found = json.loads(out)
    except ValueError:
        return done
    found.pop("timings_ms", None)
    return code, found, err


async def test_commands_ask_the_service_of_their_home_and_say_what_they_say_without_it(
    serve, cli, ingest, namespace, settings
):
    """Exit code, output and errors, question by question; the service goes, and its socket with it."""
    await ingest(*ROWS)
    serving = await serve()
    await serving.line_with("Ready on ")
    assert len(list(settings.home.glob("service-*.sock"))) == 1
    for question in QUESTIONS:
        own = await cli("--local", *question, LIBRARIAN_NAMESPACE=namespace)
        asked = await cli(*question, LIBRARIAN_NAMESPACE=namespace)
        assert without_timings(asked) == without_timings(own), question
    code, _, err = await cli("remember", "The pager is with Mia.", LIBRARIAN_NAMESPACE=namespace)
    assert code == 0, err
    assert await serving.stop() == 0
    assert list(settings.home.glob("service-*.sock")) == []
    routes = [json.loads(line)["route"] for line in "".join(serving.said).splitlines() if '"route"' in line]
    assert {"/v1/search", "/v1/items", "/v1/items/{uid}"} <= set(routes)
    assert len(routes) >= len(QUESTIONS) - 2  # two are refused before anybody is asked
    code, _, err = await cli("search", WHY, LIBRARIAN_NAMESPACE=namespace)
    assert code == 0, err


async def test_health_is_answered_before_the_graph_is_ready_and_requests_wait_for_it(serve, http, cli, namespace):
    """The first ingest after a start need not be repeated: it waits."""
    serving = await serve()
    assert (await http.get(f"{serving.url}/healthz")).status_code == 200
    headers = await admin(cli, namespace)
    row = {"kind": "message", "text": "early"}
    assert (await http.post(f"{serving.url}/v1/items", json=row, headers=headers)).status_code == 200


async def test_sigterm_lets_a_running_request_finish(serve, http, cli, namespace):
    """No new connection is taken, the running ingest is answered and stored, the exit code is 0."""
    serving = await serve()
    headers = await admin(cli, namespace)
    await ready(http, serving)

    async def stream():
        yield b'{"kind":"message","uid":"before","text":"x"}\n'
        serving.process.send_signal(signal.SIGTERM)
        await refused(serving.url)
        yield b'{"kind":"message","uid":"after","text":"y"}\n'

    answer = await http.post(
        f"{serving.url}/v1/items", content=stream(), headers={**headers, "Content-Type": "application/x-ndjson"}
    )
    assert (answer.status_code, answer.json()["added"]) == (200, 2)
    await serving.process.communicate()
    assert serving.process.returncode == 0
    assert (await cli("get", "after", "-n", namespace))[0] == 0


async def test_ctrl_c_ends_it_orderly(serve, http):
    """The usual way to stop a service at a terminal is no failure."""
    serving = await serve()
    await ready(http, serving)
    assert await serving.stop(signal.SIGINT) == 0
    assert "Traceback" not in "".join(serving.said)


async def test_with_sample_it_prints_little_and_a_search_that_works_as_pasted(serve, http):
    """The page's address first, a search whose key is read from a private file, and the way to the commands; no key."""
    serving = await serve("--with-sample")
    page = await serving.line_with("Web page: ")
    assert page.split()[-1] == f"{serving.url}/"
    words = shlex.split(await serving.line_with("Search: curl "))[1:]
    await serving.line_with(" --help")
    assert len(serving.said) <= 10
    assert "lib_" not in "".join(serving.said)
    (headers,) = [word.removeprefix("@") for word in words if word.startswith("@")]
    mode, pairs = headers_in(Path(headers))
    assert mode == 0o600
    asked = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    found = json.loads((await asked.communicate())[0])
    assert len(found["results"]) == 5
    writing = await http.post(f"{serving.url}/v1/items", json={"kind": "memory", "text": "x"}, headers=pairs)
    assert writing.status_code == 403
    elsewhere = {**pairs, "Librarian-Namespace": "default"}
    assert (await http.post(f"{serving.url}/v1/search", json={"queries": ["x"]}, headers=elsewhere)).status_code == 403
