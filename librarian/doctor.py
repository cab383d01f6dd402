"""What `librarian doctor` looks at. It starts nothing and changes nothing; each finding comes with its remedy."""

import importlib.util
import os
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Literal

from msgspec import Struct

from cypher.loader import load as load_statements
from graph.config import GraphConfig
from graph.driver import open_driver, verify
from graph.executor import Executor
from graph.local.home import mounts, refuse_remote
from graph.local.java import find_java
from graph.local.lock import Group, load_group
from graph.local.server import ManagedServer
from graph.local.state import Phase
from librarian.keys import KeyFile
from librarian.problems import caught, message_of
from librarian.rowmap import built_in_maps
from librarian.settings import Settings
from migrations.plan import discover
from migrations.runner import Migrator

PACKAGES = ("agents", "cypher", "graph", "librarian", "migrations", "retrieval")
_SAMPLE_FILES = ("messages.jsonl", "facts.jsonl", "memories.jsonl", "edges.jsonl")
_MB = 1_000_000
_ATTACH_S = 2.0

Status = Literal["ok", "warning", "failed", "skipped"]


class Check(Struct, frozen=True, omit_defaults=True):
    """One finding; `remedy` where something should be done."""

    name: str
    status: Status
    detail: str
    remedy: str | None = None


Look = Callable[[Settings], Check | Awaitable[Check]]


async def examine(settings: Settings) -> list[Check]:
    """Every check, in an order in which the first fault is likely the cause of the later ones."""
    looks: dict[str, Look] = {
        "packages": _packages,
        "text files": _text_files,
        "settings": _settings,
        "home": _home,
        "keys": _keys,
        "java": _java,
        "server files": _server_files,
        "encoder": _encoder,
        "database": _database,
        "schema": _schema,
    }
    return [await _look(name, look, settings) for name, look in looks.items()]


async def _look(name: str, look: Look, settings: Settings) -> Check:
    """The check's finding; whatever it raises is a finding too."""
    found: list[Check] = []

    async def work() -> None:
        finding = look(settings)
        found.append(finding if isinstance(finding, Check) else await finding)

    error = await caught(work())
    return Check(name, "failed", message_of(error)) if error else found[0]


def _packages(_settings: Settings) -> Check:
    root = Path(__file__).resolve().parent.parent
    origins = {name: importlib.util.find_spec(name) for name in PACKAGES}
    strangers = [
        f"{name} comes from {spec.origin if spec else 'nowhere'}"
        for name, spec in origins.items()
        if spec is None or spec.origin is None or not Path(spec.origin).resolve().is_relative_to(root / name)
    ]
    if strangers:
        remedy = (
            "Remove the other package (openai-agents also installs one named agents), or use an environment of its own."
        )
        return Check("packages", "failed", "; ".join(strangers), remedy)
    return Check("packages", "ok", f"librarian {version('librarian')} in {root}")


def _text_files(_settings: Settings) -> Check:
    statements, migrations, jars = load_statements(), discover(), load_group("server").jars
    rows = [files("librarian").joinpath("sample", name).read_bytes().count(b"\n") for name in _SAMPLE_FILES]
    detail = f"{len(statements)} statements, {len(migrations)} migrations, {len(jars)} locked jars, "
    return Check("text files", "ok", f"{detail}{len(built_in_maps())} maps, {sum(rows)} sample rows")


def _settings(settings: Settings) -> Check:
    if settings.warnings:
        return Check("settings", "warning", "; ".join(settings.warnings), "Correct or unset them.")
    return Check("settings", "ok", "`librarian config show` lists them")


def _home(settings: Settings) -> Check:
    home = settings.home
    refuse_remote(home, mounts())
    if not home.exists():
        return Check("home", "ok", f"{home} will be made at the first start")
    if home.stat().st_mode & 0o077:
        return Check("home", "failed", f"{home} is open to other users", f"chmod 700 {str(home)!r}")
    return Check("home", "ok", str(home))


def _keys(settings: Settings) -> Check:
    path = settings.keys_file
    keys = KeyFile(path).list()
    if not path.exists():
        return Check("keys", "ok", f"{path} will be made at the first `librarian serve`")
    if path.stat().st_mode & 0o077:
        return Check("keys", "warning", f"{path} is open to other users", f"chmod 600 {str(path)!r}")
    return Check("keys", "ok", f"{len(keys)} keys in {path}")


def _java(settings: Settings) -> Check:
    if settings.neo4j.uri is not None:
        return _not_managed("java")
    java = find_java(os.environ, explicit=settings.server.java)
    if java.has_vector_module:
        return Check("java", "ok", f"Java {java.major} at {java.path}")
    detail = f"Java {java.major} at {java.path} lacks the module jdk.incubator.vector"
    return Check("java", "warning", detail, "It works; vector search is faster with a full JDK 25 or 21.")


def _server_files(settings: Settings) -> Check:
    return _not_managed("server files") if settings.neo4j.uri else _artifacts("server files", "server", settings.cache)


def _encoder(settings: Settings) -> Check:
    name = settings.encoder.name
    if name == "onnx":
        return _artifacts("encoder", "encoder", settings.cache)
    if name.startswith("sentence-transformers:") and importlib.util.find_spec("sentence_transformers") is None:
        return Check("encoder", "failed", f"{name}: not installed", "Install librarian[sentence-transformers].")
    return Check("encoder", "ok", "keywords only" if name == "none" else name)


async def _database(settings: Settings) -> Check:
    config = await _running(settings)
    if isinstance(config, str):
        return Check("database", "skipped", config)
    async with open_driver(config) as driver:
        await verify(driver)
    return Check("database", "ok", config.uri)


async def _schema(settings: Settings) -> Check:
    config = await _running(settings)
    if isinstance(config, str):
        return Check("schema", "skipped", config)
    async with open_driver(config) as driver:
        executor = Executor(driver, database=config.database)
        faults = await Migrator(executor, owner="doctor", app_version=version("librarian")).validate()
    if faults:
        return Check("schema", "failed", "; ".join(faults), "`librarian migrate status` shows more.")
    return Check("schema", "ok", "as this version declares it")


async def _running(settings: Settings) -> GraphConfig | str:
    """How to reach the database, or why there is none to reach now."""
    neo4j = settings.neo4j
    if neo4j.uri is not None:
        return GraphConfig(neo4j.uri, neo4j.username, neo4j.password, neo4j.database, retry_window_s=_ATTACH_S)
    server = ManagedServer(settings.home, settings.cache)
    phase = server.status().phase
    if phase is not Phase.READY:
        return f"the managed server is {phase}; `librarian server start` starts it"
    endpoint = await server.wait_ready(_ATTACH_S)
    return GraphConfig(endpoint.uri, endpoint.username, endpoint.password, retry_window_s=_ATTACH_S)


def _not_managed(name: str) -> Check:
    return Check(name, "skipped", "NEO4J_URI is set: Librarian runs no server of its own")


def _artifacts(name: str, group_name: str, cache: Path) -> Check:
    group = load_group(group_name)
    missing = _missing_bytes(group, group.folder(cache))
    if missing:
        return Check(
            name, "warning", f"{missing / _MB:.0f} MB are not here yet", "They are downloaded at the first start."
        )
    return Check(name, "ok", f"{len(group.jars)} files, {group.size / _MB:.0f} MB in {group.folder(cache)}")


def _missing_bytes(group: Group, folder: Path) -> int:
    present = {path.name: path.stat().st_size for path in folder.glob("*")}
    return sum(jar.size for jar in group.jars if present.get(jar.name) != jar.size)
