"""A reader who types what the documentation says: every page has a folder, a shell and namespaces of its own."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from librarian.base.keys import KeyFile, ensure_admin_key
from scripts.code_blocks import blocks_of, pages

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
# A page may write into namespaces of this form alone; each page has its own of every name.
NAMESPACE = re.compile(r"\bteam:[\w-]+")
ADDRESS = "http://127.0.0.1:8765"
WIDTH = 100
LONGEST_S = 180


@pytest.fixture(scope="session")
def named_files():
    """The files that pages show, by name: whatever page shows them, every reader has them."""
    blocks = [block for page, text in pages(PROJECT).items() for block in blocks_of(page, text)]
    return {block.options["file"]: block.text for block in blocks if "file" in block.options}


@pytest.fixture(scope="session")
async def reader_service(settings, serve_app, librarian):
    """The service that a reader of every page has: the sample is in it, and the home's admin key opens it."""
    await librarian.load_sample()
    await librarian.embed_pending()
    await librarian.sweep_sample()
    await librarian.embed_pending()
    keys = KeyFile(settings.keys_file)
    ensure_admin_key(keys, settings.home)
    async with serve_app(librarian, keys) as url:
        yield url


class Reader:
    """Runs commands as somebody who reads one page."""

    def __init__(self, folder, url, environment, project_folders):
        self.folder = folder
        self.url = url
        self.key = environment["KEY"]
        self._environment = environment
        self._own = f"-{uuid.uuid4().hex[:6]}"
        self._processes = []
        for path in project_folders:
            (folder / path.name).symlink_to(path)

    async def run(self, script, *, together=True, **variables):
        """The exit code of a bash script and what it printed on standard output and error, together in the order in
        which it came, or apart.
        """
        process = await self._start(script, stderr=subprocess.STDOUT if together else subprocess.PIPE, **variables)
        out, err = await asyncio.wait_for(process.communicate(), LONGEST_S)
        return process.returncode, *((text or b"").decode().replace(self._own, "") for text in (out, err))

    async def leave_running(self, script, address):
        """Begin a script that goes on until the page ends, and wait until its address answers."""
        process = await self._start(script, stderr=subprocess.STDOUT)
        parts = urlsplit(address)
        async with asyncio.timeout(LONGEST_S):
            while process.returncode is None and not await is_open(parts.hostname, parts.port):
                await asyncio.sleep(0.1)
        assert process.returncode is None, (await process.stdout.read()).decode()

    async def _start(self, script, *, stderr, **variables):
        process = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", self.reported(script)),
            cwd=self.folder,
            env={**self._environment, **variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    async def end(self):
        """End what the page's blocks have left running."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()

    def reported(self, text):
        """Return a page's text with this reader's namespaces and the address of the service."""
        return NAMESPACE.sub(lambda name: name[0] + self._own, text).replace(ADDRESS, self.url)


async def is_open(host, port):
    """Whether somebody listens there."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except ConnectionError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


@pytest.fixture
async def reader(tmp_path, reader_service, programs, settings, named_files):
    for needed in ("bash", "curl", "jq"):
        if shutil.which(needed) is None:
            pytest.skip(f"examples need {needed}")
    for name, text in named_files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(programs)
    (tmp_path / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRARIAN_")}
    environment = {
        **kept,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "COLUMNS": str(WIDTH),
        "NO_PROXY": "127.0.0.1",
        "LIBRARIAN_HOME": str(settings.home),
        "LIBRARIAN_CACHE": str(settings.cache),
        "LIBRARIAN_NAMESPACE": f"docs-{uuid.uuid4().hex[:6]}",
        "LIBRARIAN_PORT": str(urlsplit(reader_service).port),
        "BASE": reader_service,
        "KEY": (settings.home / "admin.key").read_text(encoding="utf-8").strip(),
    }
    folders = [path for path in PROJECT.iterdir() if path.is_dir() and not path.name.startswith(".")]
    reads = Reader(tmp_path, reader_service, environment, folders)
    yield reads
    await reads.end()
