"""Finding files by their usual names: keys of a path, keys of a query, and the ranking of matches. Pure.

A query may be a path or the end of one, a file name, a stem, the words of a stem ("agent panel" for AgentPanel.tsx),
folder words around them, a prefix of any, a name that the file defines, or any of these with one typo; or what a
well-known file is for ("release notes" for CHANGELOG). Words that only phrase the request ("open the … module") are
ignored.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from importlib.resources import files as resources
from itertools import pairwise
from typing import Any

from graph.tokens import token
from retrieval.file_roles import ASKING_WORDS, Role, asked_roles, preference, role_of
from retrieval.stopwords import ENGLISH
from retrieval.text import clean, has_cjk, split_identifier

MAX_QUERY_CHARS = 1_000
MAX_WORDS = 12
_TYPO_LENGTH = 4
_PREFIX_LENGTH = 2
_INSIDE_LENGTH = 4
_WORD = re.compile(r"[^\W_]+")
# Suffixes that tools print after a path: `app.py:12`, `app.py:12:5`, `app.py#L12-L20`.
_PLACE = re.compile(r"(?:(?::\d+){1,2}:?|#L\d+(?:-L?\d+)?)$")
_QUOTES = "'\"`"
_POSSESSIVE = re.compile(r"['’]s\b")
_BETWEEN_SCRIPTS = re.compile(
    r"(?<=[\x21-\x7e])(?=[\u3040-\u30ff\u3400-\u9fff])|(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[\x21-\x7e])"
)
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
_CODE_LIKE = re.compile(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]|^[A-Z][a-z]")
# Endings that distinguish forms of one word: trace, traced, tracing, traces.
_ENDS = "e r rs s es d ed er ers or ors ing ings ion ions ation ations al ment ments y ies ive able"
_INFLECTIONS = frozenset(_ENDS.split()) | {""}
_COMMON_STEM = 4
_LEAST_BEGINNING = 4
_ENDING_LETTERS = 3

_REQUEST_WORDS = """
open show find locate see look view display go jump get give bring read need want please take called named contains
containing holds holding implements implementing implementation implemented lives live located defined defines
definition declared file files module modules source code thing class classes function functions method methods
type types interface struct enum exception part notes package script scripts page handling handled stuff
"""
_REQUESTS = frozenset(_REQUEST_WORDS.split())
"""Words that phrase a request rather than a name. They favour a path that has them, but none needs to."""

_PROJECT = frozenset(["project", "projects", "repo", "repository", "file", "files", "show", "open", "find", "see"])
"""Words that say nothing of what a well-known file of a project is for."""

_KIND_WORDS = "class classes function functions method methods type interface struct enum exception"
_KINDS = frozenset(_KIND_WORDS.split())
_ENDINGS_OF = {
    "python": "py", "py": "py", "typescript": "ts", "ts": "ts", "tsx": "tsx", "javascript": "js", "js": "js",
    "jsx": "jsx", "rust": "rs", "rs": "rs", "golang": "go", "markdown": "md", "md": "md", "rst": "rst", "cpp": "cpp",
}  # fmt: skip
"""Words for file name endings."""


_FIRST = frozenset({Role.TEST, Role.DOCS})
"""Roles whose files precede others with the same name when a query asks for them."""


class Tier(IntEnum):
    """How a path matches a query, best first."""

    PATH = 0
    SUFFIX = 1
    NAME = 2
    STEM = 3
    STEM_IN_FOLDERS = 4
    DEFINES = 5
    PREFIX = 6
    WORDS = 7
    TYPO = 8
    SOME_WORDS = 9


@dataclass(frozen=True, slots=True)
class PathKeys:
    """The keys of a path: its file name, its stem in letters and digits, all of it, and its words."""

    name_key: str
    stem_key: str
    path_key: str
    search_text: str


@dataclass(frozen=True, slots=True)
class StemKey:
    """A stem to search, in folders that hold these words, with this end of the file name ("" for any).

    `varied` if the query has the word in the other number, `usual` if it says what such a file is for.
    """

    stem: str
    folders: tuple[str, ...] = ()
    ending: str = ""
    varied: bool = False
    usual: bool = False


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A query for a file.

    `suffix` is the end of its path if a folder is named, `absolute` a whole path of the machine; "" if there is none.
    `words` must be in the path, or in the file's definitions; `hints` favour it. `names` are those that it may define.
    """

    text: str
    name: str
    suffix: str
    absolute: str
    stems: tuple[StemKey, ...]
    words: tuple[str, ...]
    hints: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    roles: frozenset[Role] = frozenset()

    @property
    def compact(self) -> str:
        """The words joined."""
        return "".join(self.words)

    @property
    def is_exact(self) -> bool:
        """Whether it is a whole file name or the end of a path: similar files are then not wanted."""
        return " " not in self.text and bool(self.suffix or _split_name(self.name)[1])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible path; `defines` are the query's names it defines, `told` the query's words in its outline."""

    path: str
    defines: bool = False
    told: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A path, how it matches the query, and an explanation."""

    path: str
    tier: Tier
    why: str


@lru_cache(maxsize=5_000)  # one look-up after another meets the same files
def path_keys(path: str) -> PathKeys:
    """Return the keys of a path relative to its root, with `/` between folders."""
    key = fold(path)
    name = key.rpartition("/")[2]
    original = path.rpartition("/")[2]
    stem, _ = _split_name(original)
    return PathKeys(name, compact(stem), f"/{key}", " ".join(words_of(path)))


def file_query(text: str) -> FileQuery:
    """Return the keys of a query; without a single letter or digit it has no words, and finds at most an exact name."""
    wanted = _PLACE.sub("", clean(text).strip().strip(_QUOTES)).replace("\\", "/")
    wanted = re.sub(r"/{2,}", "/", wanted.removeprefix("./")).rstrip("/?？")[:MAX_QUERY_CHARS]
    key = fold(wanted)
    name = key.rpartition("/")[2]
    absolute = key if key.startswith("/") else ""
    suffix = "" if "/" not in key else f"/{key.lstrip('/')}"
    spoken = [part for part in _spoken(wanted) if compact(part)]
    roles = asked_roles(wanted)
    asked, hints = (spoken, ()) if suffix and " " not in wanted else _told_apart(spoken, roles)
    words = _parts(asked)
    stems = dict.fromkeys(
        [*_stems(wanted, spoken, _parts(spoken)), *_stems(wanted, asked, words), *_usual_stems(wanted, spoken)]
    )
    return FileQuery(wanted, name, suffix, absolute, tuple(stems), words, hints, _names(asked, hints), roles)


def lucene_words(query: FileQuery, namespace: str) -> str | None:
    """Return Lucene terms for the words of a query, also as prefixes and with one typo; None without words.

    Paths with every word precede those with some. Only letters and digits of the query are kept, so it cannot contain
    an operator.
    """
    if not query.words:
        return None
    alternatives = [f"({_alternatives(word)})" for word in query.words]
    every = " ".join(f"+{one}" for one in alternatives)
    some = f" {' '.join(alternatives)}" if len(alternatives) > 1 else ""
    together = f" ({_alternatives(query.compact)})^4" if len(query.compact) >= _TYPO_LENGTH else ""
    return f"+tokens:{token('namespace', namespace)}^0 +(({every})^4{some}{together})"


def some_words(field: str, words: Sequence[str], namespace: str) -> str | None:
    """Return Lucene terms for a `field` that holds some of `words`; None without a word of letters and digits."""
    terms = [f"{field}:{word}" for word in words if word.isalnum()]
    return f"+tokens:{token('namespace', namespace)}^0 +({' '.join(terms)})" if terms else None


def ranked(query: FileQuery, candidates: Sequence[Candidate]) -> list[FoundFile]:
    """Return the matching files, best first.

    By tier, then sources before tests and the like, then the share of the path that the query says. Similar names are
    only returned if there is no match by name.
    """
    merged: dict[str, Candidate] = {}
    for one in candidates:
        known = merged.get(one.path)
        merged[one.path] = (
            one if known is None else Candidate(one.path, known.defines or one.defines, known.told | one.told)
        )
    found = [(key, file) for one in merged.values() if (found := _judged(query, one)) for key, file in [found]]
    found.sort(key=lambda pair: pair[0])
    files = [file for _, file in found]
    if not files:
        return []
    # Of a request for tests, a source of that name says nothing about how well the tests match.
    of_role = [file for file in files if role_of(file.path) in query.roles & _FIRST] or files
    best = min(file.tier for file in of_role)
    if query.is_exact and best <= Tier.NAME:
        return [file for file in files if file.tier <= Tier.NAME]
    if best <= Tier.PREFIX:
        return [file for file in files if file.tier <= Tier.WORDS]
    return [file for file in files if file.tier != Tier.TYPO] if best == Tier.WORDS else files


def fold(text: str) -> str:
    """Return a path or name in comparable form: NFKC, without case."""
    return unicodedata.normalize("NFKC", clean(text)).casefold()


def compact(text: str) -> str:
    """Return letters and digits of a name, without case: AgentPanel, agent-panel and "agent panel" are equal."""
    return "".join(_WORD.findall(fold(text)))


def within_one_edit(left: str, right: str) -> bool:
    """Whether the strings differ by at most one letter added, removed or changed, or two neighbours swapped."""
    if abs(len(left) - len(right)) > 1:
        return False
    start, shorter = 0, min(len(left), len(right))
    while start < shorter and left[start] == right[start]:
        start += 1
    a, b = left[start:], right[start:]
    exchanged = a[:2] == b[1::-1] and a[2:] == b[2:] and len(a) >= 2
    return a == b or a[1:] == b[1:] or a[1:] == b or a == b[1:] or exchanged


def same_word(left: str, right: str) -> bool:
    """Whether two words are forms of one: sessions and session, traced and trace."""
    if left == right:
        return True
    common, shorter = 0, min(len(left), len(right))
    while common < shorter and left[common] == right[common]:
        common += 1
    if common < _COMMON_STEM - (left[common:] in ("", "s") and right[common:] in ("", "s")):
        return False
    return left[common:] in _INFLECTIONS and right[common:] in _INFLECTIONS


def parameters(query: FileQuery) -> Mapping[str, Any]:
    """Return the query as parameters of the look-up by names."""
    rows = [{"stem": one.stem, "folders": list(one.folders), "ending": one.ending} for one in query.stems]
    prefix = "" if query.is_exact or len(query.compact) < _PREFIX_LENGTH else _singular(query.compact)
    return {
        "name": query.name,
        "suffix": query.suffix,
        "absolute": query.absolute,
        "stems": rows,
        "prefix": prefix,
        "names": list(query.names),
    }


def scripts_apart(text: str) -> str:
    """Return a text with a blank between Latin and Japanese words."""
    return _BETWEEN_SCRIPTS.sub(" ", text)


def beginning(word: str) -> str:
    """Return the letters that most forms of a word begin with: retr of retries."""
    return word[: max(_LEAST_BEGINNING, len(word) - _ENDING_LETTERS)]


def words_of(text: str) -> list[str]:
    """Return the words of a path or a text, each once: parts of its names, and each name joined."""
    words: dict[str, None] = {}
    for name in _nfkc(text).split("/"):
        for found in _WORD.findall(name):
            words.update(dict.fromkeys([_lower(found), *_camel(found)]))
        stem, _ = _split_name(name)
        if " " not in stem:
            words[compact(stem)] = None
    return [word for word in words if word]


def _spoken(text: str) -> list[str]:
    """Return the query's words as written, Latin ones separated from Japanese."""
    if "/" in text and " " not in text:
        return text.split("/")
    return scripts_apart(_POSSESSIVE.sub("", _nfkc(text))).split()


def _told_apart(spoken: Sequence[str], roles: Collection[Role]) -> tuple[list[str], tuple[str, ...]]:
    """Return the words that name something, and those that only hint at it; all are names if no other is left."""
    latin = any(part.isascii() for part in spoken)
    for_role = ASKING_WORDS if not _FIRST.isdisjoint(roles) else frozenset()
    hints = [
        part
        for index, part in enumerate(spoken)
        if _is_hint(spoken, index) or compact(part) in for_role or (latin and has_cjk(part))
    ]
    named = [part for part in spoken if part not in hints]
    if not named:
        return [part for part in spoken if compact(part) not in ENGLISH] or list(spoken), ()
    plain = dict.fromkeys(_ENDINGS_OF.get(compact(part), compact(part)) for part in hints if part.isascii())
    return named, tuple(word for word in plain if word not in ENGLISH)


def _is_hint(spoken: Sequence[str], index: int) -> bool:
    word = compact(spoken[index])
    if word in ENGLISH or word in _REQUESTS or word in _ENDINGS_OF:
        return True
    behind = compact(spoken[index + 1]) if index + 1 < len(spoken) else ""
    return spoken[index].startswith(".") or (
        behind in ("file", "files") and word in ("json", "yaml", "toml", "css", "html", "sql")
    )


def _names(asked: Sequence[str], hints: Sequence[str]) -> tuple[str, ...]:
    """Return names, without case, that the file may define: those written like code, or all if the query says so."""
    names = [_nfkc(part).strip("`,;:?!()").removesuffix("()") for part in asked]
    if not _KINDS.isdisjoint(hints):
        names.append("".join(names))
    else:
        names = [name for name in names if _CODE_LIKE.search(name) and name.isidentifier()]
    return tuple(dict.fromkeys(form for name in names for form in (name.casefold(), _singular(name.casefold()))))


def _stems(text: str, spoken: Sequence[str], words: Sequence[str]) -> tuple[StemKey, ...]:
    """Return every reading of the query as folder words around a stem, with or without the file name's ending."""
    folder, _, name = text.rpartition("/")
    if folder and " " not in text:
        stem, ending = _split_name(name)
        parts = tuple(f"/{part}" for part in fold(folder).split("/") if part)
        readings = [(name, ""), (stem, ending)] if ending else [(name, "")]
        return tuple(StemKey(compact(one), parts, end) for one, end in readings if compact(one))
    parts = tuple(fold(part) for part in spoken)[:MAX_WORDS]
    keys = [StemKey(compact("".join(parts[i:])), parts[:i]) for i in range(len(parts))]
    keys += [StemKey(compact("".join(parts[:i])), parts[i:]) for i in range(len(parts) - 1, 0, -1)]
    if len(words) > 1 and 1 <= len(words[-1]) <= 4:
        keys.append(StemKey("".join(words[:-1]), (), f".{words[-1]}"))
    # Singular or plural may be meant: folders are searched by the shorter form, stems by both.
    found = []
    for key in keys:
        folders = tuple(_singular(part) for part in key.folders)
        found.append(StemKey(key.stem, folders, key.ending))
        if not key.ending:
            found.append(StemKey(_other_number(key.stem), folders, varied=True))
    return tuple(key for key in dict.fromkeys(found) if key.stem)


def _usual_stems(text: str, spoken: Sequence[str]) -> Sequence[StemKey]:
    """Return the stems of the well-known files that the query says the purpose of."""
    named = compact("".join(part for part in spoken if compact(part) not in ENGLISH and compact(part) not in _PROJECT))
    return _usual_names().get(compact(text)) or _usual_names().get(named, ())


@cache
def _usual_names() -> Mapping[str, Sequence[StemKey]]:
    """Return the stems of usual_files.txt by the purpose of the files."""
    usual: dict[str, Sequence[StemKey]] = {}
    for line in resources("retrieval").joinpath("usual_files.txt").read_text(encoding="utf-8").splitlines():
        purposes, _, names = line.partition(" = ")
        keys = [] if line.startswith("#") else [_usual(name) for name in names.split()]
        usual |= {compact(purpose): keys for purpose in purposes.split(",") if keys}
    return usual


def _usual(name: str) -> StemKey:
    *folders, own = name.split("/")
    stem, ending = _split_name(own)
    return StemKey(compact(stem), tuple(folders), ending, usual=True)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _other_number(word: str) -> str:
    if not word:
        return ""
    shorter = _singular(word)
    return shorter if shorter != word else f"{word}s"


_Key = tuple[bool, int, int, int, float, int, int, str]


def _judged(query: FileQuery, candidate: Candidate) -> tuple[_Key, FoundFile] | None:
    """Return the rank of a candidate and its reason; None for one that does not match."""
    keys = path_keys(candidate.path)
    met = _Met.of(query, candidate)
    reading = _reading(query, keys)
    found = _tier(query, keys, candidate, met, reading)
    if found is None:
        return None
    tier, why = found
    first = query.roles & _FIRST
    other = tier > Tier.NAME and bool(first) and role_of(candidate.path) not in first
    role = preference(candidate.path, query.roles) if tier > Tier.NAME else 0
    score = met.score(query) + (0.1 if query.text in candidate.path else 0.0) + _VERSION * _says_version(query, keys)
    level = int(tier)
    if tier == Tier.STEM_IN_FOLDERS:
        level = Tier.STEM
    elif tier >= Tier.WORDS:
        score, role = score - _OTHER_ROLE * bool(role) - 0.05 * role, 0
        level = Tier.WORDS if tier == Tier.TYPO or (tier == Tier.SOME_WORDS and met.says_stem) else level
    way = reading if reading is not None and level == Tier.STEM else 0
    if tier == Tier.STEM and query.stems[way].usual:
        role = 0 if role_of(candidate.path) in query.roles else len(Role)
    key = (other, level, role, way, -score, candidate.path.count("/"), len(candidate.path))
    return (*key, candidate.path), FoundFile(candidate.path, tier, why)


def _reading(query: FileQuery, keys: PathKeys) -> int | None:
    """Return the index of the query's reading with this stem in folders of the other words; None if there is none."""
    own = _untested(keys.stem_key) if Role.TEST in query.roles else keys.stem_key
    for number, stem in enumerate(query.stems):
        is_called = stem.stem in (own, keys.stem_key) and keys.name_key.endswith(stem.ending)
        if is_called and all(folder in keys.path_key for folder in stem.folders):
            return number
    return None


@dataclass(frozen=True, slots=True)
class _Met:
    """How well (0..1) a path matches each word of a query, and the share of its stem's words in the query."""

    qualities: Mapping[str, float]
    hinted: int
    share_of_stem: float
    in_stem: int

    @classmethod
    def of(cls, query: FileQuery, candidate: Candidate) -> "_Met":
        have, own = _path_words(candidate.path)
        together = _together(query.words, own)
        paired = {word for pair in together.values() for word in pair}
        qualities, in_stem = {}, 0
        for word in query.words:
            near = _FORM if word in paired else max((_quality(word, one) for one in own), default=0.0)
            anywhere = max((_quality(word, one) for one in have), default=0.0)
            in_stem += near >= _FORM
            qualities[word] = max(near, _IN_FOLDER * anywhere, _TOLD if word in candidate.told else 0.0)
        parts = [word for word in own if word != "".join(own[1:])] or own
        spoken = [*query.words, *query.hints, *together]
        said = sum(any(_quality(word, one) >= _FORM for word in spoken) for one in parts)
        hinted = sum(any(same_word(hint, one) for one in have) for hint in query.hints)
        return cls(qualities, hinted, said / max(1, len(parts)), in_stem)

    @property
    def says_stem(self) -> bool:
        """Whether the query says the whole of the file's own name."""
        return self.share_of_stem >= 1.0

    @property
    def worst(self) -> float:
        return min(self.qualities.values(), default=0.0)

    def score(self, query: FileQuery) -> float:
        """Return the mean quality, plus bonuses for words in the file's own name, a complete name, and hints."""
        most = max(1, len(query.words))
        own = 0.3 * self.in_stem / most + 0.3 * self.share_of_stem
        return sum(self.qualities.values()) / most + own + 0.1 * self.hinted


@lru_cache(maxsize=5_000)
def _path_words(path: str) -> tuple[list[str], list[str]]:
    """Return the words of a path, and those of its stem."""
    return path_keys(path).search_text.split(), words_of(_split_name(path.rpartition("/")[2])[0])


def _together(words: Sequence[str], own: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return neighbouring words of a query that form one word of a name, by that word, as in feedgenerator."""
    pairs = {"".join(pair): pair for pair in pairwise(words)}
    return {whole: pair for whole, pair in pairs.items() if any(same_word(whole, one) for one in own)}


def _says_version(query: FileQuery, keys: PathKeys) -> bool:
    """Whether a version of the query is in a path as a whole: 6.1 in v6.1.0, not in v6.0.1 or v6.6.1."""
    versions = _DOTTED.findall(query.text)
    return any(re.search(rf"(?<![\d.]){re.escape(one)}(?!\d)", keys.path_key) for one in versions)


# Penalty of a test or a document relative to a source that matches as many words.
_OTHER_ROLE = 0.25
_FORM, _BEGINS, _INSIDE, _TOLD, _TYPO = 0.95, 0.8, 0.65, 0.52, 0.5
_IN_FOLDER = 0.9
_VERSION = 0.2


@lru_cache(maxsize=50_000)  # hundreds of candidates share their words
def _quality(word: str, other: str) -> float:
    """Return how well a word of a path matches one of the query."""
    if word == other:
        return 1.0
    if same_word(word, other):
        return _FORM
    if (len(word) >= _PREFIX_LENGTH and other.startswith(word)) or (
        len(other) >= _INSIDE_LENGTH and word.startswith(other)
    ):
        return _BEGINS
    if len(word) >= _INSIDE_LENGTH and word in other:
        return _INSIDE
    return _TYPO if len(word) >= _TYPO_LENGTH and within_one_edit(word, other) else 0.0


def _tier(
    query: FileQuery, keys: PathKeys, candidate: Candidate, met: _Met, reading: int | None
) -> tuple[Tier, str] | None:
    if (query.suffix and keys.path_key == query.suffix) or (not query.suffix and keys.path_key == f"/{query.name}"):
        return Tier.PATH, "it is this path"
    if query.suffix and (keys.path_key.endswith(query.suffix) or query.absolute.endswith(keys.path_key)):
        return Tier.SUFFIX, "its path ends so"
    if not query.suffix and keys.name_key == query.name:
        return Tier.NAME, "it is called so"
    if reading is not None:
        stem = query.stems[reading]
        if stem.usual:
            return Tier.STEM, "such files are usually called so"
        if not stem.folders and stem.varied:
            return Tier.PREFIX, "its name is a form of this word"
        if not stem.folders:
            return Tier.STEM, "its name without the ending is this"
        return Tier.STEM_IN_FOLDERS, f"it is called {stem.stem}, in folders of the other words"
    return _similar(query, keys, candidate, met)


def _similar(query: FileQuery, keys: PathKeys, candidate: Candidate, met: _Met) -> tuple[Tier, str] | None:
    """Return the tier of a path without a match by name."""
    if candidate.defines:
        return Tier.DEFINES, "it defines this name"
    if not query.words:
        return None
    if len(query.compact) >= _PREFIX_LENGTH and keys.stem_key.startswith(_singular(query.compact)):
        return Tier.PREFIX, "its name begins so"
    told = [word for word, quality in met.qualities.items() if quality == _TOLD]
    if met.worst > _TOLD:
        return Tier.WORDS, "its path has every word"
    whole_name = compact(keys.name_key)
    near = len(query.compact) >= _TYPO_LENGTH and any(
        within_one_edit(query.compact, one) for one in (keys.stem_key, whole_name)
    )
    if near or (met.worst >= _TYPO * _IN_FOLDER and not told):
        return Tier.TYPO, "its name differs by one letter"
    has = [word for word, quality in met.qualities.items() if quality > _TOLD]
    if (has and met.worst == _TOLD) or (met.in_stem and 2 * len(has) >= len(query.words)):
        said = [f"its path has {', '.join(has)}"] if has else []
        return Tier.SOME_WORDS, " and ".join([*said, *([f"it defines {', '.join(told)}"] if told else [])])
    return None


def _untested(stem: str) -> str:
    """Return the stem of a test's subject."""
    return re.sub(r"^tests?(?=.)|(?<=.)(?:tests?|spec)$", "", stem)


def _alternatives(word: str) -> str:
    forms = [f"search_text:{word}"]
    if len(word) >= _PREFIX_LENGTH:
        forms.append(f"search_text:{word}*")
    if len(word) >= _TYPO_LENGTH:
        forms.append(f"search_text:{word}~1")
    return " ".join(forms)


def _parts(spoken: Sequence[str]) -> tuple[str, ...]:
    """Return the words of names in order, without whole names beside their parts."""
    found = (found for part in spoken for found in _WORD.findall(_nfkc(part)))
    return tuple(part for word in found for part in (_camel(word) or [_lower(word)]) if part)[:MAX_WORDS]


def _camel(word: str) -> list[str]:
    return split_identifier(word) if word.isascii() else []


def _lower(word: str) -> str:
    """Return a word without case, nor the marks that some letters become then (İ is i and a dot)."""
    return word.casefold() if word.isascii() else compact(word)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", clean(text))


def _split_name(name: str) -> tuple[str, str]:
    """Return stem and ending (with its dot) of a file name; a leading dot does not begin an ending."""
    stem, dot, ending = name.rpartition(".")
    return (stem, f".{ending.casefold()}") if dot and stem.strip(".") else (name, "")
