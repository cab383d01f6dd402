"""Checks of the program itself: packages, text files, settings, and downloaded files."""

import hashlib
import importlib.util
import os
import zlib
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

from cypher.loader import load as load_statements
from graph.local.artifacts import ENCODER_FILES
from graph.local.java import find_java
from graph.local.lock import Group, Jar, load_group
from librarian.base.findings import Check, Look
from librarian.base.settings.settings import Settings
from librarian.cli.doctor_checks.origins import REMEDY, ROOT, conflicting_distributions
from librarian.items.rowmap import built_in_maps
from migrations.plan import discover
from retrieval.encoders.factory import encoder_from_spec

_SAMPLE_FILES = ("messages.jsonl", "facts.jsonl", "memories.jsonl", "edges.jsonl")
_MB = 1_000_000


def installation_checks(settings: Settings, *, deep: bool) -> dict[str, Look]:
    """Return the checks by name, in order; `deep` reads every downloaded file."""
    return {
        "packages": _packages,
        "text files": _text_files,
        "settings": partial(_settings, settings),
        "java": partial(_java, settings),
        "server files": partial(_server_files, settings, deep=deep),
        "encoder": partial(_encoder, settings, deep=deep),
    }


def _packages() -> Check:
    # The command line would not even start if another distribution provided one.
    if conflicts := conflicting_distributions():
        return Check("packages", "failed", "; ".join(conflicts), REMEDY)
    return Check("packages", "ok", f"librarian {version('librarian')} in {ROOT}")


def _text_files() -> Check:
    statements, migrations, jars = load_statements(), discover(), load_group("server").jars
    rows = [files("librarian.items").joinpath("sample", name).read_bytes().count(b"\n") for name in _SAMPLE_FILES]
    detail = f"{len(statements)} statements, {len(migrations)} migrations, {len(jars)} locked jars, "
    return Check("text files", "ok", f"{detail}{len(built_in_maps())} maps, {sum(rows)} sample rows")


def _settings(settings: Settings) -> Check:
    if settings.warnings:
        return Check("settings", "warning", "; ".join(settings.warnings), "Correct or unset them.")
    return Check("settings", "ok", "`librarian config show` lists them")


def _java(settings: Settings) -> Check:
    if settings.neo4j.uri is not None:
        return _not_managed("java")
    java = find_java(os.environ, explicit=settings.server.java)
    if java.has_vector_module:
        return Check("java", "ok", f"Java {java.major} at {java.path}")
    detail = f"Java {java.major} at {java.path} lacks the module jdk.incubator.vector"
    return Check("java", "warning", detail, "It works; vector search is faster with a full JDK 25 or 21.")


def _server_files(settings: Settings, *, deep: bool) -> Check:
    if settings.neo4j.uri is not None:
        return _not_managed("server files")
    return _artifacts("server files", load_group("server"), settings.cache, deep=deep)


async def _encoder(settings: Settings, *, deep: bool) -> Check:
    name = settings.encoder.name
    if name == "none":
        return Check("encoder", "ok", "keywords only")
    if name == "onnx":
        return _onnx_files(settings.cache, deep=deep)
    if name.startswith("sentence-transformers:"):
        if importlib.util.find_spec("sentence_transformers") is None:
            return Check("encoder", "failed", f"{name}: not installed", "Install librarian[sentence-transformers].")
        return Check("encoder", "ok", name)
    encoder = await encoder_from_spec(name, api_key=settings.encoder.api_key)
    if encoder is None:
        raise AssertionError(name)
    await encoder.aclose()
    return Check("encoder", "ok", f"{encoder.space.model} answers with vectors of {encoder.space.dimension} numbers")


def _onnx_files(cache: Path, *, deep: bool) -> Check:
    group = load_group("encoder")
    found = _artifacts("encoder", group, cache, deep=deep)
    model = cache / f"model-{group.version}"
    if not deep or found.status != "ok" or not model.is_dir():
        return found
    with ZipFile(group.folder(cache) / group.jars[0].name) as jar:
        damaged = [name for name in ENCODER_FILES if zlib.crc32((model / name).read_bytes()) != jar.getinfo(name).CRC]
    return _damaged("encoder", damaged, model) if damaged else found


def _artifacts(name: str, group: Group, cache: Path, *, deep: bool) -> Check:
    folder = group.folder(cache)
    present = {path.name: path.stat().st_size for path in folder.glob("*")}
    if missing := sum(jar.size for jar in group.jars if present.get(jar.name) != jar.size):
        detail = f"{missing / _MB:.0f} MB are not downloaded yet"
        return Check(name, "warning", detail, "They are downloaded at the first start.")
    if deep and (damaged := [jar.name for jar in group.jars if not _is_sound(folder, jar)]):
        return _damaged(name, damaged, folder)
    checked = ", each as locked" if deep else ""
    return Check(name, "ok", f"{len(group.jars)} files, {group.size / _MB:.0f} MB in {folder}{checked}")


def _damaged(name: str, damaged: list[str], folder: Path) -> Check:
    remedy = f"Delete {str(folder)!r}; the next start fetches it again."
    return Check(name, "failed", f"damaged: {', '.join(damaged)}", remedy)


def _is_sound(folder: Path, jar: Jar) -> bool:
    with (folder / jar.name).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == jar.sha256


def _not_managed(name: str) -> Check:
    return Check(name, "skipped", "NEO4J_URI is set: Librarian runs no server of its own")
