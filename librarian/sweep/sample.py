"""Decisions of the sample's team about the proposals of a sweep of the sample."""

from collections.abc import AsyncIterator, Mapping
from importlib.resources import files

import msgspec

from graph.executor import Executor
from librarian.sweep.contracts import ReviewInput, ReviewOut, ReviewQuery, Verdict
from librarian.sweep.reviews import list_reviews, review

_PAGE = 200


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One row of reviews.jsonl: about an edge of `type` from `source` to `target`, or about the type of `memory`."""

    verdict: Verdict
    type: str
    reason: str
    source: str | None = None
    target: str | None = None
    memory: str | None = None


def decisions() -> Mapping[tuple[str, ...], Decision]:
    """Return the decisions by their subjects."""
    text = (files("librarian.items") / "sample" / "reviews.jsonl").read_bytes()
    rows = [msgspec.json.decode(line, type=Decision) for line in text.splitlines()]
    return {_about(row.memory, row.source, row.type, row.target): row for row in rows}


async def decide(executor: Executor, namespace: str) -> None:
    """Apply the decisions whose subjects the sweeps of `namespace` propose."""
    known = decisions()
    for found in [found async for found in _undecided(executor, namespace)]:
        edge = found.edge
        about = (found.item.uid,) if edge is None else _about(None, edge.source, edge.type, edge.target)
        if (decision := known.get(about)) is not None:
            type_ = None if decision.memory is None else decision.type
            given = msgspec.convert(
                {"verdict": decision.verdict, "reason": decision.reason, "type": type_}, type=ReviewInput
            )
            await review(executor, namespace, found.review_id, given)


def _about(memory: str | None, *edge: str | None) -> tuple[str, ...]:
    return tuple(filter(None, edge)) if memory is None else (memory,)


async def _undecided(executor: Executor, namespace: str) -> AsyncIterator[ReviewOut]:
    query = ReviewQuery(states=["open", "unreviewed"], limit=_PAGE)
    while True:
        page = await list_reviews(executor, namespace, query)
        for found in page.reviews:
            yield found
        if page.next_cursor is None:
            return
        query.cursor = page.next_cursor
