"""The files that a plain question is about: by parts near it, their definitions, and their names. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Generic, TypeVar

from retrieval.file_roles import INSTEAD, Role, asked_roles, role_of
from retrieval.files import same_word, scripts_apart, words_of
from retrieval.stopwords import ENGLISH
from retrieval.text import normalise

T = TypeVar("T")

_K = 10.0
"""Constant of reciprocal rank fusion: small, since the first of a list matters much more than the tenth."""

_CALLED_SO = 0.1
"""Bonus of a file whose whole name is in the question, if its words are rare: equal to the first place of one list."""

_COMMON = 0.3
"""Remaining share of that for a word in most of the files' paths."""

_COVERED = 0.1
"""Bonus of a file whose outline holds every word of the question."""

_LEAST_RARE = 0.5
"""Least weight of a word there, in nats: of two files, the one with a frequent word more still wins."""

_OTHER_WORD = 0.3
"""Share of a word's weight for another word of the same thing, as settings for config."""

_A_PART = 0.1
_MORE_PARTS = 4
"""Maximum further near parts of one file that count: each is evidence, but a long file has many."""

_ROLES: Mapping[Role, float] = {
    Role.SOURCE: 1.0,
    Role.DATA: 0.45,
    Role.EXAMPLE: 0.45,
    Role.TEST: 0.4,
    Role.DOCS: 0.5,
    Role.CHANGELOG: 0.3,
    Role.GENERATED: 0.4,
}
_NOT_ASKED = 0.6
# Names that reveal nothing of the file's content: the folder does.
_ANONYMOUS = frozenset({"init", "index", "main", "mod", "lib"})
_MAX_WORDS = 24
_COMPOUND = 0.6
_COMPOUND_LENGTH = 4


@dataclass(frozen=True, slots=True)
class FilePart(Generic[T]):
    """A part of a file, or None for a file listed for its definitions; its score rises with nearness."""

    path: str
    item: T | None
    score: float


def question_words(question: str) -> list[str]:
    """Return the topical words of a question, names also in parts, at most 24."""
    words = words_of(scripts_apart(normalise(question)).replace("/", " "))
    return [word for word in words if word not in ENGLISH][:_MAX_WORDS]


def ranked_files(
    question: str,
    parts: Sequence[FilePart[T]],
    about: Mapping[str, Collection[int]],
    called: Mapping[str, Collection[int]] | None = None,
) -> list[FilePart[T]]:
    """Return parts in the order of their files, the best of each file first, then the others.

    `parts` come nearest first; `about` are files by their definitions and documentation, best first; `called` are
    others whose paths have words of the question; both with the indexes of the question's words in their outlines. A
    file gets 1 / (10 + rank) for its place in each list, a tenth more for each further part of it (at most four), more
    for a name in the question and for words of the question in its outline (most by words that few files have), and
    less as a test, a document, a change log or a generated file, unless the question asks for such.
    """
    scores: dict[str, float] = {}
    by_file: dict[str, list[FilePart[T]]] = {}
    for part in parts:
        by_file.setdefault(part.path, []).append(part)
    for rank, (path, its_parts) in enumerate(by_file.items(), start=1):
        scores[path] = (1 + _A_PART * min(len(its_parts) - 1, _MORE_PARTS)) / (_K + rank)
    for rank, path in enumerate(about, start=1):
        scores[path] = scores.get(path, 0.0) + 1 / (_K + rank)
    everywhere = _everywhere(list(scores))
    told = {**(called or {}), **about}
    scores |= {path: 0.0 for path in told if path not in scores}
    words = question_words(question)
    telling = _Telling.of([word for word in words if not _among(word, everywhere)], list(scores))
    covered = _covered(words, told)
    asked = asked_roles(question)
    for path in scores:
        scores[path] += _CALLED_SO * _said(path, telling) + _COVERED * covered.get(path, 0.0)
        scores[path] *= _worth(path, asked)
    order = sorted(scores, key=lambda path: (-scores[path], path))
    best = [FilePart(path, by_file[path][0].item if path in by_file else None, scores[path]) for path in order]
    return [*best, *(FilePart(path, part.item, scores[path]) for path in order for part in by_file.get(path, [])[1:])]


def _everywhere(paths: Sequence[str]) -> set[str]:
    """Return words of folders that hold half of the files or more, such as the package's own name."""
    counts = Counter(word for path in paths for word in set(words_of(path.rpartition("/")[0])))
    return {word for word, count in counts.items() if 2 * count >= len(paths)}


def _covered(words: Sequence[str], told: Mapping[str, Collection[int]]) -> Mapping[str, float]:
    """Return the share (0..1) of the question's words in each file's outline, by their inverse document frequency."""
    counts = Counter(number for numbers in told.values() for number in numbers)
    rare = [max(math.log((len(told) + 1) / (counts[n] + 0.5)), _LEAST_RARE) for n in range(len(words))]
    return {path: sum(rare[number] for number in numbers) / sum(rare) for path, numbers in told.items() if numbers}


@dataclass(frozen=True, slots=True)
class _Telling:
    """The weight (0..1) of each of the question's words, in any form, and of other words for them, in their own."""

    words: Mapping[str, float]
    exact: Mapping[str, float]

    @classmethod
    def of(cls, words: Sequence[str], paths: Sequence[str]) -> "_Telling":
        """Weigh words by their inverse document frequency among the paths; neighbours may be written as one word."""
        held = [frozenset(words_of(path)) for path in paths]
        most = math.log(len(held) + 1) or 1.0
        rare = {
            word: math.log((len(held) + 1) / (sum(_among(word, own) for own in held) + 0.5)) / most for word in words
        }
        weights = {word: min(1.0, max(_COMMON, value)) for word, value in rare.items()}
        exact: dict[str, float] = {}
        for word, weight in weights.items():
            for other in _other_words().get(word, ()):
                exact[other] = max(exact.get(other, 0.0), _OTHER_WORD * weight)
        exact |= {"".join(pair): max(weights[word] for word in pair) for pair in pairwise(words)}
        return cls(weights, exact)

    def whole(self, name: str) -> float:
        """Return the weight of a name."""
        said = max((weight for word, weight in self.words.items() if same_word(name, word)), default=0.0)
        return max(said, self.exact.get(name, 0.0))

    def part(self, name: str) -> float:
        """Return the weight of a part of a name, which may be a compound."""
        said = max((_same(name, word) * weight for word, weight in self.words.items()), default=0.0)
        return max(said, self.exact.get(name, 0.0))


@cache
def _other_words() -> Mapping[str, frozenset[str]]:
    """Return the other words of each word's groups in code_words.txt."""
    others: defaultdict[str, set[str]] = defaultdict(set)
    for line in files("retrieval").joinpath("code_words.txt").read_text(encoding="utf-8").splitlines():
        group = set() if line.startswith("#") else set(line.split())
        for word in group:
            others[word] |= group - {word}
    return {word: frozenset(group) for word, group in others.items()}


def _among(word: str, others: Collection[str]) -> bool:
    return any(same_word(word, one) for one in others)


def _said(path: str, telling: _Telling) -> float:
    """Return how much of a file's name the question says: the weighted share of its words (0..1).

    Each word after the first counts a quarter.
    """
    *folders, name = path.split("/")
    own = [word for word in words_of(name.partition(".")[0] or name) if word.isalpha()]
    if len(folders) > 1 and all(word in _ANONYMOUS for word in own):
        own = [word for word in words_of(folders[-1]) if word.isalpha()]
    if not own:
        return 0.0
    whole, parts = own[0], [part for part in own if part != "".join(own[1:])] if len(own) > 1 else own
    if entire := telling.whole(whole):
        return entire
    said = [telling.part(part) for part in parts]
    return sum(said) / len(said) + 0.25 * max(0, sum(one > 0 for one in said) - 1) * max(said)


def _same(part: str, word: str) -> float:
    """Return how well a question's word matches a part of a name, which may be a compound: proxies and httpproxy."""
    if same_word(part, word):
        return 1.0
    bare = word.removesuffix("ies") + "y" if word.endswith("ies") else word.removesuffix("s")
    short, long = sorted((part, bare), key=len)
    return _COMPOUND if len(short) >= _COMPOUND_LENGTH and (long.startswith(short) or long.endswith(short)) else 0.0


def _worth(path: str, asked: frozenset[Role]) -> float:
    role = role_of(path)
    if role in asked:
        return 1.0
    return _ROLES[role] if INSTEAD.isdisjoint(asked) else _NOT_ASKED * _ROLES[role]
