"""Check that a Professor's search keeps the contract: a few searches, and the violations in their answers."""

import asyncio
import time
import uuid
from dataclasses import dataclass, field, replace

from librarian.agent.professor import UNKNOWN, Answer, Numbering, Professor, SearchBody, listed, read_answer
from librarian.base.findings import Check, look
from librarian.base.settings.settings import ProfessorConfig
from librarian_agents.errors import ToolError, ToolFailed

_OTHER_QUERY = "definition formula example 定義 計算式"
_JAPANESE_QUERY = "決定係数の計算式を教えて"
_UNKNOWN_WORDS = "zxqv wvkj qqzx"
_LONG_QUERY = "回帰 regression " * 30


@dataclass(slots=True)
class Checker:
    """Queries one Professor. `query` is a topic of its documents."""

    professor: Professor
    query: str
    _request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    _numbering: Numbering = field(default_factory=Numbering)

    async def search(self) -> Check:
        """Check the first search: the form of its answer, and whether it finds anything."""
        started = time.perf_counter()
        answer = await self._answer(1, self.query)
        ms = (time.perf_counter() - started) * 1000
        if answer.violations:
            return _broken("search", answer)
        self._numbering.check(1, answer.candidates)
        found = f"{len(answer.candidates)} candidates in {ms:.0f} ms"
        if answer.candidates:
            return Check("search", "ok", found)
        return Check("search", "warning", found, "Give something that the documents speak of with --query.")

    async def references(self) -> Check:
        """Check whether candidates name their source."""
        candidates = (await self._answer(1, self.query)).candidates
        lacking = sum(candidate.source is None or candidate.page is None for candidate in candidates)
        if not lacking:
            return Check("references", "ok", "every candidate has a source and a page")
        return Check(
            "references",
            "warning",
            f"{lacking} of {len(candidates)} candidates lack `source` or `page`",
            "Send them where you can: two candidates of one page are never both selected.",
        )

    async def numbering(self) -> Check:
        """Check the numbering in the next search of the same request."""
        answer = await self._answer(2, _OTHER_QUERY)
        if answer.violations:
            return _broken("numbering", answer)
        violations = self._numbering.check(2, answer.candidates)
        if violations:
            return Check(
                "numbering", "failed", listed(violations), "Go on counting through one request_id; do not begin anew."
            )
        return Check("numbering", "ok", "temp_index goes on counting through one request_id")

    async def requests_apart(self) -> Check:
        """Check two concurrent requests, each with its own numbers."""
        names = [uuid.uuid4().hex for _ in range(2)]
        answers = await asyncio.gather(*(self._answer(1, self.query, request_id=name) for name in names))
        broken = next((answer for answer in answers if answer.violations), None)
        return _broken("requests apart", broken) if broken else Check("requests apart", "ok", "both are answered")

    async def japanese(self) -> Check:
        """Check a query in Japanese."""
        return await self._answers("japanese", _JAPANESE_QUERY)

    async def nothing_found(self) -> Check:
        """Check a query on no document's topic: an empty list, or whatever is nearest."""
        return await self._answers("nothing found", _UNKNOWN_WORDS)

    async def long_query(self) -> Check:
        """Check a query of the maximum length."""
        return await self._answers("long query", _LONG_QUERY.strip()[:400])

    async def key(self) -> Check:
        """Check whether it requires the configured key."""
        config = self.professor.config
        if config.api_key is None:
            return Check("key", "skipped", "no key is sent")
        without_key = Professor(replace(config, api_key=None))
        try:
            await without_key.post(SearchBody(uuid.uuid4().hex, 1, self.query), {}, config.timeout_s)
        except ToolFailed:
            return Check("key", "ok", "without the key it refuses")
        except ToolError as error:
            return Check("key", "warning", str(error))
        finally:
            await without_key.aclose()
        return Check("key", "warning", "it answers without the key too", "Let it refuse requests without the key.")

    async def _answers(self, name: str, query: str) -> Check:
        answer = await self._answer(1, query, request_id=uuid.uuid4().hex)
        if answer.violations:
            return _broken(name, answer)
        return Check(name, "ok", f"answered with {len(answer.candidates)} candidates")

    async def _answer(self, search_no: int, query: str, *, request_id: str | None = None) -> Answer:
        body = SearchBody(request_id or self._request_id, search_no, query)
        received = await self.professor.post(body, UNKNOWN.headers(), self.professor.config.timeout_s)
        return read_answer(received)


async def check_professor(config: ProfessorConfig, query: str) -> list[Check]:
    """Return all findings; the later checks are skipped if the first search fails."""
    professor = Professor(config)
    checker = Checker(professor, query)
    try:
        findings = [await look("search", checker.search)]
        if findings[0].status == "failed":
            return findings
        return findings + [
            await look(work.__name__.replace("_", " "), work)
            for work in (
                checker.references,
                checker.numbering,
                checker.requests_apart,
                checker.japanese,
                checker.nothing_found,
                checker.long_query,
                checker.key,
            )
        ]
    finally:
        await professor.aclose()


def _broken(name: str, answer: Answer) -> Check:
    return Check(name, "failed", listed(answer.violations), "docs/search-agent.md has the contract.")
