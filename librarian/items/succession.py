"""Facts that replace older ones: for a single-valued predicate, the newest value of a subject is the valid one.

Whether a predicate is single-valued is declared, or follows from its words ("lives in" has one value, "likes" many), or
from earlier facts and decisions. Otherwise the pair is only proposed, as a review.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from graph.edges import SUPERSEDES
from graph.executor import Executor
from graph.facts import NO_HABIT, Habit, OpenFact, Succession, habits_of, open_facts
from graph.item import Fact, NewItem
from graph.types import FOREVER, UNKNOWN_TIME
from librarian.base.audit import audit
from librarian.items.predicates import same_measure, values_of
from librarian.items.rows import edge_id_of

LEARNT_SUBJECTS = 3
"""Number of subjects with a replaced value, and hardly any with several, that makes a predicate single-valued."""
_SEVERAL, _SEVERAL_SHARE = 2, 0.2
_PAIR = 2
_UNSURE = 0.5
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Successions:
    """The items to store, and the pairs of a newer and an older fact: `made` ones, and uncertain, `proposed` ones."""

    items: list[NewItem]
    made: list[tuple[str, str]] = field(default_factory=list)
    proposed: list[tuple[str, str]] = field(default_factory=list)


def remarks(made: Sequence[tuple[str, str]], proposed: Sequence[tuple[str, str]]) -> list[str]:
    """Return the notes of a report on pairs of a newer and an older fact."""
    notes = []
    if made:
        notes.append(f"{len(made)} facts were superseded by newer values of the same: {_pairs(made)}")
    if proposed:
        how = "decide with: librarian review --sort supersede"
        notes.append(f"{len(proposed)} facts may be superseded ({how}): {_pairs(proposed)}")
    return notes


def audited(namespace: str, found: Successions) -> list[tuple[str, str]]:
    """Write the pairs to the audit log, and return them."""
    for newer, older in found.made:
        audit("fact.supersede", namespace, uid=newer, superseded=older)
    return found.made


def proposals(namespace: str, found: Successions) -> list[Succession]:
    """Return the proposals to store for review."""
    predicates = {new.item.uid: new.item.predicate for new in found.items if isinstance(new.item, Fact)}
    return [
        Succession(
            newer,
            older,
            edge_id_of(namespace, newer, SUPERSEDES, older),
            f'"{predicates.get(newer) or predicates.get(older)}" may have one value at a time',
            _UNSURE,
        )
        for newer, older in found.proposed
    ]


def _pairs(pairs: Sequence[tuple[str, str]], most: int = 20) -> str:
    more = f" and {len(pairs) - most} more" if len(pairs) > most else ""
    return ", ".join(f"{old} by {new}" for new, old in pairs[:most]) + more


@dataclass(frozen=True, slots=True)
class Declared:
    """Predicates declared as single- or multi-valued, in lower case."""

    single: frozenset[str] = frozenset()
    multi: frozenset[str] = frozenset()


NOTHING_DECLARED = Declared()


_Key = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class _Value:
    """One open value of a subject, from an incoming or a stored fact."""

    uid: str
    object: str
    since: datetime | None
    new: bool


@dataclass(slots=True)
class _Made:
    """Successions found, and the changes to write: older facts by newer one, and ends of validity."""

    found: Successions
    older: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    ends: dict[str, datetime] = field(default_factory=dict)

    def replace(self, value: _Value, old: _Value) -> None:
        """Let a value replace an older one, if either is incoming."""
        if value.new:
            self.older[value.uid].append(old.uid)
        elif old.new and value.since is not None:
            self.ends[old.uid] = value.since
        else:
            return
        self.found.made.append((value.uid, old.uid))


async def with_successions(
    executor: Executor, namespace: str, items: Sequence[NewItem], declared: Declared
) -> Successions:
    """Return `items`, with references from facts to the older values they replace."""
    facts = {new.item.uid: new.item for new in items if isinstance(new.item, Fact) and _may_replace(new.item)}
    if not facts:
        return Successions(list(items))
    stored = await open_facts(executor, namespace, list(facts.values()))
    fresh = [fact for uid, fact in facts.items() if stored.hashes.get(uid) != fact.source_hash]
    groups = _grouped(fresh, stored.open)
    if not groups:
        return Successions(list(items))
    habits = await habits_of(executor, namespace, sorted({predicate for _, predicate, _ in groups}))
    decided = {(uid, old.uid): old.decided for uid, olds in stored.open.items() for old in olds if old.decided}
    made = _Made(Successions([]))
    for (_, predicate, _), values in groups.items():
        if len({value.object for value in values if not value.new}) > 1:
            continue  # it already has several values, and nobody objected
        objects = sorted({value.object for value in values})
        sure = _sure(predicate, objects, habits.get(predicate, NO_HABIT), declared)
        if sure is False and len(objects) > _PAIR:
            sure = None  # many at once are more likely several values than changes of one
        _succeed(values, decided, made, sure=sure)
    made.found.items = [_replaced(new, made.older, made.ends) for new in items]
    return made.found


def _may_replace(fact: Fact) -> bool:
    return (
        bool(fact.subject and fact.predicate and fact.object) and fact.valid_to == FOREVER and not fact.supersedes_refs
    )


def _key(fact: Fact) -> _Key:
    return (fact.subject or "", fact.predicate or "", fact.person_id)


def _grouped(fresh: Iterable[Fact], stored: Mapping[str, Sequence[OpenFact]]) -> dict[_Key, list[_Value]]:
    """Return the differing open values of each subject with a new one, in order of time."""
    groups: defaultdict[_Key, dict[str, _Value]] = defaultdict(dict)
    for fact in fresh:
        values = groups[_key(fact)]
        for old in stored.get(fact.uid, ()):
            values.setdefault(old.uid, _Value(old.uid, _plain(old.object), old.valid_from, new=False))
        values[fact.uid] = _Value(fact.uid, _plain(fact.object or ""), fact.valid_from, new=True)
    ordered = {key: sorted(values.values(), key=_order) for key, values in groups.items()}
    return {key: values for key, values in ordered.items() if len({value.object for value in values}) > 1}


def _order(value: _Value) -> tuple[datetime, bool]:
    return (value.since or (_LAST if value.new else UNKNOWN_TIME), value.new)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _succeed(
    values: Sequence[_Value], decided: Mapping[tuple[str, str], str], made: _Made, *, sure: bool | None
) -> None:
    """Let each value of a subject replace the previous one if that is certain or was accepted before."""
    holding: list[_Value] = []
    for value in values:
        different = [old for old in holding if old.object != value.object]
        together = any(_order(old)[0] == _order(value)[0] for old in different)
        for old in different:
            verdict = decided.get((value.uid, old.uid))
            if verdict == "accepted" or (verdict is None and sure and not together):
                made.replace(value, old)
            elif verdict is None and sure is not None and (sure or not together):
                made.found.proposed.append((value.uid, old.uid))
        holding = [value] if different and not together else [*holding, value]


def _sure(predicate: str, objects: Sequence[str], habit: Habit, declared: Declared) -> bool | None:
    """Return whether the predicate certainly has one value; None if it has many."""
    if predicate.casefold() in declared.single:
        return True
    worded = values_of(predicate)
    several = habit.several >= _SEVERAL and habit.several >= _SEVERAL_SHARE * habit.subjects
    kept = habit.kept >= _SEVERAL and habit.kept > habit.replaced
    if predicate.casefold() in declared.multi or several or kept or worded == "many":
        return None
    learnt = habit.replaced >= LEARNT_SUBJECTS and habit.several * 20 <= habit.subjects and habit.kept == 0
    return worded == "one" or learnt or same_measure(objects)


def _replaced(new: NewItem, older: Mapping[str, Sequence[str]], ends: Mapping[str, datetime]) -> NewItem:
    fact = new.item
    if not isinstance(fact, Fact) or (fact.uid not in older and fact.uid not in ends):
        return new
    refs = (*fact.supersedes_refs, *older.get(fact.uid, ()))
    return replace(new, item=replace(fact, supersedes_refs=refs, valid_to=ends.get(fact.uid, fact.valid_to)))
