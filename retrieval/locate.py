"""The search that answers a query about files, by the query's form. Pure.

Paths are searched among paths, names among definitions and lines, quoted words among lines, questions by their meaning.
Ambiguous queries are searched both ways.
"""

import re
from dataclasses import dataclass
from typing import Literal

from retrieval.file_languages import ENDINGS
from retrieval.stopwords import ENGLISH
from retrieval.text import has_cjk, normalise

Shape = Literal["path", "definition", "identifier", "phrase", "question"]

_QUOTED = re.compile(r'["“`「『]([^"”`」』]{2,500})["”`」』]|(?<!\w)\'([^\']{2,500})\'(?!\w)')
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)~?[^\W\d]\w*)*(?:\(\))?"
_ANY_NAME = r"[^\W\d]\w*(?:(?:\.|::|->|#)~?[^\W\d]\w*)*(?:\(\))?"
_KIND = (
    r"(?:abstract\s+|data\s*)?(?:class|function|method|type|interface|struct|def|func|fn|enum|trait|protocol|constant|"
    r"variable|macro|property|exception|decorator|mixin|component|hook|coroutine)"
)
_STATE = r"(?:defined|declared|implemented)"
_WHERE = (
    r"(?:where(?:'s| is| are| was| were| does| do| can i find)?|in which file(?: is| are)?"
    r"|(?:which|what) (?:file|module)(?: is| are| has| contains| defines| implements| declares)?)"
)
_ASK = (
    r"(?:(?:can|could|would) you\s+)?(?:please\s+)?(?:open|show|find|see|view|display|locate|go to|jump to|take me to"
    r"|bring up|get|give|look up|i (?:want|need)(?: to see)?)(?:\s+me)?(?:\s+up)?"
)
_LEAD = re.compile(rf"(?:{_WHERE}|{_ASK})\s+", re.IGNORECASE)
_DEFINED = rf"(?:is\s+|gets?\s+)?{_STATE}(?:\s+in)?"
_DEFINITION = re.compile(
    r"(?:the\s+)?(?:definition|declaration|implementation|source(?: code)?|code) of\s+(?:the\s+)?"
    rf"(?:(?P<kind1>{_KIND})\s+)?`?(?P<name1>{_ANY_NAME})`?(?:\s+{_KIND})?"
    rf"|(?:the\s+)?(?P<kind2>{_KIND})\s+(?:called\s+|named\s+)?`?(?P<name2>{_ANY_NAME})`?(?:\s+{_DEFINED})?"
    rf"|(?:the\s+)?`?(?P<name3>{_ANY_NAME})`?\s+(?:(?P<kind3>{_KIND})\s+)?"
    rf"(?:definition|declaration|implementation|{_DEFINED})"
    rf"|(?:the\s+)?`?(?P<name4>{_ANY_NAME})`?\s+(?P<kind4>{_KIND})",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?:the\s+)?(?P<words>.+?)\s+(?:module|file|script|header|page|package|folder|source file)s?"
    r"|(?:the\s+)?(?:module|file|script|header|package)\s+(?:called\s+|named\s+|for\s+|with\s+)?(?P<rest>.+)",
    re.IGNORECASE,
)
_ENDING = re.compile(r"[^\s/]+\.[A-Za-z][A-Za-z0-9]{0,7}")
_IDENTIFIER = re.compile(_ANY_NAME)
_CODE_LIKE = re.compile(r"_|[a-z][A-Z]|\(\)|::|->|[A-Z]{2,}[a-z]|\d[A-Za-z]|[A-Za-z]\d|[^\W\d]\.[^\W\d]")
_CAPITALISED = re.compile(r"[A-Z][A-Za-z0-9]*[a-z]")
_QUESTION = re.compile(
    r"(?:how|what|why|where|when|which|who|whose|does|do|is|are|can|could|should|explain|describe)\b", re.IGNORECASE
)
_LATIN_NAME = re.compile(rf"(?:[\w.-]+/)+[\w.-]+|{_NAME}", re.ASCII)
_ASKS_PLACE = re.compile(r"どこ|開|見せ|表示|어디")
_NAMES_DEFINITION = re.compile(r"定義|宣言|実装|クラス|関数|メソッド|정의|선언")
_ASKS_FILE = re.compile(r"ファイル|モジュール|파일|文件")
_QUALIFIERS = re.compile(r"\.|::|->|#")


@dataclass(frozen=True, slots=True)
class LookupPlan:
    """The targets of a search: `path` among paths, `text` in lines, `meaning` by vectors and words; None: not searched.

    `definition` says that the definition of `text` is preferred to its uses; `qualifiers` are the names before it
    (`AsyncClient` of `AsyncClient.aclose`), and `kind` is its stated kind, or "".
    """

    shape: Shape
    why: str
    path: str | None = None
    text: str | None = None
    meaning: str | None = None
    definition: bool = False
    qualifiers: tuple[str, ...] = ()
    kind: str = ""


def plan_lookup(query: str) -> LookupPlan:
    """Return the plan for a query."""
    text = normalise(query)
    if _is_path(text):
        return LookupPlan("path", "it looks like a path, so paths are searched", path=text)
    if has_cjk(text) and (plan := _in_japanese(text)):
        return plan
    bare = text.rstrip("?？.! ")
    led = _LEAD.match(bare)
    asked = bare[led.end() :] if led else bare
    if plan := _definition(asked, asked_for=led is not None):
        return plan
    if quoted := _QUOTED.search(text):
        words = quoted[1] or quoted[2]
        why = "it has words in quotation marks, which are searched exactly"
        return LookupPlan("phrase", why, text=words, meaning=text if _is_question(text) else None)
    if _IDENTIFIER.fullmatch(text) and text.casefold() not in ENGLISH:
        why = "one name may be a file or something in the code, so both are searched"
        *qualifiers, name = _names(text)
        return LookupPlan("identifier", why, text, name, definition=True, qualifiers=tuple(qualifiers))
    if (led and not _is_question(text)) or (led and _FILE.fullmatch(asked)):
        return _file(asked)
    return _words(text)


def other_plan(query: str, plan: LookupPlan) -> LookupPlan | None:
    """Return what to try when a plan found nothing: the definition of a name with a dot that was taken for a file
    (`logger.log`), the meaning of a question for a name that nothing defines; None for any other plan.
    """
    text = normalise(query)
    if plan.shape == "path" and _IDENTIFIER.fullmatch(text):
        return _defined(text, "")
    if plan.shape == "definition" and text != plan.text:
        why = f"nothing defines {plan.text}, so parts of files are searched by meaning"
        return LookupPlan("question", why, meaning=text)
    return None


def _definition(asked: str, *, asked_for: bool) -> LookupPlan | None:
    """Return the plan for the definition of a name, without the words that ask for it."""
    found = _DEFINITION.fullmatch(asked)
    name = next((found[f"name{i}"] for i in range(1, 5) if found[f"name{i}"]), None) if found else None
    if found is None or name is None:
        code = asked.strip("`").removeprefix("the ")
        if not (
            asked_for and _IDENTIFIER.fullmatch(code) and (_CODE_LIKE.search(code) or _CAPITALISED.fullmatch(code))
        ):
            return None
        return _defined(code, "")
    if name.casefold() in ENGLISH or re.fullmatch(_KIND, name, re.IGNORECASE):
        return None
    kind = next((found[f"kind{i}"] for i in range(1, 5) if found[f"kind{i}"]), "") or ""
    return _defined(name, kind.casefold())


def _defined(qualified: str, kind: str) -> LookupPlan:
    *qualifiers, name = _names(qualified)
    why = f"it asks where {name} is defined: definitions first, then other lines, and files of that name"
    return LookupPlan("definition", why, name, name, definition=True, qualifiers=tuple(qualifiers), kind=kind)


def _file(asked: str) -> LookupPlan:
    """Return the plan for something to show: files by name, otherwise by content."""
    found = _FILE.fullmatch(asked)
    if found:
        path = found["words"] or found["rest"]
        return LookupPlan("path", "it asks for a file, so paths are searched", path=path, meaning=asked)
    why = "it asks for words that may be a file's name or a phrase in its text, so both and the meaning are searched"
    return LookupPlan("phrase", why, path=asked, text=asked, meaning=asked)


def _in_japanese(text: str) -> LookupPlan | None:
    """Return the plan for a Latin name in a script without blanks: the name's definition, or the file of that name."""
    names = [name for name in _LATIN_NAME.findall(text) if name.casefold() not in ENGLISH]
    if not names:
        return None
    name = max(names, key=lambda one: (_CODE_LIKE.search(one) is not None, len(one)))
    if _is_path(name):
        return LookupPlan("path", f"it names the path {name}, so paths are searched", path=name, meaning=text)
    if _NAMES_DEFINITION.search(text):
        return _defined(name, "")
    if _ASKS_FILE.search(text):
        return LookupPlan("path", "it asks for a file, so paths are searched", path=" ".join(names), meaning=text)
    if _ASKS_PLACE.search(text):
        return _defined(name, "")
    *qualifiers, last = _names(name)
    why = f"it is a question, so parts of files are searched by meaning, and {last}, which it names, exactly"
    return LookupPlan("question", why, None, last, text, definition=True, qualifiers=tuple(qualifiers))


def _words(text: str) -> LookupPlan:
    """Return the plan for several words: a question, with the names in it; otherwise words of a path or a line."""
    names = [word.strip("`,;:?!()") for word in text.split() if _CODE_LIKE.search(word.strip("`,;:?!"))]
    names = [name for name in names if _IDENTIFIER.fullmatch(name) or _is_path(name)]
    if _is_question(text):
        why = "it is a question, so parts of files are searched by meaning"
        if not names:
            return LookupPlan("question", why, meaning=text)
        if _is_path(names[0]):
            return LookupPlan("question", f"{why}, and the path {names[0]}", names[0], None, text)
        *qualifiers, name = _names(names[0])
        said = f"{why}, and {name}, which it names, exactly"
        return LookupPlan("question", said, None, name, text, definition=True, qualifiers=tuple(qualifiers))
    why = "words without a question may be a file's name or a phrase in its text, so both and the meaning are searched"
    return LookupPlan("phrase", why, path=text, text=text, meaning=text)


def _is_path(text: str) -> bool:
    if "/" in text and " " not in text and not text.startswith(("http://", "https://")) and not has_cjk(text):
        return True
    if _ENDING.fullmatch(text) is None or text.endswith("()"):
        return False
    return text.rpartition(".")[2].casefold() in ENDINGS


def _is_question(text: str) -> bool:
    return text.endswith(("?", "？")) or _QUESTION.match(text) is not None


def _names(name: str) -> list[str]:
    """Split `module.Class.method()` into module, Class, method."""
    return [part.lstrip("~") for part in _QUALIFIERS.split(name.removesuffix("()"))]
