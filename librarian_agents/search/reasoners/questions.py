"""A task as read by a reasoner: its subject, and the kind, words and queries of each target item. Pure functions."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from librarian_agents.search.ports import Scoring
from librarian_agents.search.reasoners.cues import cue
from librarian_agents.search.reasoners.kinds import Kind, kind_of, listed_kinds, without_asking, without_kinds
from librarian_agents.search.reasoners.passages import Terms
from librarian_agents.search.types import EvidenceTask

_STEM = 5
_WORD = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CLAUSES = re.compile(
    r"[?？!！。、;；:：]|,\s|\.\s|\band\b|\bbut\b|\bor\b|それから|それと|あと(?=[^のにで])|および|ならびに",
    re.IGNORECASE,
)
_PARTICLES = re.compile(r"(?<=[^\W\u3040-\u309f])(?:の|は|を|が|に|で|と|も|へ)$")
_DENIED = re.compile(r"\b(?:not|no|rather than)\s+(?:\w+\s+)?$|ではなく\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ItemSpec:
    """The specification of a target item: its kind, and its name without the word for the kind.

    It has the stems of that name (`apart`: those that no other item has), of the whole question's subject, of its first
    clause, and of the clause that asks for the item; `about` is the topic of that clause, `intent` the part of the
    intent that asks for the item, `intended` its stems, `whole` the item with its topic, and `topic` the stems of the
    question that do not ask for a kind of thing.
    """

    item: str
    kind: Kind | None
    words: str
    own: frozenset[str]
    apart: frozenset[str]
    subject: frozenset[str]
    first: frozenset[str]
    clause: frozenset[str]
    hints: frozenset[str]
    names: frozenset[str]
    asking: str
    about: str
    intent: str
    intended: frozenset[str]
    whole: str
    topic: frozenset[str]

    @property
    def wanted(self) -> frozenset[str]:
        """All stems that a text about the item may hold."""
        return self.own | self.subject | self.clause


@dataclass(frozen=True, slots=True)
class TaskReading:
    """A task read once: a specification per item, and whether it asks for outdated rules or for plans."""

    items: tuple[ItemSpec, ...]
    subject_text: str
    clauses: tuple[str, ...]
    wants_old: bool
    wants_plans: bool


def stems(text: str, terms: Terms) -> frozenset[str]:
    """Return the terms of `text`; long words by their prefixes, so that their forms are equal."""
    return frozenset(term[:_STEM] if term.isascii() and len(term) > _STEM else term for term in terms(text))


def read_task(task: EvidenceTask, terms: Terms) -> TaskReading:
    """Read the topic of the question, and each target item."""
    named = [kind_of(item) for item in task.target_items]
    kind_names = frozenset(kind.name for kind, _ in named if kind)
    subject_text = subject_of(task.user_query, kind_names) or task.user_query
    clauses = tuple(clause for clause in _clauses(task.user_query) if terms(clause))
    own = [_own(words, terms) for _, words in named]
    first_about = next((about for clause in clauses if terms(about := subject_of(clause, kind_names))), "")
    first = stems(first_about, terms)
    whole = stems(subject_text, terms)
    intents = tuple(_clauses(_spaced(task.intent or "")))
    specs = []
    for at, (item, (kind, words)) in enumerate(zip(task.target_items, named, strict=True)):
        others = frozenset().union(*own[:at], *own[at + 1 :]) - own[at] - first
        asks = _clause_for(own[at], kind, clauses, terms)
        clause = stems(subject_of(asks, kind_names), terms)
        about = subject_of(asks, kind_names) or subject_text
        intended = _intent_for(own[at], kind, intents, kind_names, terms)
        specs.append(
            ItemSpec(
                item=item,
                kind=kind,
                words=words,
                own=own[at],
                apart=own[at].difference(*own[:at], *own[at + 1 :]),
                subject=(whole - others) or whole,
                first=first,
                clause=clause or first,
                hints=stems(f"{task.intent or ''} {task.context or ''}", terms),
                names=_compounds(words if own[at] else subject_text),
                asking=subject_text,
                about=about,
                intent=intended,
                intended=stems(intended, terms) - others,
                whole=_joined(_joined(first_about, about), _spaced(item)),
                topic=stems(without_asking(subject_text, kind_names), terms),
            )
        )
    wants_old, wants_plans = _wants(task)
    return TaskReading(tuple(specs), subject_text, clauses, wants_old=wants_old, wants_plans=wants_plans)


def _wants(task: EvidenceTask) -> tuple[bool, bool]:
    """Return whether the task asks for outdated information, and whether it asks for plans."""
    said = f"{task.user_query} {' '.join(task.target_items)}"
    known = " ".join(filter(None, (said, task.intent, task.context)))
    return (
        any(not _DENIED.search(known[: found.start()]) for found in cue("asks_for_old").finditer(known)),
        any(not _DENIED.search(said[: found.start()]) for found in cue("asks_for_plans").finditer(said)),
    )


def subject_of(question: str, kind_names: Iterable[str]) -> str:
    """Return the subject of `question`: without question words and names of the requested kinds."""
    return " ".join(cue("asking").sub(" ", without_kinds(question, frozenset(kind_names))).split())


def queries_for(
    spec: ItemSpec, reading: TaskReading, task: EvidenceTask, scoring: Scoring, *, foreign: bool = False
) -> list[str]:
    """Return queries for one item, best first.

    They hold its subject and its own words with words for its kind, then other words for the kind, the words of the
    intent, the other language, then the subject and the item each alone. `foreign` puts the other language first.
    """
    terms = scoring.terms
    subject = _topical(reading.subject_text, terms)
    about = _topical(subject_of(_clause_for(spec.own, spec.kind, reading.clauses, terms), ()), terms)
    own = _topical(spec.words, terms)
    narrow = _joined(own, about if len(reading.clauses) > 1 else subject)
    japanese = is_japanese(task)
    asks = _asks(spec.kind, "ja" if japanese else "en")
    ask, another = (*asks, "", "")[:2]
    first_clause = _topical(subject_of(reading.clauses[0], ()), terms) if reading.clauses else subject
    whole = subject if len(subject.split()) <= _SHORT or japanese else narrow
    elsewhere = _in_the_other_language(spec, (narrow, own, subject), scoring, "en" if japanese else "ja")
    found = [
        *(elsewhere if foreign else ()),
        _joined(_joined(own, whole), ask),
        _joined(own, ask),
        _joined(narrow, another),
        _joined(own, _joined(_topical(spec.intent, terms), ask)) if spec.intent else "",
        narrow,
        *elsewhere[:1],
        _joined(first_clause, ask),
        subject,
        _joined(own, another),
        *elsewhere[1:],
        _joined(subject, _topical(task.intent or "", terms)),
        _joined(subject, task.context or ""),
        task.user_query,
        *([ask] if asks and not own else []),
    ]
    return [query for query in found if query]


def is_japanese(task: EvidenceTask) -> bool:
    """Whether a task is in Japanese, at least in part."""
    return holds_japanese(task.user_query + "".join(task.target_items))


def holds_japanese(text: str) -> bool:
    """Whether a text contains Japanese letters."""
    return bool(_CJK.search(text))


def _in_the_other_language(spec: ItemSpec, texts: Sequence[str], scoring: Scoring, language: str) -> list[str]:
    """Return the texts in the other language with its words for the item's kind; names in Latin letters stay."""
    asks = _asks(spec.kind, language)
    return [_joined(scoring.translated(text) or _latin(text), asks[0] if asks else "") for text in texts if text]


_SHORT = 8
_COMPOUND = re.compile(r"[一-龥々ァ-ヶーA-Za-z0-9・=＝]+(?:の[一-龥々ァ-ヶー]+)?|[A-Za-z0-9][\w'-]*(?: [A-Z][\w'-]*)+")


def _compounds(text: str) -> frozenset[str]:
    """Return the names in `text`: compounds of Japanese letters, Latin words with a capital or a number."""
    plain_text = unicodedata.normalize("NFKC", text)
    found = {
        name.casefold()
        for name in _COMPOUND.findall(plain_text)
        if len(name) > 1 and (not name.isascii() or len(name) > 3 or any(c.isdigit() or c.isupper() for c in name))
    }
    return frozenset(found)


def _asks(kind: Kind | None, language: str) -> Sequence[str]:
    return kind.ask[language] if kind else ()


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _latin(text: str) -> str:
    """Return the language-independent words of `text`: names and symbols in Latin letters, numbers."""
    return " ".join(word for word in _WORD.findall(text) if word.isascii())


def _joined(first: str, second: str) -> str:
    known = set(first.casefold().split())
    return " ".join([first, *(word for word in second.split() if word.casefold() not in known)]).strip()


def _topical(text: str, terms: Terms) -> str:
    """Return the topical words of `text` verbatim, plus the singular of plurals."""
    words: dict[str, None] = {}
    for word in _WORD.findall(text.replace("_", " ")):
        if found := terms(word):
            words[_PARTICLES.sub("", word)] = None
            if word.isascii() and len(found) == 1 and found[0] != word.casefold():
                words[found[0]] = None
    return " ".join(words)


def _own(words: str, terms: Terms) -> frozenset[str]:
    """Return the stems of an item's own words; without question words if it is a question."""
    return stems(subject_of(words, ()), terms) or stems(words, terms)


def _clauses(question: str) -> Iterator[str]:
    """Yield the parts of a question that may ask for different things: 決定係数の定義と計算式 has two."""
    listed = listed_kinds().sub("、", question)
    return (clause.strip() for clause in _CLAUSES.split(listed) if clause and clause.strip())


def _clause_for(own: frozenset[str], kind: Kind | None, clauses: Sequence[str], terms: Terms) -> str:
    """Return the clause of the question that asks for an item: by its words, else by its kind; the first of equals."""
    return max(clauses, key=_fits(own, kind, terms), default="")


def _intent_for(
    own: frozenset[str], kind: Kind | None, intents: Sequence[str], kind_names: Iterable[str], terms: Terms
) -> str:
    """Return the topic of the intent's part that asks for the item, else its first part; empty if none asks for it."""
    fit = _fits(own, kind, terms)
    asks = max(intents, key=fit, default="")
    if not fit(asks):
        return ""
    return next((about for part in (asks, intents[0]) if terms(about := subject_of(part, kind_names))), "")


def _fits(own: frozenset[str], kind: Kind | None, terms: Terms) -> Callable[[str], float]:
    """Return a function that scores how surely a clause asks for an item."""

    def fit(clause: str) -> float:
        shared = len(own & stems(clause, terms)) / len(own) if own else 0.0
        named = kind is not None and any(word in clause.casefold() for word in kind.named if len(word) > 1)
        asked = kind is not None and kind.asked.search(clause) is not None
        return 2 * shared + 0.6 * named + 0.5 * asked

    return fit
