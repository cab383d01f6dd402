"""English phrases that mean one word: "called the trip off" is "cancel". Pure functions.

`phrases.txt` holds them, and irregular forms of words.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from retrieval.sentences import stem

_ANYTHING = ".."
_LONGEST_GAP = 3
# Maximum words from the first to the last of a phrase.
_REACH = 10
_SHORT_FORMS = {"m": "be", "re": "be", "ll": "will", "ve": "have"}
_SHORT_NEGATIONS = {"ca": "can", "wo": "will", "sha": "shall"}
_VERBS = """
be: is are was were am been being
do: does did done doing
have: has had having
go: went gone goes going
take: took taken
give: gave given
come: came
get: got gotten
make: made
say: said
see: saw seen
tell: told
my: your his her our their its
"""
_FORMS = {form: line.partition(":")[0] for line in _VERBS.split("\n") for form in line.partition(":")[2].split()}


def phrases_in(runs: Sequence[str]) -> Mapping[int, str | None]:
    """Return the meanings of phrases among the words `runs`: the index of a phrase's first word maps to the equivalent
    word, those of its other words to None.
    """
    table = _phrases()
    said: dict[int, str | None] = {}
    parts = [_forms(run) for run in runs]
    for start, own in enumerate(parts):
        entries = table.get(own[0], ())
        if start in said or not entries:
            continue
        forms = [(form, number) for number, near in enumerate(parts[start : start + _REACH], start) for form in near]
        # Hardly any phrase occurs: its words are searched as a set before they are searched in order.
        there = {_ANYTHING, *(form for form, _ in forms)}
        for phrase, word in entries:
            found = _matched(phrase, forms) if there.issuperset(phrase) else set()
            if found and said.keys().isdisjoint(found):
                said |= dict.fromkeys(found)
                said[start] = word
                break
    return said


def plain_form(word: str) -> str:
    """Return the base of an irregular form: "bought" is "buy"; other words are returned unchanged."""
    return _irregular().get(word, word)


def _matched(phrase: Sequence[str], forms: Sequence[tuple[str, int]]) -> set[int]:
    """Return the indexes of the words that make up the phrase, which begins with the first of `forms`; none if they
    do not.
    """
    found: set[int] = set()
    at = gap = 0
    for part in phrase:
        if part == _ANYTHING:
            gap = _LONGEST_GAP
            continue
        position = next(
            (position for position in range(at, min(at + gap + 1, len(forms))) if forms[position][0] == part), None
        )
        if position is None:
            return set()
        found.add(forms[position][1])
        at, gap = position + 1, 0
    return found


@lru_cache(maxsize=20_000)
def _forms(run: str) -> tuple[str, ...]:
    """Return a word in the form used by the phrases: "can't" is "can" and "not"."""
    lower = run.casefold().replace("’", "'")
    if lower == "cannot":
        return ("can", "not")
    if lower.endswith("n't"):
        base = lower.removesuffix("n't")
        return (_form(_SHORT_NEGATIONS.get(base, base)), "not")
    base, _, end = lower.partition("'")
    return (_form(base), _SHORT_FORMS[end]) if end in _SHORT_FORMS else (_form(base),)


def _form(word: str) -> str:
    return _FORMS.get(word) or stem(plain_form(word))


@cache
def _lines() -> Sequence[tuple[str, Sequence[str]]]:
    """Return the lines of the file: a word, and the phrases and forms that mean it."""
    lines = files("retrieval").joinpath("phrases.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.partition(":") for line in lines if line and line[0] != "#"]
    return [(word, [phrase.strip() for phrase in phrases.split(",")]) for word, _, phrases in pairs]


@cache
def _irregular() -> Mapping[str, str]:
    return {phrase: word for word, phrases in _lines() for phrase in phrases if " " not in phrase}


@cache
def _phrases() -> Mapping[str, Sequence[tuple[Sequence[str], str]]]:
    """Return the phrases by their first word, longest first, each with its equivalent word."""
    table: defaultdict[str, list[tuple[Sequence[str], str]]] = defaultdict(list)
    for word, phrases in _lines():
        for phrase in phrases:
            parts = [part if part == _ANYTHING else _form(part) for part in phrase.split()]
            if len(parts) > 1:
                table[parts[0]].append((parts, word))
    return {first: sorted(own, key=lambda entry: -len(entry[0])) for first, own in table.items()}
