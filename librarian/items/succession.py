"""Facts that replace older ones: of a predicate with a single value, the newer value of the same subject holds.

Whether a predicate has one value is declared, or told by the data (hardly any subject has two open values), or by its
words: "lives in" has one, "likes" has many. Where none of that says so, the pair is only proposed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from graph.executor import Executor
from graph.facts import Habit, OpenFact, habits_of, open_facts
from graph.item import Fact, NewItem
from graph.types import FOREVER, UNKNOWN_TIME
from librarian.base.audit import audit
from retrieval.text import has_cjk

Values = Literal["one", "many"]

LEARNT_SUBJECTS = 5
"""So many subjects with one open value each make a predicate one with a single value."""
_SEVERAL, _SEVERAL_SHARE = 2, 0.2
_LAST = datetime.max.replace(tzinfo=UTC)

_MANY = re.compile(
    r"(?:likes?|loves?|enjoys?|dislikes?|hates?|fears?|knows?|speaks?|visits?|owns?|mentions?|says?|buys?|wants?|plays?"
    r"|collects?|includes?|contains?|supports?|follows?|reads?|watches|teaches|attends?|joins?|offers?|sells?|needs?"
    r"|uses?|requires?|depends? on|works? (?:with|on)|met|made|said|told|bought|sold|went|gave|wrote|took|saw|did|found"
    r"|is (?:a |an |one of )?(?:friends?|member|part|fan|parent|mother|father|child|son|daughter|sister|brother"
    r"|allergic|related|interested|good|able|known|aware|certified)\b.*"
    r"|(?:has |have )?(?:an? )?(?:child|kid|pet|dog|cat|friend|brother|sister|sibling|son|daughter|skill|hobby|cousin"
    r"|allergy|colleague|member|bug|issue|feature|tag|alias|subscription|account|goal|interest)"
    r"|(?:好き|嫌い|趣味|友人|友達|家族|子供|子ども|兄弟|姉妹|ペット|メンバー|参加者|言語|資格|特技|アレルギー).*"
    r"|(?:worked|lived|studied|visited|moved|travell?ed|attended|played|talked|joined)(?: .*)?|(?!named)\w+ed)"
)
_ONE = re.compile(
    r"(?:is|are|has|have|costs?|lives?|resides?|stays?|weighs|measures|belongs to|reports to|banks with|drives|serves"
    r"|(?:works?|studies|goes to school) (?:at|for|as|in)|(?:current|default|primary|main|preferred|favou?rite)\b.*"
    r"|(?:home |work |e-?mail |phone )?(?:e-?mail|phone|number|address|city|town|country|status|state|role|title|job"
    r"|employer|manager|boss|owner|lead|version|price|cost|rate|salary|budget|deadline|age|weight|height|birthday|name"
    r"|capital|ceo|location|headquarters|spouse|wife|husband|partner|time ?zone|plan|port|size|limit|colou?r)"
    r"|.* (?:at|in|under|from|until|by|on|for|to|as))(?: .*)?"
)


def values_of(predicate: str) -> Values | None:
    """Return how many values the words of a predicate speak for, None where they do not say."""
    words = " ".join(re.sub(r"[_-]+", " ", predicate.casefold()).split())
    if _MANY.fullmatch(words):
        return "many"
    if _ONE.fullmatch(words):
        return "one"
    return "one" if has_cjk(words) else None


@dataclass(slots=True)
class Successions:
    """The items to store, and what of them replaces which older fact; `proposed` pairs are not sure and not made."""

    items: list[NewItem]
    made: list[tuple[str, str]] = field(default_factory=list)
    proposed: list[tuple[str, str]] = field(default_factory=list)


def remarks(made: Sequence[tuple[str, str]], proposed: Sequence[tuple[str, str]]) -> list[str]:
    """Return what to say of pairs of a newer and an older fact, for a report."""
    notes = []
    if made:
        notes.append(f"{len(made)} facts were superseded by newer values of the same: {_pairs(made)}")
    if proposed:
        how = "to accept: librarian edit NEW --set supersedes=OLD"
        notes.append(f"{len(proposed)} facts may be superseded ({how}): {_pairs(proposed)}")
    return notes


def audited(namespace: str, found: Successions) -> list[tuple[str, str]]:
    """Write the pairs that were made to the audit log, and return them."""
    for newer, older in found.made:
        audit("fact.supersede", namespace, uid=newer, superseded=older)
    return found.made


def _pairs(pairs: Sequence[tuple[str, str]], most: int = 20) -> str:
    more = f" and {len(pairs) - most} more" if len(pairs) > most else ""
    return ", ".join(f"{old} by {new}" for new, old in pairs[:most]) + more


@dataclass(frozen=True, slots=True)
class Declared:
    """Predicates whose number of values is declared, in lower case."""

    one: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()


NOTHING_DECLARED = Declared()


_Key = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True)
class _Value:
    """One open value of a subject: of a fact that comes in, or of one that is stored."""

    uid: str
    object: str
    since: datetime | None
    new: bool


async def with_successions(
    executor: Executor, namespace: str, items: Sequence[NewItem], declared: Declared
) -> Successions:
    """Return `items`, of which facts that replace older values of their subject say so."""
    facts = {new.item.uid: new.item for new in items if isinstance(new.item, Fact) and _may_replace(new.item)}
    if not facts:
        return Successions(list(items))
    stored = await open_facts(executor, namespace, list(facts.values()))
    fresh = [fact for uid, fact in facts.items() if stored.hashes.get(uid) != fact.source_hash]
    groups = _grouped(fresh, stored.open)
    if not groups:
        return Successions(list(items))
    habits = await habits_of(executor, namespace, sorted({predicate for _, predicate, _ in groups}))
    found = Successions([])
    older: defaultdict[str, list[str]] = defaultdict(list)
    ends: dict[str, datetime] = {}
    for key, values in groups.items():
        habit = habits.get(key[1], Habit(0, 0))
        _succeed(key, values, habit, declared, found, older, ends)
    found.items = [_replaced(new, older, ends) for new in items]
    return found


def _may_replace(fact: Fact) -> bool:
    return (
        bool(fact.subject and fact.predicate and fact.object) and fact.valid_to == FOREVER and not fact.supersedes_refs
    )


def _key(fact: Fact) -> _Key:
    return (fact.subject or "", fact.predicate or "", fact.person_id)


def _grouped(fresh: Iterable[Fact], stored: Mapping[str, Sequence[OpenFact]]) -> dict[_Key, list[_Value]]:
    """Return the open values of each subject that gets a new one, in the order of time; only where they differ."""
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
    key: _Key,
    values: Sequence[_Value],
    habit: Habit,
    declared: Declared,
    found: Successions,
    older: defaultdict[str, list[str]],
    ends: dict[str, datetime],
) -> None:
    """Let each value of a subject replace the one before, as far as that is sure."""
    if len({value.object for value in values if not value.new}) > 1:
        return  # it has several values, and nobody minds
    sure = _sure(key[1], [value.object for value in values], habit, declared)
    if sure is None:
        return
    holding: list[_Value] = []
    for value in values:
        different = [old for old in holding if old.object != value.object]
        together = any(_order(old)[0] == _order(value)[0] for old in different)
        for old in different:
            if not sure or together:
                found.proposed.append((value.uid, old.uid))
            elif value.new:
                older[value.uid].append(old.uid)
                found.made.append((value.uid, old.uid))
            elif old.new and value.since is not None:
                ends[old.uid] = value.since
                found.made.append((value.uid, old.uid))
        holding = [value] if different and not together else [*holding, value]


def _sure(predicate: str, objects: Sequence[str], habit: Habit, declared: Declared) -> bool | None:
    """Return whether the predicate surely has one value; None where it has many."""
    if predicate.casefold() in declared.one:
        return True
    told = values_of(predicate)
    several = habit.several >= _SEVERAL and habit.several >= _SEVERAL_SHARE * habit.subjects
    if predicate.casefold() in declared.many or several or told == "many":
        return None
    learnt = habit.subjects >= LEARNT_SUBJECTS and habit.several * 20 <= habit.subjects
    return told == "one" or learnt or _same_measure(objects)


def _same_measure(objects: Sequence[str]) -> bool:
    """Whether all objects are numbers of the same thing, such as "5 mg" and "10 mg"."""
    shapes = {re.sub(r"\d+(?:[.,:]\d+)*", "0", text) for text in objects}
    return len(shapes) == 1 and "0" in shapes.pop()


def _replaced(new: NewItem, older: Mapping[str, Sequence[str]], ends: Mapping[str, datetime]) -> NewItem:
    fact = new.item
    if not isinstance(fact, Fact) or (fact.uid not in older and fact.uid not in ends):
        return new
    refs = (*fact.supersedes_refs, *older.get(fact.uid, ()))
    return replace(new, item=replace(fact, supersedes_refs=refs, valid_to=ends.get(fact.uid, fact.valid_to)))
