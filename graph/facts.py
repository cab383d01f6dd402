"""Facts by what they say of whom: which values of a subject are open, and how many values a predicate has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graph.executor import Executor
from graph.item import Fact
from graph.types import FOREVER, native

_SAMPLE = 2_000


@dataclass(frozen=True, slots=True)
class OpenFact:
    """A fact that holds and that nothing supersedes."""

    uid: str
    object: str = field(repr=False)
    valid_from: datetime | None


@dataclass(frozen=True, slots=True)
class Habit:
    """How many subjects have a value of a predicate, and how many of them have several open ones."""

    subjects: int
    several: int


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """Of facts that come in, by uid: the open ones of the same subject and predicate, and the source hash of those that
    are stored already.
    """

    open: Mapping[str, Sequence[OpenFact]]
    hashes: Mapping[str, str | None]


async def open_facts(executor: Executor, namespace: str, facts: Sequence[Fact]) -> OpenFacts:
    """Return what is stored of what `facts` tell about."""
    rows = [
        {"uid": fact.uid, "subject": fact.subject, "predicate": fact.predicate, "person_id": fact.person_id}
        for fact in facts
    ]
    found = await executor.fetch_all("open_facts", {"namespace": namespace, "rows": rows, "forever": FOREVER})
    return OpenFacts(
        {row["uid"]: [OpenFact(uid, text, native(since)) for uid, text, since in row["open"]] for row in found},
        {row["uid"]: row["source_hash"] for row in found if row["source_hash"] is not None},
    )


async def habits_of(executor: Executor, namespace: str, predicates: Sequence[str]) -> dict[str, Habit]:
    """Return how many values predicates have, by predicate, as a sample of 2,000 facts of each tells."""
    params = {"namespace": namespace, "predicates": list(predicates), "forever": FOREVER, "limit": _SAMPLE}
    rows = await executor.fetch_all("predicate_habits", params)
    return {row["predicate"]: Habit(row["subjects"], row["several"]) for row in rows}
