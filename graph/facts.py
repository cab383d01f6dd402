"""Facts by subject and predicate: the open values of a subject, and how many values a predicate takes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from graph.edges import EDGE, SUPERSEDES
from graph.executor import Executor, Transaction
from graph.item import Fact
from graph.types import FOREVER, Change, native

_SAMPLE = 2_000


@dataclass(frozen=True, slots=True)
class OpenFact:
    """A fact that holds and that only the incoming one may supersede; `decided`: a human's decision on that, accepted
    or rejected.
    """

    uid: str
    object: str = field(repr=False)
    valid_from: datetime | None
    decided: str | None = None


@dataclass(frozen=True, slots=True)
class Habit:
    """Numbers of a predicate: subjects with a value, with several open ones, with one that replaced another; and those
    where a human said that a value does not replace another.
    """

    subjects: int
    several: int
    replaced: int = 0
    kept: int = 0


NO_HABIT = Habit(0, 0)


@dataclass(frozen=True, slots=True)
class OpenFacts:
    """For incoming facts, by uid: the open facts of the same subject and predicate, and the source hash of those
    already stored.
    """

    open: Mapping[str, Sequence[OpenFact]]
    hashes: Mapping[str, str | None]


async def open_facts(executor: Executor, namespace: str, facts: Sequence[Fact]) -> OpenFacts:
    """Return the stored facts about the same subjects and predicates as `facts`."""
    rows = [
        {"uid": fact.uid, "subject": fact.subject, "predicate": fact.predicate, "person_id": fact.person_id}
        for fact in facts
    ]
    found = await executor.fetch_all("open_facts", {"namespace": namespace, "rows": rows, "forever": FOREVER})
    return OpenFacts(
        {
            row["uid"]: [OpenFact(uid, text, native(since), decided) for uid, text, since, decided in row["open"]]
            for row in found
        },
        {row["uid"]: row["source_hash"] for row in found if row["source_hash"] is not None},
    )


@dataclass(frozen=True, slots=True)
class Succession:
    """A fact that may supersede an older one, for a human to decide."""

    newer: str
    older: str
    edge_id: str
    reason: str = field(repr=False)
    confidence: float


async def propose(transaction: Transaction, namespace: str, successions: Sequence[Succession]) -> None:
    """Store proposals between stored facts; existing ones, decided or not, stay unchanged."""
    if successions:
        rows = [asdict(succession) for succession in successions]
        new = await transaction.run("propose_successions", {"namespace": namespace, "rows": rows})
        changes = (Change("proposed", EDGE, row["edge_id"], SUPERSEDES, row["source"], row["target"]) for row in new)
        transaction.changed(namespace, changes)


async def habits_of(executor: Executor, namespace: str, predicates: Sequence[str]) -> dict[str, Habit]:
    """Return how many values each predicate takes, estimated from 2,000 of its facts."""
    params = {"namespace": namespace, "predicates": list(predicates), "forever": FOREVER, "limit": _SAMPLE}
    rows = await executor.fetch_all("predicate_habits", params)
    return {row["predicate"]: Habit(row["subjects"], row["several"], row["replaced"], row["kept"]) for row in rows}
