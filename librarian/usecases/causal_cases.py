"""Labelled pairs of texts: what a causal reader is asked, and what counts as right."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.causal_types import CAUSAL, Direction, Note, Relation, Verdict
from librarian.errors import InvalidInput

_DIRECTIONS = {"a_to_b": Direction.FORWARD, "b_to_a": Direction.BACKWARD}
_ONE_SENTENCE = "same_sentence_events"


@dataclass(frozen=True, slots=True)
class CausalCase:
    """One pair. `answers` are the edges that count as right, none where the texts have no causal relation.

    An answer's direction is None where either counts. `group` is the document, story or repository it is from.
    """

    id: str
    kind: str
    group: str
    first: Note
    second: Note
    context: str | None
    relation: Relation | None
    answers: frozenset[tuple[Relation, Direction | None]]

    def right(self, verdict: Verdict) -> bool:
        """Whether a typed verdict is one of the answers."""
        relation = verdict.relation
        return relation is not None and bool({(relation, verdict.direction), (relation, None)} & self.answers)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence that tells of a cause, or not."""

    text: str
    causal: bool


def read_cases(file: Path) -> tuple[list[CausalCase], list[LabelledSentence]]:
    """The pairs of a file of pairs (pairs.jsonl), or the pairs inside the sentences of one of labelled sentences, and
    these sentences. Raises InvalidInput for another file.
    """
    rows = [json.loads(line) for line in _lines(file)]
    if all("text_a" in row for row in rows):
        return [_of_pair(row) for row in rows], []
    if all("is_causal" in row for row in rows):
        cases = [case for row in rows for case in _of_sentence(row)]
        return cases, [LabelledSentence(row["text"], row["is_causal"]) for row in rows]
    raise InvalidInput(f"{file} holds neither pairs nor sentences with causal labels", field="--data")


def _lines(file: Path) -> list[str]:
    if not file.is_file():
        raise InvalidInput(f"there is no file {file}", field="--data")
    lines = file.read_text(encoding="utf-8").splitlines()
    if not any(lines):
        raise InvalidInput(f"{file} is empty", field="--data")
    return [line for line in lines if line.strip()]


def _of_pair(row: Mapping[str, Any]) -> CausalCase:
    events = row["pair_kind"] == _ONE_SENTENCE
    first, second = (row["event_a"], row["event_b"]) if events else (row["text_a"], row["text_b"])
    return CausalCase(
        id=row["id"],
        kind=row["pair_kind"],
        group=row.get("repo") or _document(row["id"]),
        first=Note(first),
        second=Note(second),
        context=row["text_a"] if events else row.get("context"),
        relation=_typed(row["relation"]),
        answers=frozenset(_answers(row)),
    )


def _answers(row: Mapping[str, Any]) -> Iterator[tuple[Relation, Direction | None]]:
    if _typed(row["relation"]) is None:
        return
    direction = _DIRECTIONS[row["direction"]] if row.get("direction_scored", True) else None
    for name in row["acceptable"]:
        yield Relation(name), direction
    for other in row.get("also", ()):
        yield Relation(other["relation"]), Direction.BACKWARD


def _of_sentence(row: Mapping[str, Any]) -> Iterator[CausalCase]:
    """The pairs of one sentence: its causal relations, and pairs marked as having none."""
    if "semeval_relation" in row:
        answers = {}
        if row["is_causal"]:
            forward = row["semeval_relation"].endswith("(e1,e2)")
            answers = {Relation.CAUSES: Direction.FORWARD if forward else Direction.BACKWARD}
        yield _inside(row, "nominals", row["e1"], row["e2"], answers)
        return
    for one in row["relations"]:
        direction = None if one.get("type") == "Purpose" else Direction.FORWARD
        inhibits = one.get("degree") == "Inhibit"
        relations = (Relation.BLOCKS,) if inhibits else (Relation.CAUSES, Relation.ENABLES)
        yield _inside(row, "cause_and_effect", one["cause"], one["effect"], dict.fromkeys(relations, direction))
    for one in row.get("noncausal_connectives") or ():
        yield _inside(row, "other_connective", one.get("arg0"), one.get("arg1"), {})


def _inside(
    row: Mapping[str, Any],
    kind: str,
    first: str | None,
    second: str | None,
    answers: Mapping[Relation, Direction | None],
) -> CausalCase:
    return CausalCase(
        id=row["id"],
        kind=kind,
        group=row.get("doc_id") or row["id"],
        first=Note(first or ""),
        second=Note(second or ""),
        context=row["text"],
        relation=next(iter(answers), None),
        answers=frozenset(answers.items()),
    )


def _typed(name: str) -> Relation | None:
    relation = Relation(name) if name in Relation.__members__ else None
    return relation if relation in CAUSAL else None


def _document(name: str) -> str:
    """The document of an id such as `cnc:train_03_6_331:r0`, as the sentences of it name it; `copa:dev:1:2` of COPA."""
    source, _, rest = name.partition(":")
    body = rest.rpartition(":")[0]
    return body.rpartition("_")[0] if source == "cnc" else body
