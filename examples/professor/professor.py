"""A Professor: owns a folder of documents, searches it, and lets Librarian's search agent ask.

    python examples/professor/professor.py
    PROFESSOR_SEARCH_URL=http://127.0.0.1:9010/search librarian search-agent \
        --question 決定係数の計算式を教えて --target definition --target formula --target interpretation_0_1

Documents are texts (`*.md`, `*.txt`) whose pages are parted by a line of `---`. The index is SQLite's FTS5, in memory.
With PROFESSOR_API_KEY set, requests need it as a bearer token.
"""

import argparse
import asyncio
import hmac
import os
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

DOCUMENTS = Path(__file__).parent / "documents"
PAGES_A_SEARCH = 6
MAX_CONVERSATIONS = 1000
MAX_QUERY_CHARS = 2000

_PAGE_BREAK = re.compile(r"^---\s*$", re.MULTILINE)
_RUN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿々ー]+|[^\W_]+")
_CJK = re.compile(r"[぀-ヿ㐀-鿿豈-﫿々ー]")


@dataclass(frozen=True)
class Page:
    """One page of one document; pages count from 1."""

    source: str
    number: int
    text: str


class Index:
    """Finds pages by their words. Japanese has no blanks, so it is indexed by pairs of letters."""

    def __init__(self, pages: list[Page]) -> None:
        self._pages = pages
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute("CREATE VIRTUAL TABLE pages USING fts5(tokens)")
        rows = ((number, " ".join(tokens(page.text))) for number, page in enumerate(pages))
        self._database.executemany("INSERT INTO pages (rowid, tokens) VALUES (?, ?)", rows)

    def search(self, query: str) -> list[tuple[Page, float]]:
        """Return the best pages, each with a score (higher is better), by BM25."""
        wanted = " OR ".join(f'"{token}"' for token in dict.fromkeys(tokens(query)))
        if not wanted:
            return []
        found = self._database.execute(
            "SELECT rowid, -bm25(pages) FROM pages WHERE pages MATCH ? ORDER BY bm25(pages) LIMIT ?",
            (wanted, PAGES_A_SEARCH),
        )
        return [(self._pages[number], score) for number, score in found]


@dataclass
class Numbers:
    """The temp_index of each page, for as long as one request of the agent lasts: counting goes on."""

    _by_request: OrderedDict[str, dict[Page, int]] = field(default_factory=OrderedDict)

    def of(self, request_id: str, page: Page) -> int:
        """Return the page's number in this request: the one it had, or the next."""
        numbers = self._by_request.setdefault(request_id, {})
        self._by_request.move_to_end(request_id)
        if len(self._by_request) > MAX_CONVERSATIONS:
            self._by_request.popitem(last=False)
        return numbers.setdefault(page, len(numbers) + 1)


class Professor:
    """Answers `POST /search`."""

    def __init__(self, documents: Path, api_key: str | None) -> None:
        self._index = Index(list(read(documents)))
        self._numbers = Numbers()
        self._api_key = api_key

    async def search(self, request: Request) -> JSONResponse:
        """Answer one search: `{request_id, search_no, query}` in, `{candidates}` out."""
        if not self._may_ask(request):
            return JSONResponse({"error": "a valid key is needed"}, 401)
        asked = await request.json()
        faults = faults_of(asked)
        if faults:
            return JSONResponse({"error": faults}, 400)
        found = await asyncio.to_thread(self._index.search, asked["query"])
        candidates = [
            {
                "temp_index": self._numbers.of(asked["request_id"], page),
                "text": page.text,
                "source": page.source,
                "page": page.number,
                "score": round(score, 4),
            }
            for page, score in found
        ]
        return JSONResponse({"candidates": candidates})

    def _may_ask(self, request: Request) -> bool:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        return self._api_key is None or hmac.compare_digest(sent.encode(), self._api_key.encode())


def faults_of(asked: Any) -> str:
    """Return what is wrong with a request; empty where nothing is."""
    if not isinstance(asked, dict):
        return "an object is wanted"
    if not isinstance(asked.get("request_id"), str) or not isinstance(asked.get("search_no"), int):
        return "request_id must be a text and search_no a number"
    if not isinstance(asked.get("query"), str) or len(asked["query"]) > MAX_QUERY_CHARS:
        return f"query must be a text of at most {MAX_QUERY_CHARS} characters"
    return ""


def read(folder: Path) -> Iterator[Page]:
    """Yield every page of every document in `folder`."""
    for file in sorted((*folder.glob("*.md"), *folder.glob("*.txt"))):
        pages = _PAGE_BREAK.split(file.read_text(encoding="utf-8"))
        for number, text in enumerate(pages, start=1):
            if text.strip():
                yield Page(file.stem, number, text.strip())


def tokens(text: str) -> list[str]:
    """Words in lower case; of Japanese, every pair of neighbouring letters."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        if _CJK.match(run):
            found.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        else:
            found.append(run)
    return found


def application(documents: Path = DOCUMENTS, api_key: str | None = None) -> Starlette:
    """Return the Professor as an ASGI application."""
    return Starlette(routes=[Route("/search", Professor(documents, api_key).search, methods=["POST"])])


def main() -> None:
    """Serve until Ctrl-C."""
    options = argparse.ArgumentParser(description="A Professor for Librarian's search agent.")
    options.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of texts")
    options.add_argument("--port", type=int, default=9010)
    given = options.parse_args()
    served = application(given.documents, os.environ.get("PROFESSOR_API_KEY") or None)
    uvicorn.run(served, host="127.0.0.1", port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
