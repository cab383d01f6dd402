"""How texts are weighed: plain functions that the reasoner is given, since it knows no language and no encoder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.ports import Similarity


@dataclass(frozen=True, slots=True)
class Scoring:
    """`terms` gives the topical words of a text in order, comparable between texts; `is_question` says whether a text
    asks rather than tells; `similarity` is None, or says None, where nothing can read the texts.
    """

    terms: Callable[[str], Sequence[str]]
    is_question: Callable[[str], bool]
    similarity: Similarity | None = None
