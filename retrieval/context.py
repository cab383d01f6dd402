"""Hits as context for a language model: numbered, dated, delimited data that cannot pass for anything else.

Pure functions. A text cannot end its own delimiters, since `<`, `>` and `&` are escaped (which also disarms control
tokens of chat templates), and cannot add citations of its own, since their opening bracket is changed.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from retrieval.defaults import DEFAULT_MAX_CHARS

# One long text must not displace all others.
MAX_HIT_CHARS = 4_000
# A shorter remainder of a text is not worth its delimiters.
_LEAST_CHARS = 80
_CITABLE = re.compile(r"[^\s\[\]［］【】,;，；、#<>&\"']{1,200}")
_CITATION_LIKE = re.compile(r"[\[［【](?=\s{0,3}memory\s{0,3}[:：])", re.IGNORECASE)
_CUT = "…"
# retrieval.answering.Verdict.COMMANDS, and its wording for a model.
_ORDERS = "gives orders"


class HasUid(Protocol):
    """Something that can be cited."""

    @property
    def uid(self) -> str:
        """Its uid."""


class ContextHit(HasUid, Protocol):
    """The fields of a hit that go into a context."""

    @property
    def kind(self) -> str:
        """Its kind, such as message."""

    @property
    def message_id(self) -> str | None:
        """The id of the message it comes from."""

    @property
    def author_name(self) -> str | None:
        """Its author."""

    @property
    def role(self) -> str | None:
        """The author's role."""

    @property
    def sent_at(self) -> datetime | None:
        """When it was sent or happened."""

    @property
    def valid_to(self) -> datetime | None:
        """When it ceased to hold."""

    @property
    def superseded_by(self) -> str | None:
        """The uid of a later statement about the same."""

    @property
    def unsupported(self) -> "Lost | None":
        """The loss of its support."""

    @property
    def verdict(self) -> str | None:
        """Its relation to the question (retrieval.answering.Verdict)."""

    @property
    def content(self) -> str:
        """Its text."""


class Lost(Protocol):
    """Why nothing supports a hit any longer."""

    @property
    def because(self) -> str:
        """The fate of its support: superseded, ended, corrected or forgotten."""


@dataclass(frozen=True, slots=True)
class Context:
    """The text, and the citation ids of the hits in it (the first `shown`)."""

    text: str
    ids: Sequence[str]

    @property
    def shown(self) -> int:
        """The number of hits that fit."""
        return len(self.ids)


def format_hits_as_context(hits: Sequence[ContextHit], max_chars: int = DEFAULT_MAX_CHARS) -> str:
    """Return the hits, in order, as text for a language model, at most `max_chars` characters.

    Each is numbered, dated and between delimiters that name the id to cite it by as `[memory: ID]`.
    """
    return context_of(hits, max_chars).text


def context_of(hits: Sequence[ContextHit], max_chars: int = DEFAULT_MAX_CHARS) -> Context:
    """Return as many of the hits as fit, the last one perhaps shortened."""
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
    """Return each hit's citation id: its uid, or `hit-N` if that could be confused with the surrounding text."""
    return [hit.uid if _CITABLE.fullmatch(hit.uid) else f"hit-{n}" for n, hit in enumerate(hits, start=1)]


def known_names(hits: Sequence[ContextHit], ids: Sequence[str]) -> dict[str, str]:
    """Return each name that a model may use for a hit -> its citation id: the id itself, message id, or number.

    If two hits share a name, the id takes precedence, then the message id, then the number.
    """
    numbers = {str(number): cited_by for number, cited_by in enumerate(ids, start=1)}
    messages = {hit.message_id: cited_by for hit, cited_by in zip(hits, ids, strict=False) if hit.message_id}
    return {**numbers, **messages, **{cited_by: cited_by for cited_by in ids}}


def without_citations(text: str) -> str:
    """Return the text with the opening bracket of anything that looks like a citation changed."""
    return _CITATION_LIKE.sub("(", text)


def _entry(number: int, cited_by: str, hit: ContextHit, most: int) -> str | None:
    """Return one hit between its delimiters, in `most` characters; None if that leaves too little for the text."""
    attributes = {
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
    named = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items() if value)
    head, tail = f"<memory {named}>\n", "\n</memory>"
    room = most - len(head) - len(tail)
    text = html.escape(without_citations(hit.content.strip()), quote=False)
    if len(text) > room:
        if room < _LEAST_CHARS:
            return None
        # Do not cut inside an escaped character.
        text = re.sub(r"&[a-z]{0,3}$", "", text[: room - 1]) + _CUT
    return head + text + tail


def _attribute(value: str) -> str:
    return html.escape(without_citations(" ".join(value.split()))[:200])
