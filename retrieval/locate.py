"""Which search answers a query about files, by its shape. Pure.

A path is looked for among paths, a name among definitions and lines, words in quotation marks among lines, a question
by its meaning. What may be two of these is looked for in both ways.
"""

import re
from dataclasses import dataclass
from typing import Literal

from retrieval.stopwords import ENGLISH
from retrieval.text import normalise

Shape = Literal["path", "definition", "identifier", "phrase", "question"]

_QUOTED = re.compile(r'["“`]([^"”`]{2,500})["”`]|(?<!\w)\'([^\']{2,500})\'(?!\w)')
_NAME = r"[^\W\d]\w*(?:(?:\.|::|->|#)[^\W\d]\w*)*(?:\(\))?"
_STATES = r"(?:defined|declared|implemented)"
_DEFINED = re.compile(
    r"(?:where(?:'s| is| are)?|find|show|locate|go to)?\s*(?:the\s+)?"
    r"(?:definition of|class|function|method|type|interface|struct|def|func|fn)\s+"
    rf"`?({_NAME})`?(?:\s+(?:is|gets?))?(?:\s+{_STATES})?\s*\??"
    rf"|where(?:'s| is| are| was)?\s+(?:the\s+)?(?:\w+\s+)?`?({_NAME})`?\s+(?:is\s+)?{_STATES}\s*\??"
    rf"|`?({_NAME})`?\s+(?:definition|declaration|implementation)\s*\??",
    re.IGNORECASE,
)
_ENDING = re.compile(r"[^\s/]+\.[A-Za-z][A-Za-z0-9]{0,7}")
_IDENTIFIER = re.compile(_NAME)
_CODE_LIKE = re.compile(r"_|[a-z][A-Z]|\(\)|::|->|[A-Z]{2,}[a-z]|\d[A-Za-z]|[A-Za-z]\d|[^\W\d]\.[^\W\d]")
_QUESTION = re.compile(
    r"(?:how|what|why|where|when|which|who|whose|does|do|is|are|can|could|should|explain|describe)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LookupPlan:
    """What to look for: `path` among paths, `text` in lines, `meaning` by vectors and words; None: not that way.

    `definition` says that the definition of `text` is wanted before its uses.
    """

    shape: Shape
    why: str
    path: str | None = None
    text: str | None = None
    meaning: str | None = None
    definition: bool = False


def plan_lookup(query: str) -> LookupPlan:
    """How to look for a query."""
    text = normalise(query)
    if _is_path(text):
        return LookupPlan("path", "it looks like a path, so paths are searched", path=text)
    if found := _DEFINED.fullmatch(text):
        name = _last_name(next(group for group in found.groups() if group))
        why = f"it asks where {name} is defined: definitions first, then other lines, and files of that name"
        return LookupPlan("definition", why, path=name, text=name, definition=True)
    if quoted := _QUOTED.search(text):
        words = quoted[1] or quoted[2]
        why = "it has words in quotation marks, which are searched exactly"
        return LookupPlan("phrase", why, text=words, meaning=text if _is_question(text) else None)
    if _IDENTIFIER.fullmatch(text) and text.casefold() not in ENGLISH:
        why = "one name may be a file or something in the code, so both are searched"
        return LookupPlan("identifier", why, path=text, text=_last_name(text), definition=True)
    return _words(text)


def _words(text: str) -> LookupPlan:
    """Several words: a question, with the names in it; else words that may stand in a path or in a line."""
    names = [word.strip("`,;:?!()") for word in text.split() if _CODE_LIKE.search(word.strip("`,;:?!"))]
    if _is_question(text):
        why = "it is a question, so parts of files are searched by meaning"
        if not names:
            return LookupPlan("question", why, meaning=text)
        name = _last_name(names[0])
        path = names[0] if _is_path(names[0]) else None
        return LookupPlan("question", f"{why}, and {name}, which it names, exactly", path, name, text, definition=True)
    why = "words without a question may be a file's name or a phrase in its text, so both and the meaning are searched"
    return LookupPlan("phrase", why, path=text, text=text, meaning=text)


def _is_path(text: str) -> bool:
    if "/" in text and " " not in text and not text.startswith(("http://", "https://")):
        return True
    return _ENDING.fullmatch(text) is not None and not text.endswith("()") and text.rpartition(".")[2].islower()


def _is_question(text: str) -> bool:
    return text.endswith(("?", "？")) or _QUESTION.match(text) is not None


def _last_name(name: str) -> str:
    """`module.Class.method()` -> method."""
    return re.split(r"\.|::|->|#", name.removesuffix("()"))[-1]
