"""Ranking signals of a candidate besides its own two scores. Pure functions over the pool of one query.

Every signal is a number per candidate, scaled to 0..1 by `scaled` if it has no natural range. Weights are in
`weights.toml` with the measured gain of each.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from graph.types import Kind
from retrieval.sentences import Passage, coverage, terms

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_ASKS_WHEN = re.compile(
    r"\s*(?:when|since when|what (?:date|day|month|year|time)|how long|how many (?:days|weeks|months|years))\b",
    re.IGNORECASE,
)
_ASKS_WHEN_JA = re.compile(r"いつ|何時|何日|何月|何年|何曜日|どのくらいの期間")
_TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|since|week|weekend|month|year|recently|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\d\d)\b"
    r"|昨日|今日|明日|先週|来週|今週|先月|来月|今月|去年|昨年|来年|今年|\d{1,2}月|\d{1,2}日|\d{4}年",
    re.IGNORECASE | re.ASCII,
)
_READ_FOR_TIMES = 4_000
_YEAR = re.compile(r"\b(?:19|20)\d\d\b|(?:19|20)\d\d(?=年)")
_DAY = re.compile(r"\b([12]?\d|3[01])(?:st|nd|rd|th)?\b(?!\s*(?:%|percent))|([12]?\d|3[01])(?=日)")
_MONTH_JA = re.compile(r"(1[0-2]|[1-9])月")
_KEPT_SESSION_ROWS = 3
# Half a millisecond for turns, two for paragraphs; all candidates together rank no better.
_READ = 40
_NOTHING_SAID = Passage()
# In a small namespace all cosines are noise, and the smallest differences would pass for clear ones. Pools of LoCoMo
# turns span .3 and more.
_LEAST_COSINE_SPAN = 0.2


@dataclass(frozen=True, slots=True)
class Traits:
    """A candidate's inputs to the signals; None where its kind has no such field.

    `asks`: its text ends in a question mark; `tells_time`: it holds a time word; `cosine` (-1..1) is its similarity to
    the query, None without a vector; `linked` (0..1): quality of the hit that the graph joins it to; `when` it
    happened, `ends` when a fact ceases to hold, `falls` when its support ceases; of a fact, `attribute` is its subject
    and predicate, `sources` are the uids of its evidence.
    """

    cosine: float | None = None
    keyword: float = 0.0
    author: str | None = None
    conversation: str | None = None
    session: str | None = None
    position: int | None = None
    day: date | None = None
    asks: bool = False
    tells_time: bool = False
    linked: float = 0.0
    passage: Passage = _NOTHING_SAID
    kind: Kind = Kind.MESSAGE
    when: datetime | None = None
    ends: datetime | None = None
    falls: datetime | None = None
    attribute: tuple[str, str] | None = None
    sources: Sequence[str] = ()
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class QueryTraits:
    """A query's inputs to the signals: the author it names, whether it asks for a time, its dates, and its topical
    terms.
    """

    author: str | None = None
    when: bool = False
    dates: frozenset[str] = frozenset()
    terms: frozenset[str] = frozenset()


def query_traits(query: str, named: Sequence[str]) -> QueryTraits:
    """Return the traits of `query`; `named` are the authors it names. If it names two, neither is preferred."""
    return QueryTraits(
        author=named[0] if len(named) == 1 else None,
        when=bool(_ASKS_WHEN.match(query) or _ASKS_WHEN_JA.search(query)),
        dates=_dates(query),
        terms=terms(query),
    )


def tells_time(text: str) -> bool:
    """Return whether the beginning of `text` holds a time word."""
    return bool(_TELLS_TIME.search(text, 0, _READ_FOR_TIMES))


def scaled(values: Sequence[float], *, when_equal: float = 0.0, least_span: float = 0.0) -> list[float]:
    """Scale `values` to 0..1 by their smallest and largest; `when_equal` for all if they do not differ.

    A range narrower than `least_span` is not stretched: the largest stays below 1.
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    span = max(high - low, least_span)
    return [(value - low) / span for value in values] if high > low else [when_equal for _ in values]


def signals(pool: Mapping[str, Traits], query: QueryTraits) -> dict[str, list[float]]:
    """Return each signal's value for each candidate of `pool`, in its order.

    vector, keyword: its own scores; window: the mean cosine of the turn and its neighbours; previous_keyword: the score
    of the previous turn; session_keyword, session_vector: the best of its session (these three are the candidate's own
    scores if it belongs to no conversation); author: the person the query names wrote it; question: it asks;
    time_words: the query asks when and it tells a time; date: its date is among the query's; graph: an edge or evidence
    link leads to it from one of the best; sentence: how much of the query its best sentence contains, for the best by
    vector and keyword.
    """
    candidates = list(pool.values())
    lowest = min((candidate.cosine for candidate in candidates if candidate.cosine is not None), default=0.0)
    cosine = [lowest if candidate.cosine is None else candidate.cosine for candidate in candidates]
    vector, keyword = _scaled_cosines(cosine), [candidate.keyword for candidate in candidates]
    beside, sessions = _beside(candidates), [_session_key(candidate) for candidate in candidates]
    previous = [0.0 if before is None else keyword[before] for before, _ in beside]
    return {
        "vector": vector,
        "keyword": keyword,
        "window": _scaled_cosines(_windows(beside, cosine)),
        "previous_keyword": _or_own(previous, keyword, sessions),
        "session_keyword": _or_own(_session_sums(sessions, keyword), keyword, sessions),
        "session_vector": _or_own(_scaled_cosines(_session_best(sessions, cosine)), vector, sessions),
        "author": [float(query.author is not None and candidate.author == query.author) for candidate in candidates],
        "question": [float(candidate.asks) for candidate in candidates],
        "time_words": [float(query.when and candidate.tells_time) for candidate in candidates],
        "date": [_date_overlap(query.dates, candidate.day) for candidate in candidates],
        "graph": [candidate.linked for candidate in candidates],
        "sentence": _sentences(candidates, query, [sum(pair) for pair in zip(vector, keyword, strict=True)]),
    }


def _scaled_cosines(values: Sequence[float]) -> list[float]:
    return scaled(values, least_span=_LEAST_COSINE_SPAN)


def _sentences(candidates: Sequence[Traits], query: QueryTraits, first: Sequence[float]) -> list[float]:
    """Read the candidates that `first` ranks first; the others rank behind them anyway."""
    read = sorted(range(len(candidates)), key=lambda index: -first[index])[:_READ]
    found = coverage(query.terms, [candidates[index].passage for index in read])
    values = dict(zip(read, found, strict=True))
    return [values.get(index, 0.0) for index in range(len(candidates))]


_Session = tuple[str | None, str] | None


def _or_own(values: Sequence[float], own: Sequence[float], sessions: Sequence[_Session]) -> list[float]:
    """Return `values`, but the own score of candidates outside conversations: a fact or memory stands for itself, and
    must not lose for lack of neighbours.
    """
    return [mine if key is None else value for value, mine, key in zip(values, own, sessions, strict=True)]


def _beside(candidates: Sequence[Traits]) -> list[tuple[int | None, int | None]]:
    """Return the indexes in the pool of the turns before and after each turn of a conversation; None for those outside
    it.
    """
    spots = [None if turn.position is None else (turn.conversation, turn.session, turn.position) for turn in candidates]
    indexes = {spot: index for index, spot in enumerate(spots) if spot is not None}
    return [
        (None, None)
        if spot is None
        else (indexes.get((spot[0], spot[1], spot[2] - 1)), indexes.get((spot[0], spot[1], spot[2] + 1)))
        for spot in spots
    ]


def _windows(beside: Sequence[tuple[int | None, int | None]], cosine: Sequence[float]) -> list[float]:
    """Return the mean cosine of each turn and its neighbours; one outside the pool counts nine tenths of the turn's
    own.
    """
    return [
        (own + ((own * 0.9 if before is None else cosine[before]) + (own * 0.9 if after is None else cosine[after])))
        / 3
        for own, (before, after) in zip(cosine, beside, strict=True)
    ]


def _session_key(candidate: Traits) -> _Session:
    if candidate.session is None and candidate.conversation is None:
        return None
    return (candidate.conversation, candidate.session or "")


def _session_sums(sessions: Sequence[_Session], keyword: Sequence[float]) -> list[float]:
    """Return the sum of the best keyword scores in the candidate's session, relative to the largest: a session about
    the topic mentions it often.
    """
    scores: defaultdict[_Session, list[float]] = defaultdict(list)
    for key, score in zip(sessions, keyword, strict=True):
        scores[key].append(score)
    sums: dict[_Session, float] = {
        key: sum(sorted(own)[-_KEPT_SESSION_ROWS:]) for key, own in scores.items() if key is not None
    }
    most = max(sums.values(), default=0.0) or 1.0
    return [sums.get(key, 0.0) / most for key in sessions]


def _session_best(sessions: Sequence[_Session], cosine: Sequence[float]) -> list[float]:
    best: dict[_Session, float] = {}
    for key, value in zip(sessions, cosine, strict=True):
        best[key] = max(value, best.get(key, value))
    lowest = min(cosine, default=0.0)
    return [lowest if key is None else best[key] for key in sessions]


def _dates(query: str) -> frozenset[str]:
    """Return the years, months and, next to one of these, days that the query names."""
    lower = query.casefold()
    words = set(re.findall(r"[a-z]+", lower))
    months = {month for month in _MONTHS if month in words and (month != "may" or re.search(r"\bMay\b", query))}
    months |= {_MONTHS[int(number) - 1] for number in _MONTH_JA.findall(query)}
    found = months | set(_YEAR.findall(query))
    if months:
        found |= {day.lstrip("0") for pair in _DAY.findall(lower) for day in pair if day}
    return frozenset(found)


def _date_overlap(dates: Iterable[str], when: date | None) -> float:
    """Return the share (0..1) of the query's date words that describe `when`."""
    wanted = set(dates)
    if not wanted or when is None:
        return 0.0
    return len(wanted & {str(when.year), _MONTHS[when.month - 1], str(when.day)}) / len(wanted)
