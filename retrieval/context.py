"""Hits as the context of a language model: numbered, dated, delimited data that cannot pass for anything else.

Pure functions. A text cannot end its own delimiters, since `<`, `>` and `&` are escaped (which also takes the meaning
from control tokens of chat templates), and cannot bring citations of its own, since their opening bracket is changed.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from retrieval.defaults import DEFAULT_MAX_CHARS

# One long text must not take the place of all others.
MAX_HIT_CHARS = 4_000
# A shorter rest of a text is not worth its delimiters.
_LEAST_CHARS = 80
_CITABLE = re.compile(r"[^\s\[\]［］【】,;，；、#<>&\"']{1,200}")
_CITATION_LIKE = re.compile(r"[\[［【](?=\s{0,3}memory\s{0,3}[:：])", re.IGNORECASE)
_CUT = "…"
# retrieval.answering.Verdict.COMMANDS, and what a model is told of it.
_ORDERS = "gives orders"


class HasUid(Protocol):
    """What can be cited."""

    @property
    def uid(self) -> str:
        """Its uid."""


class ContextHit(HasUid, Protocol):
    """What of a hit goes into a context."""

    @property
    def kind(self) -> str:
        """Its kind, such as message."""

    @property
    def message_id(self) -> str | None:
        """The message's id where it comes from."""

    @property
    def author_name(self) -> str | None:
        """Who wrote it."""

    @property
    def role(self) -> str | None:
        """In which role."""

    @property
    def sent_at(self) -> datetime | None:
        """When it was sent, or happened."""

    @property
    def valid_to(self) -> datetime | None:
        """When it ceased to hold."""

    @property
    def superseded_by(self) -> str | None:
        """The uid of a later statement about the same."""

    @property
    def unsupported(self) -> "Lost | None":
        """What became of all that it rests on."""

    @property
    def verdict(self) -> str | None:
        """What it does with the question (retrieval.answering.Verdict)."""

    @property
    def content(self) -> str:
        """Its text."""


class Lost(Protocol):
    """Why nothing supports a hit any more."""

    @property
    def because(self) -> str:
        """What became of what it rests on: superseded, ended, corrected or forgotten."""


@dataclass(frozen=True, slots=True)
class Context:
    """The text, and of the hits that stand in it (the first `shown`) the ids that they are cited by."""

    text: str
    ids: Sequence[str]

    @property
    def shown(self) -> int:
        """How many hits found room."""
        return len(self.ids)


def format_hits_as_context(hits: Sequence[ContextHit], max_chars: int = DEFAULT_MAX_CHARS) -> str:
    """The hits, in their order, as text for a language model, at most `max_chars` characters.

    Each is numbered, dated and between delimiters that name the id to cite it by as `[memory: ID]`.
    """
    return context_of(hits, max_chars).text


def context_of(hits: Sequence[ContextHit], max_chars: int = DEFAULT_MAX_CHARS) -> Context:
    """As many of the hits as have room, the last one perhaps shortened."""
    entries: list[str] = []
    ids: list[str] = []
    left = max_chars
    for number, (hit, cited_by) in enumerate(zip(hits, citation_ids(hits), strict=True), start=1):
        entry = _entry(number, cited_by, hit, min(left, MAX_HIT_CHARS))
        if entry is None:
            break
        entries.append(entry)
        ids.append(cited_by)
        left -= len(entry) + 2
    return Context("\n\n".join(entries), ids)


def citation_ids(hits: Sequence[HasUid]) -> list[str]:
    """What each hit is cited by: its uid, or `hit-N` where that could not be told from the text around it."""
    return [hit.uid if _CITABLE.fullmatch(hit.uid) else f"hit-{n}" for n, hit in enumerate(hits, start=1)]


def known_names(hits: Sequence[ContextHit], ids: Sequence[str]) -> dict[str, str]:
    """Each way in which a model may name one of the hits -> its citation id: the id itself, message id, or number.

    Where two hits share a name, the id goes first, and a message id before a number.
    """
    numbers = {str(number): cited_by for number, cited_by in enumerate(ids, start=1)}
    messages = {hit.message_id: cited_by for hit, cited_by in zip(hits, ids, strict=False) if hit.message_id}
    return {**numbers, **messages, **{cited_by: cited_by for cited_by in ids}}


def without_citations(text: str) -> str:
    """The text with the opening bracket of whatever looks like a citation changed, so that it is none."""
    return _CITATION_LIKE.sub("(", text)


def _entry(number: int, cited_by: str, hit: ContextHit, most: int) -> str | None:
    """One hit between its delimiters, in `most` characters; None where too few are left for it."""
    said = {
        "id": cited_by,
        "number": str(number),
        "kind": hit.kind,
        "date": f"{hit.sent_at:%Y-%m-%d %H:%M}" if hit.sent_at else None,
        "author": hit.author_name,
        "role": hit.role,
        "held_until": f"{hit.valid_to:%Y-%m-%d}" if hit.valid_to else None,
        "superseded_by": hit.superseded_by,
        "unsupported": f"what it rests on was {hit.unsupported.because}" if hit.unsupported else None,
        "note": _ORDERS if hit.verdict == _ORDERS else None,
    }
    named = " ".join(f'{name}="{_attribute(value)}"' for name, value in said.items() if value)
    head, tail = f"<memory {named}>\n", "\n</memory>"
    room = most - len(head) - len(tail)
    text = html.escape(without_citations(hit.content.strip()), quote=False)
    if len(text) > room:
        if room < _LEAST_CHARS:
            return None
        # Not within an escaped character.
        text = re.sub(r"&[a-z]{0,3}$", "", text[: room - 1]) + _CUT
    return head + text + tail


def _attribute(value: str) -> str:
    return html.escape(without_citations(" ".join(value.split()))[:200])
