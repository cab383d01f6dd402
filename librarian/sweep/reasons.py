"""Reviews by the kind of their reason: their counts, and one decision about all of a kind."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

import msgspec
from msgspec import structs

from graph import reviews as graph
from graph.executor import Executor
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.items.succession import NOTHING_DECLARED, Declared
from librarian.sweep.contracts import (
    ReasonList,
    ReasonOut,
    ReviewInput,
    ReviewManyInput,
    ReviewManyOutput,
    ReviewOut,
    ReviewQuery,
    ReviewRefusal,
)
from librarian.sweep.lessons import kind_of, lessons_of
from librarian.sweep.reviews import list_reviews, review

AT_ONCE = 500
"""Maximum decisions per request."""
_SAMPLE = 10
_MOST_REASONS = 200
# Beginning of a flag's reason if somebody has stated another type.
_STATED = re.compile(r"stated is \w+, but ")


async def list_review_reasons(executor: Executor, namespace: str) -> ReasonList:
    """Return the kinds of reasons of proposals, with the outcomes."""
    counts = await graph.reasons(executor, namespace)
    lessons = lessons_of(counts)
    found: dict[str, Counter[str]] = {}
    for count in counts:
        found.setdefault(_beginning(count.reason), Counter())[count.state] += count.count
    kinds = [ReasonOut(because=kind, lesson=lessons.get(kind, 0), **states) for kind, states in found.items()]
    kinds.sort(key=lambda kind: (-kind.open, -kind.unreviewed, kind.because))
    return ReasonList(reasons=kinds[:_MOST_REASONS])


async def review_many(
    executor: Executor, namespace: str, given: ReviewManyInput, declared: Declared = NOTHING_DECLARED
) -> ReviewManyOutput:
    """Preview a decision about many reviews, or carry out a previewed one, each on its own.

    Raises Conflict if other reviews match than in the preview.
    """
    found, more = await _matching(executor, namespace, given)
    token = _token(namespace, given, found)
    if given.confirm_token is None:
        shown = token if found else None
        return ReviewManyOutput(matched=len(found), more=more, sample=found[:_SAMPLE], confirm_token=shown)
    if given.confirm_token != token:
        raise Conflict(
            "what matches changed since the preview",
            field="$.confirm_token",
            remedy="Ask for the preview again, without confirm_token.",
        )
    done = ReviewManyOutput(matched=len(found), more=more)
    for each in found:
        refusal = await _refusal(executor, namespace, each, given, declared)
        if refusal is None:
            done.decided += 1
        else:
            done.refused.append(ReviewRefusal(review_id=each.review_id, reason=refusal))
    return done


def _beginning(reason: str) -> str:
    """Return the common beginning of reasons of the same kind: the whole reason if it refers to no specific memory."""
    stated = _STATED.match(reason)
    kind = kind_of(reason[stated.end() :] if stated else reason)
    return reason if kind is None else f"{stated[0] if stated else ''}{kind}"


async def _matching(executor: Executor, namespace: str, given: ReviewManyInput) -> tuple[list[ReviewOut], bool]:
    """Return the first reviews to decide, and whether there are more."""
    query = ReviewQuery(sorts=given.sorts, states=list(given.states or ["open"]), because=given.because, limit=AT_ONCE)
    page = await list_reviews(executor, namespace, query)
    return page.reviews, page.next_cursor is not None


async def _refusal(
    executor: Executor, namespace: str, each: ReviewOut, given: ReviewManyInput, declared: Declared
) -> str | None:
    """Decide one review; return the reason if that is impossible."""
    try:
        decision = ReviewInput(verdict=given.verdict, reason=given.reason)
        await review(executor, namespace, each.review_id, decision, declared)
    except (Conflict, InvalidInput, NotFound) as error:
        return str(error)
    return None


def _token(namespace: str, given: ReviewManyInput, found: Sequence[ReviewOut]) -> str:
    """Return a token that is equal only for the same decision about the same reviews."""
    asked = structs.replace(given, confirm_token=None)
    ids = [(each.review_id, each.state) for each in found]
    return hashlib.sha256(msgspec.json.encode([namespace, asked, ids], order="deterministic")).hexdigest()
