"""Finding files by what people call them: keys of a path, keys of a query, and the order of what was found. Pure.

A query may be a path or the end of one, a file name, a stem, the words of a stem ("agent panel" for AgentPanel.tsx),
folder words before them, or any of these with one typo.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.tokens import token
from retrieval.text import clean, split_identifier

MAX_QUERY_CHARS = 1_000
MAX_WORDS = 12
_TYPO_LENGTH = 4
_PREFIX_LENGTH = 3
_WORD = re.compile(r"[^\W_]+")
# What tools print behind a path: `app.py:12`, `app.py:12:5`, `app.py#L12-L20`.
_PLACE = re.compile(r"(?:(?::\d+){1,2}:?|#L\d+(?:-L?\d+)?)$")
_QUOTES = "'\"`"


@dataclass(frozen=True, slots=True)
class PathKeys:
    """What a path is found by: its file name, its stem in letters and digits, all of it, and its words."""

    name_key: str
    stem_key: str
    path_key: str
    search_text: str


@dataclass(frozen=True, slots=True)
class StemKey:
    """A stem to look for, in folders that hold these words, with this end of the file name ("" for any)."""

    stem: str
    folders: tuple[str, ...] = ()
    ending: str = ""


@dataclass(frozen=True, slots=True)
class FileQuery:
    """A query for a file: `suffix` is the end of its path where a folder is named, `absolute` a whole path of the
    machine; "" where there is no such thing.
    """

    text: str
    name: str
    suffix: str
    absolute: str
    stems: tuple[StemKey, ...]
    words: tuple[str, ...]

    @property
    def compact(self) -> str:
        """The words written together."""
        return "".join(self.words)


def path_keys(path: str) -> PathKeys:
    """The keys of a path relative to its root, with `/` between folders."""
    key = fold(path)
    name = key.rpartition("/")[2]
    original = path.rpartition("/")[2]
    stem, _ = _split_name(original)
    return PathKeys(name, compact(stem), f"/{key}", " ".join(_words(path)))


def file_query(text: str) -> FileQuery:
    """The keys of a query; without a single letter or digit it has no words, and finds at most an exact name."""
    wanted = _PLACE.sub("", clean(text).strip().strip(_QUOTES)).replace("\\", "/")
    wanted = re.sub(r"/{2,}", "/", wanted.removeprefix("./")).rstrip("/")[:MAX_QUERY_CHARS]
    key = fold(wanted)
    name = key.rpartition("/")[2]
    absolute = key if key.startswith("/") else ""
    suffix = "" if "/" not in key else f"/{key.lstrip('/')}"
    words = _query_words(wanted)
    return FileQuery(wanted, name, suffix, absolute, _stems(wanted, words), words)


def lucene_words(query: FileQuery, namespace: str) -> str | None:
    """Lucene terms for the words of a query, each also as the start of a word and with one typo; None without words.

    Only letters and digits of the query survive, so that nothing in it is an operator.
    """
    if not query.words:
        return None
    every = " ".join(f"+({_alternatives(word)})" for word in query.words)
    together = f" ({_alternatives(query.compact)})^4" if len(query.compact) >= _TYPO_LENGTH else ""
    return f"+tokens:{token('namespace', namespace)}^0 +(({every}){together})"


def ranked(query: FileQuery, paths: Sequence[str]) -> list[str]:
    """The paths, best first: the nearer the path comes to the query the better, then the shorter."""
    return sorted(dict.fromkeys(paths), key=lambda path: (_distance(query, path), path.count("/"), len(path), path))


def fold(text: str) -> str:
    """A path or name as it is compared: NFKC, without case."""
    return unicodedata.normalize("NFKC", clean(text)).casefold()


def compact(text: str) -> str:
    """Letters and digits of a name, without case: AgentPanel, agent-panel and "agent panel" are one."""
    return "".join(_WORD.findall(fold(text)))


def within_one_edit(left: str, right: str) -> bool:
    """Whether one letter more, less, other, or two neighbours exchanged make `left` of `right`; equal counts too."""
    if abs(len(left) - len(right)) > 1:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    a, b = left[start:], right[start:]
    exchanged = a[:2] == b[1::-1] and a[2:] == b[2:] and len(a) >= 2
    return a == b or a[1:] == b[1:] or a[1:] == b or a == b[1:] or exchanged


def parameters(query: FileQuery) -> Mapping[str, Any]:
    """The query as the look-up by names takes it."""
    rows = [{"stem": one.stem, "folders": list(one.folders), "ending": one.ending} for one in query.stems]
    return {"name": query.name, "suffix": query.suffix, "absolute": query.absolute, "stems": rows}


def _stems(text: str, words: Sequence[str]) -> tuple[StemKey, ...]:
    """Every way to read the query as folder words, then a stem, perhaps with the ending of the file name as a word."""
    folder, _, name = text.rpartition("/")
    if folder:
        stem, ending = _split_name(name)
        parts = tuple(f"/{part}" for part in fold(folder).split("/") if part)
        readings = [(name, ""), (stem, ending)] if ending else [(name, "")]
        return tuple(StemKey(compact(one), parts, end) for one, end in readings if compact(one))
    spoken = [fold(part) for part in text.split() if compact(part)][:MAX_WORDS]
    keys = [StemKey(compact("".join(spoken[i:])), tuple(spoken[:i])) for i in range(len(spoken))]
    if len(words) > 1 and 1 <= len(words[-1]) <= 4:
        keys.append(StemKey("".join(words[:-1]), (), f".{words[-1]}"))
    return tuple(key for key in keys if key.stem)


def _distance(query: FileQuery, path: str) -> tuple[int, int, int]:
    """How far a path is from the query: its tier, whether letters differ in case, and how many words it lacks."""
    keys = path_keys(path)
    exact = 0 if query.text in path else 1
    return _tier(query, keys), exact, _missing(query, keys)


def _tier(query: FileQuery, keys: PathKeys) -> int:
    if query.suffix:
        if keys.path_key == query.suffix:
            return 0
        if keys.path_key.endswith(query.suffix) or query.absolute.endswith(keys.path_key):
            return 1
    elif keys.name_key == query.name:
        return 1 if keys.path_key != f"/{query.name}" else 0
    for rank, stem in enumerate(query.stems):
        if keys.stem_key == stem.stem and keys.name_key.endswith(stem.ending):
            return 2 + rank
    near = len(query.stems) + 2
    whole_name = compact(keys.name_key)
    if any(within_one_edit(query.compact, one) for one in (keys.stem_key, whole_name)):
        return near
    return near + 1


def _missing(query: FileQuery, keys: PathKeys) -> int:
    """Words of the query that the path lacks; one that only begins or almost is a word of it counts half of that."""
    have = set(keys.search_text.split())
    missing = 0
    for word in query.words:
        if word not in have:
            missing += 1 if any(one.startswith(word) or within_one_edit(word, one) for one in have) else 2
    in_name = set(_words(keys.name_key)) | {keys.stem_key}
    return 4 * missing + sum(word not in in_name for word in query.words)


def _alternatives(word: str) -> str:
    forms = [f"search_text:{word}"]
    if len(word) >= _PREFIX_LENGTH:
        forms.append(f"search_text:{word}*")
    if len(word) >= _TYPO_LENGTH:
        forms.append(f"search_text:{word}~1")
    return " ".join(forms)


def _query_words(text: str) -> tuple[str, ...]:
    """Words of the query in order, with no whole names beside their parts."""
    words = [part for found in _WORD.findall(_nfkc(text)) for part in (_camel(found) or [found.casefold()])]
    return tuple(words[:MAX_WORDS])


def _words(path: str) -> list[str]:
    """Words of a path: parts of its names, and each name written together."""
    words: dict[str, None] = {}
    for name in _nfkc(path).split("/"):
        for found in _WORD.findall(name):
            words.update(dict.fromkeys([found.casefold(), *_camel(found)]))
        stem, _ = _split_name(name)
        words[compact(stem)] = None
    return [word for word in words if word]


def _camel(word: str) -> list[str]:
    return split_identifier(word) if word.isascii() else []


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", clean(text))


def _split_name(name: str) -> tuple[str, str]:
    """Stem and ending (with its dot) of a file name; a dot at its start begins no ending."""
    stem, dot, ending = name.rpartition(".")
    return (stem, f".{ending.casefold()}") if dot and stem.strip(".") else (name, "")
