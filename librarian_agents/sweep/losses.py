"""Losses of a rewritten text: names, numbers, paths, URLs, code and negations. Pure.

Every token of the old text must occur in the new one as often as before. A negation counts together with the next word,
so that "not" cannot move to another statement. The kind of a lost token only matters to reports: plain words are
checked like the rest, since a name may be written in lower case.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from librarian_agents.sweep.markdown import parted

Kind = Literal["code", "url", "path", "number", "name", "negation", "word"]

_TOKEN = re.compile(
    r"""
      (?P<code> (?<!`)(`++) [^\n]{1,500}? (?<!`)\2(?!`)             # `inline code`
              | (?<![\w-]) --? [A-Za-z][\w-]*               # --flag
              | \$ \{? [A-Za-z_]\w* \}?                              # $VARIABLE
              | [A-Za-z_]\w* (?: (?:::|->|\.) [A-Za-z_]\w* )* \( [^()\s]{0,80} \)   # call(…)
              | [A-Za-z]\w* (?: ::[A-Za-z_]\w* )+           # module::name
              | [A-Za-z0-9]* _ \w*                          # snake_case
              | [a-z]+ [A-Z] \w*                            # camelCase
              | [A-Za-z]+ \d+ \w*                           # sha256
              | [<>=!]=|=>|->|&&|\|\| )
    | (?P<url> [a-z][a-z0-9+.-]{1,10}:// [^\s<>"'`）」】]+ | www\. [^\s<>"'`）」】]+ )
    | (?P<path> [A-Za-z]:\\ [\w.\\-]+ | (?: ~|\.{1,2} )? /? (?: [\w.@-]{1,255}+ / )+ [\w.@*-]* | (?<!\w) / [\w.@-]+
              | [A-Za-z_][\w-]* (?: \. [A-Za-z][\w-]* )+ )
    | (?P<number> (?: (?<![\w)]) [-+−±~≈<>≤≥]=? )? [$€£¥]? \d [\w,.:%°²³×-]* [%°€]? )
    | (?P<word> [@\#]? [^\W\d_\u3040-\u30ff\u3400-\u9fff] [^\W_\u3040-\u30ff\u3400-\u9fff]*
                (?: ['’-] [^\W_\u3040-\u30ff\u3400-\u9fff]+ )*
              | [\u30a0-\u30ff]+ | [\u3400-\u9fff々]+ | [\u3040-\u309f]+ )
    | (?P<end> [.!?]+ (?= \s | $ ) | [。！？]+ | \n )
    """,
    re.VERBOSE,
)
_TRAILING = ".,;:!?)]}*_"
_NEGATION = re.compile(
    r"(?:no|not|never|none|nothing|nobody|nowhere|neither|nor|without|cannot|unless|except|\w+n['’]t)|"
    r".*(?:ない|ません|なかっ|なく|ずに|なし).*|.*[不未非無没禁].*",
    re.IGNORECASE,
)
_NAME = re.compile(r"[@#].+|\w*[^\W\d_a-z\u3040-\u309f]\w*|[\u30a0-\u30ff]+")


@dataclass(frozen=True, slots=True)
class Loss:
    """A token with `times` fewer occurrences in the new text than in the old one."""

    kind: Kind
    text: str
    times: int


def losses(old: str, new: str) -> list[Loss]:
    """Return the tokens missing from `new`, in the order of `old`. Takes time proportional to both lengths."""
    gone = Counter(_tokens(old))
    gone.subtract(_tokens(new))
    return [Loss(kind, token, times) for (kind, token), times in gone.items() if times > 0]


def _tokens(text: str) -> Iterator[tuple[Kind, str]]:
    """Yield the content of each fenced block as one token, and the tokens of the text between."""
    for is_code, piece in parted(text):
        if not is_code:
            yield from _prose(piece)
        elif piece.strip():
            yield "code", piece.strip("\r\n").rstrip()


def _prose(text: str) -> Iterator[tuple[Kind, str]]:
    negation = ""
    for found in _TOKEN.finditer(text):
        group = found.lastgroup or "word"
        token = found[0] if group == "code" else found[0].rstrip(_TRAILING)
        if negation:
            yield "negation", f"{negation} {token}".strip()
            negation = ""
        if group == "word" and _NEGATION.fullmatch(token):
            negation = token
        elif group != "end" and token:
            yield _kind(group, token), token
    if negation:
        yield "negation", negation


def _kind(group: str, token: str) -> Kind:
    match group:
        case "code" | "url" | "path" | "number":
            return group
        case _:
            return "name" if _NAME.fullmatch(token) else "word"
