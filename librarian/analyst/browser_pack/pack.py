"""The pack for Neo4j Browser, made of the files beside this one: a style, saved queries, and a guide that shows them.

The queries are the analysts', not the program's: they stand in the Browser's own format, one to a file, and nothing but
the Browser runs them. They hold no data, and the pack neither.
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
"""Where the service offers it."""

# The Browser lists a saved query by its first comment, in a folder named as the archive's.
_FOLDER = "Librarian {}"
_PARAMETER = re.compile(r"^// :param (\w+) => '(.*)'$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{([\w-]+)(?: ([\w-]+))?\}\}")
# The archive is the same whenever it is made; zip knows no earlier time.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """One query: the folder and file name that it ships under, and its text with the comments on top."""

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
        """The parameters that it needs, each with a value that fits the sample."""
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
    """Return one of PACK_FILES; the guide names the address of its service, and a namespace to begin with."""
    makers: Mapping[str, Callable[[], bytes]] = {
        STYLE_FILE: lambda: _shipped(STYLE_FILE).encode(),
        GUIDE_FILE: lambda: guide(base_url, namespace).encode(),
        QUERIES_FILE: archive,
    }
    return makers[name]()


def guide(base_url: str, namespace: str) -> str:
    """Return the guide as HTML, in slides: the Browser runs its code blocks at a click."""
    values = {"base_url": base_url, "namespace": namespace, "pack": f"{base_url}{PACK_PATH}"}
    queries = {query.name: query for query in saved_queries()}

    def filled(match: re.Match[str]) -> str:
        kind, name = match.groups()
        return _runnable(queries[name]) if kind == "query" else html.escape(values[kind])

    return _PLACEHOLDER.sub(filled, _shipped(GUIDE_FILE))


@cache
def archive() -> bytes:
    """Return the saved queries as a zip archive, as the Browser exports and imports them."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archived:
        for query in saved_queries():
            path = f"{_FOLDER.format(query.folder.replace('-', ' '))}/{query.name}.cypher"
            archived.writestr(zipfile.ZipInfo(path, _NO_TIME), query.text.rstrip("\n"))
    return written.getvalue()


def _runnable(query: SavedQuery) -> str:
    """Return a query as a block that runs at a click."""
    return (
        f"<h5>{html.escape(query.title)}</h5><p>{html.escape(query.summary)}</p>"
        f'<pre class="pre-scrollable code runnable">{html.escape(query.cypher, quote=False)}</pre>'
    )


@cache
def _shipped(name: str) -> str:
    return files("librarian.analyst.browser_pack").joinpath(name).read_text(encoding="utf-8")
