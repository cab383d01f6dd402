"""The pack for Neo4j Browser, built from the files in this folder: a style, saved queries, and a guide to them.

The queries are for analysts, not for the program: they are in the Browser's own format, one per file, and only the
Browser runs them. Neither they nor the pack contain data.
"""

import html
import io
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

STYLE_FILE = "analyst.grass"
GUIDE_FILE = "guide.html"
QUERIES_FILE = "saved-queries.zip"
PACK_FILES = (STYLE_FILE, GUIDE_FILE, QUERIES_FILE)
"""The files that the service offers under PACK_PATH."""

PACK_PATH = "/browser-pack"
"""The path at which the service offers it."""

# The Browser lists a saved query by its first comment, in a folder named as the archive's.
_FOLDER = "Librarian {}"
_PARAMETER = re.compile(r"^// :param (\w+) => '(.*)'$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{([\w-]+)(?: ([\w-]+))?\}\}")
# Makes the archive reproducible; zip has no earlier time.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """One query: its folder and file name, and its text with the leading comments."""

    folder: str
    name: str
    text: str

    @property
    def title(self) -> str:
        """The name under which the Browser lists it."""
        return self.text.splitlines()[0].removeprefix("// ")

    @property
    def summary(self) -> str:
        """The question it answers."""
        return self.text.splitlines()[1].removeprefix("// ")

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its parameters, each with a value that fits the sample."""
        return dict(_PARAMETER.findall(self.text))

    @property
    def cypher(self) -> str:
        """The query without its comments."""
        return "\n".join(line for line in self.text.splitlines() if not line.startswith("//"))


@cache
def saved_queries() -> tuple[SavedQuery, ...]:
    """Return all queries, by folder and title."""
    folders = (
        folder for folder in files("librarian.analyst.browser_pack").joinpath("queries").iterdir() if folder.is_dir()
    )
    found = (
        SavedQuery(folder.name, file.name.removesuffix(".cypher"), file.read_text(encoding="utf-8"))
        for folder in folders
        for file in folder.iterdir()
        if file.name.endswith(".cypher")
    )
    return tuple(sorted(found, key=lambda query: (query.folder, query.title)))


def pack_file(name: str, *, base_url: str, namespace: str) -> bytes:
    """Return one of PACK_FILES; the guide names the address of its service and an initial namespace."""
    makers: Mapping[str, Callable[[], bytes]] = {
        STYLE_FILE: lambda: _shipped(STYLE_FILE).encode(),
        GUIDE_FILE: lambda: guide(base_url, namespace).encode(),
        QUERIES_FILE: archive,
    }
    return makers[name]()


def guide(base_url: str, namespace: str) -> str:
    """Return the guide as HTML slides, whose code blocks the Browser runs on a click."""
    values = {"base_url": base_url, "namespace": namespace, "pack": f"{base_url}{PACK_PATH}"}
    queries = {query.name: query for query in saved_queries()}

    def filled(match: re.Match[str]) -> str:
        kind, name = match.groups()
        return _runnable(queries[name]) if kind == "query" else html.escape(values[kind])

    return _PLACEHOLDER.sub(filled, _shipped(GUIDE_FILE))


@cache
def archive() -> bytes:
    """Return the saved queries as a zip archive in the Browser's export format."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archived:
        for query in saved_queries():
            path = f"{_FOLDER.format(query.folder.replace('-', ' '))}/{query.name}.cypher"
            archived.writestr(zipfile.ZipInfo(path, _NO_TIME), query.text.rstrip("\n"))
    return written.getvalue()


def _runnable(query: SavedQuery) -> str:
    """Return a query as a block that runs on a click."""
    return (
        f"<h5>{html.escape(query.title)}</h5><p>{html.escape(query.summary)}</p>"
        f'<pre class="pre-scrollable code runnable">{html.escape(query.cypher, quote=False)}</pre>'
    )


@cache
def _shipped(name: str) -> str:
    return files("librarian.analyst.browser_pack").joinpath(name).read_text(encoding="utf-8")
