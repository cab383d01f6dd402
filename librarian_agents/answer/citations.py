"""Citations `[memory: ID]` in a model's text: known ones stay, invented ones go. Pure, and piece by piece.

Whatever pieces a text comes in, what is let through and what is reported are the same. Nothing is let through that
could still turn out to be part of a citation.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_OPEN, _CLOSE, _COLON = r"[\[［【]", r"[\]］】]", r"[:：]"
_GAP = r"\s{0,3}"
_MAX_CHARS = 400
_INSIDE = rf"[^\[\]［］【】\n]{{0,{_MAX_CHARS}}}"
_CITATION = re.compile(rf"{_OPEN}{_GAP}memory{_GAP}{_COLON}({_INSIDE}){_CLOSE}", re.IGNORECASE)
_SEPARATORS = re.compile(r"[,;，；、]")
_LABEL = re.compile(rf"memory{_GAP}{_COLON}|#", re.IGNORECASE)
# A sentence with the citations behind its full stop.
_SENTENCE = re.compile(
    r"\S.*?(?:[.!?…]+(?=\s|\[|$)|[。！？]+|(?=\n)|$)(?:[ \t]*\[memory: [^\]\n]*\][.。]?)*", re.DOTALL | re.MULTILINE
)
_CITED = re.compile(r"\[memory: [^\]\n]*\]")
_WORD = re.compile(r"\w")


def _beginning_of(parts: Iterable[str]) -> re.Pattern[str]:
    """What matches every beginning of a text that consists of `parts`."""
    nested = ""
    for part in reversed(list(parts)):
        nested = f"(?:{part}{nested})?"
    return re.compile(nested, re.IGNORECASE)


_BEGUN = _beginning_of([_OPEN, _GAP, *"memory", _GAP, _COLON, _INSIDE])
_UNFINISHED = re.compile(rf"{_OPEN}{_GAP}memory{_GAP}{_COLON}", re.IGNORECASE)
_OPENING = re.compile(_OPEN)


@dataclass(slots=True)
class CitationChecker:
    """Checks one text; `known` maps each way to name a hit to the id that it is cited by.

    `cited` and `invented` are the ids met so far, each once, in order.
    """

    known: Mapping[str, str]
    cited: list[str] = field(default_factory=list)
    invented: list[str] = field(default_factory=list)
    _held: str = ""

    def feed(self, piece: str) -> str:
        """What can be let through now, after `piece` has come."""
        self._held += piece
        passed = self._checked()
        cut = len(self._held[: self._begun_at()].rstrip())
        passed.append(self._held[:cut])
        self._held = self._held[cut:]
        return "".join(passed)

    def finish(self) -> str:
        """The rest, now that nothing more comes; a citation cut short counts as invented."""
        at = self._begun_at()
        rest, self._held = self._held.rstrip(), ""
        if _UNFINISHED.match(rest, at) is None:
            return rest
        self._note(self.invented, _UNFINISHED.sub("", rest[at:]).strip())
        return rest[:at].rstrip()

    def _checked(self) -> list[str]:
        """The text up to and with the last whole citation."""
        passed = []
        at = 0
        for citation in _CITATION.finditer(self._held):
            before = self._held[at : citation.start()]
            ids = self._verified(citation[1])
            passed.append(before + " ".join(f"[memory: {cited}]" for cited in ids) if ids else before.rstrip())
            at = citation.end()
        self._held = self._held[at:]
        return passed

    def _verified(self, inside: str) -> list[str]:
        named = [_LABEL.sub("", part).strip() for part in _SEPARATORS.split(inside)]
        ids = []
        for name in named:
            if name in self.known:
                ids.append(self.known[name])
                self._note(self.cited, self.known[name])
            else:
                self._note(self.invented, name)
        return list(dict.fromkeys(ids))

    def _note(self, ids: list[str], cited: str) -> None:
        if cited and cited not in ids:
            ids.append(cited)

    def _begun_at(self) -> int:
        """Where a citation may have begun that is not whole yet; the end where none has."""
        opened = [found.start() for found in _OPENING.finditer(self._held)]
        if opened and _BEGUN.fullmatch(self._held, opened[-1]):
            return opened[-1]
        return len(self._held)


def uncited_sentences(text: str) -> list[str]:
    """The sentences of a checked text that carry no citation."""
    sentences = [found[0].strip() for found in _SENTENCE.finditer(text)]
    return [sentence for sentence in sentences if _WORD.search(sentence) and not _CITED.search(sentence)]
