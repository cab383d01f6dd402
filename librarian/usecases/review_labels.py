"""Human decisions as labelled texts, in the formats that `librarian eval causal` and `librarian eval types` read."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from graph import reviews
from graph.causal import Brief
from graph.executor import Executor
from librarian.contracts.reviews import CausalLabel, MergeLabel, ReviewOut, ReviewQuery, TypeLabel
from librarian.usecases.reviews import list_reviews

Label = CausalLabel | TypeLabel | MergeLabel

_PAGE = 100
_NONE = "NONE"
_NO_DIRECTION = "none"
_FORWARD = "a_to_b"


async def labels(executor: Executor, namespace: str) -> AsyncIterator[Label]:
    """A label for each decision, with the texts as they are now; a rejected flag labels the type that was stated."""
    query = ReviewQuery(states=["accepted", "rejected"], limit=_PAGE)
    while True:
        page = await list_reviews(executor, namespace, query)
        for label in await _labels(executor, namespace, page.reviews):
            yield label
        if page.next_cursor is None:
            return
        query.cursor = page.next_cursor


async def _labels(executor: Executor, namespace: str, found: Sequence[ReviewOut]) -> list[Label]:
    uids = sorted({item.uid for one in found for item in (one.item, one.other) if item is not None})
    texts = await reviews.texts(executor, namespace, uids)
    made = [_label(namespace, one, texts) for one in found if one.item.uid in texts]
    return [label for label in made if label is not None]


def _label(namespace: str, one: ReviewOut, texts: Mapping[str, Brief]) -> Label | None:
    text = texts[one.item.uid].text
    other = texts.get(one.other.uid) if one.other else None
    if one.sort == "flag":
        return _type_label(namespace, one, text)
    if other is None:
        return None
    if one.sort == "merge":
        return MergeLabel(text_a=text, text_b=other.text, same=one.state == "accepted", **_common(namespace, one))
    return _causal_label(namespace, one, text, other.text)


def _type_label(namespace: str, one: ReviewOut, text: str) -> TypeLabel | None:
    type_ = one.given_type if one.state == "accepted" else one.old_type
    if type_ is None:
        return None
    return TypeLabel(type=type_, text=text, proposed=one.new_type, **_common(namespace, one))


def _causal_label(namespace: str, one: ReviewOut, text_a: str, text_b: str) -> CausalLabel | None:
    if one.edge is None:
        return None
    relation = one.edge.type if one.state == "accepted" else _NONE
    directed = relation not in (_NONE, "RELATES_TO")
    return CausalLabel(
        text_a=text_a,
        text_b=text_b,
        relation=relation,
        acceptable=[relation],
        direction=_FORWARD if directed else _NO_DIRECTION,
        pair_kind="reviewed",
        proposed=one.edge.type,
        method=one.edge.method,
        signal=[quote for quote in (one.edge.source_quote, one.edge.target_quote) if quote],
        **_common(namespace, one),
    )


def _common(namespace: str, one: ReviewOut) -> dict[str, Any]:
    return {
        "id": f"{namespace}/{one.review_id}",
        "repo": namespace,
        "confidence": one.confidence,
        "reviewed_by": one.reviewed_by or "",
        "reviewed_at": one.reviewed_at,
        "reason": one.review_reason,
    }
