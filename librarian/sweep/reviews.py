"""Reviews of proposals by sweeps and ingests: lists, decisions, effects on the items, and labels for training."""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from graph import causal, edges, reviews
from graph.causal import Brief
from graph.edges import StoredEdge
from graph.executor import Executor
from graph.item import Memory, NewItem, Unchanged
from graph.reviews import Decision
from graph.sweep import RecordedChange
from librarian.base import cursors
from librarian.base.audit import actor, actor_name
from librarian.base.errors import Conflict, InvalidInput, NotFound
from librarian.causal.contracts import ItemBrief
from librarian.items.edges import CONTRADICTION, edge_out
from librarian.items.rows import rewritten
from librarian.items.succession import (
    NOTHING_DECLARED,
    Declared,
    Successions,
    audited,
    proposals,
    remarks,
    with_successions,
)
from librarian.sweep.contracts import (
    CausalLabel,
    MergeLabel,
    ReviewInput,
    ReviewList,
    ReviewOut,
    ReviewOutput,
    ReviewQuery,
    ReviewSort,
    ReviewState,
    TypeLabel,
)
from librarian.sweep.facts import new_fact
from librarian.sweep.reports import fact_out
from librarian_agents.sweep.memory_types import MemoryType
from librarian_agents.sweep.sections import retagged

Subject = StoredEdge | RecordedChange
Outcome = tuple[bool, Subject, list[str]]
Label = CausalLabel | TypeLabel | MergeLabel

_EDGE, _SUPERSEDE = "edge", "supersede"
_BETWEEN = (_EDGE, _SUPERSEDE)
_STATES: dict[ReviewState, str] = {
    "open": reviews.OPEN,
    "unreviewed": reviews.UNREVIEWED,
    "accepted": "accepted",
    "rejected": "rejected",
}
_SHOWN: dict[str, ReviewState] = {stored: shown for shown, stored in _STATES.items()}
_TEXT_CHARS = 300
_OF_SWEEP = re.compile(r"(sweep-[0-9]{8}-[0-9]{3,})-([0-9]{1,9})")
_BEFORE_ALL = ("", -1)
_SAME = ("old_type", "new_type", "given_type", "confidence", "reason", "reviewed_by", "reviewed_at", "review_reason")
_NO_TYPE = "only a flag takes a type"
_MOST_TAGS, _MOST_REFS = 100, 1000
_SURE = 1.0
_LABELS_PAGE = 100
_NONE = "NONE"
_NO_DIRECTION = "none"
_FORWARD = "a_to_b"


async def list_reviews(executor: Executor, namespace: str, query: ReviewQuery) -> ReviewList:
    """Return one page. Raises InvalidInput for a cursor of another query."""
    after = _position(namespace, query)
    found: list[Subject] = []
    if isinstance(after, str):
        found += await _edges(executor, namespace, query, after)
        after = _BEFORE_ALL
    if len(found) <= query.limit:
        found += await _proposals(executor, namespace, query, after, query.limit + 1 - len(found))
    page, next_cursor = cursors.page(namespace, query, found, query.limit, _sort_key)
    return ReviewList(reviews=await reviews_out(executor, namespace, page), next_cursor=next_cursor)


async def review(
    executor: Executor, namespace: str, review_id: str, given: ReviewInput, declared: Declared = NOTHING_DECLARED
) -> ReviewOutput:
    """Decide one review; repeating a decision has no effect.

    An accepted fact replaces older values as an ingested one does. Raises NotFound, InvalidInput, and Conflict if a
    human has decided otherwise before, unless it is revised.
    """
    decision = Decision(given.verdict == "accept", actor_name(), actor.get(), given.reason, given.type, given.revise)
    if given.revise and not given.reason:
        raise InvalidInput("a revision takes a reason", field="$.reason", remedy="Say why the decision is another now.")
    if given.type is not None and not decision.accept:
        raise InvalidInput("only what is accepted takes a type", field="$.type")
    if of_sweep := _OF_SWEEP.fullmatch(review_id):
        proposed = of_sweep[1], int(of_sweep[2])
        done, subject, notes = await _decide_proposal(executor, namespace, *proposed, decision, declared)
    else:
        done, subject, notes = await _decide_edge(executor, namespace, review_id, decision)
    found = await reviews_out(executor, namespace, [subject])
    if not found:
        raise _no_review(namespace)
    if not done:
        _check_same(found[0], decision)
    return ReviewOutput(decided=done, review=found[0], notes=notes)


async def reviews_out(executor: Executor, namespace: str, found: Sequence[Subject]) -> list[ReviewOut]:
    """Return reviews for the wire, each with its items."""
    uids = sorted({uid for subject in found for uid in ends_of(subject)})
    briefs = await causal.items(executor, namespace, uids)
    gone = await reviews.texts(executor, namespace, [uid for uid in uids if uid not in briefs])
    known = briefs | {uid: replace(brief, text=brief.text[:_TEXT_CHARS]) for uid, brief in gone.items()}
    items = {uid: ItemBrief(**asdict(brief)) for uid, brief in known.items()}
    # An item may have been deleted since.
    return [_out(subject, items) for subject in found if all(uid in items for uid in ends_of(subject))]


def ends_of(subject: Subject) -> list[str]:
    """Return the items of a review."""
    if isinstance(subject, StoredEdge):
        return [subject.source, subject.target]
    return subject.items


def state_of(subject: Subject) -> ReviewState:
    """Return a human's decision on it, if any."""
    if isinstance(subject, RecordedChange):
        return _SHOWN[subject.state]
    if subject.state == "accepted":
        return "accepted" if edges.decided(subject) else "unreviewed"
    return "rejected" if subject.state == "rejected" else "open"


def id_of(subject: Subject) -> str:
    """Return its stable id."""
    return subject.edge_id if isinstance(subject, StoredEdge) else f"{subject.sweep_id}-{subject.seq}"


def retyped(stored: Memory, type_: str) -> NewItem | Unchanged:
    """Return the memory with the type that a human has given it, also in its tags.

    Raises InvalidInput if nobody has named a type.
    """
    if type_ == MemoryType.UNKNOWN:
        raise InvalidInput("the sweep proposes no type", field="$.type", remedy="Name the type.")
    text = retagged(stored.text, MemoryType.parse(type_))
    return _changed(stored, replace(stored, type=type_, type_confidence=_SURE, text=text))


def untyped(stored: Memory, flag: RecordedChange) -> NewItem | Unchanged:
    """Return the memory with its type, also in its tags, from before an accepted flag changed it.

    Unchanged if somebody has changed the type again since.
    """
    if stored.type != flag.given_type:
        return Unchanged(stored.uid)
    type_ = MemoryType.parse(flag.old_type or MemoryType.UNKNOWN)
    return _changed(
        stored, replace(stored, type=flag.old_type, type_confidence=None, text=retagged(stored.text, type_))
    )


def joined(kept: Memory, gone: Memory) -> NewItem | Unchanged:
    """Return the fuller of two memories with the tags, evidence and importance of both.

    Details of origin that only the other one has are added.
    """
    # Neither is evidence for the other after the merge.
    refs = dict.fromkeys(ref for ref in (*kept.evidence_refs, *gone.evidence_refs) if ref not in (kept.uid, gone.uid))
    joint = replace(
        kept,
        tags=tuple(dict.fromkeys([*kept.tags, *gone.tags]))[:_MOST_TAGS],
        evidence_refs=tuple(refs)[:_MOST_REFS],
        importance=max(kept.importance or 0, gone.importance or 0) or None,
        domain=gone.domain if kept.domain is None else kept.domain,
        agent=gone.agent if kept.agent is None else kept.agent,
        source=gone.source if kept.source is None else kept.source,
        occurred_at=kept.occurred_at or gone.occurred_at,
    )
    return _changed(kept, joint)


async def labels(executor: Executor, namespace: str) -> AsyncIterator[Label]:
    """Yield a label for each decision, with the current texts.

    A rejected flag labels the stated type.
    """
    query = ReviewQuery(states=["accepted", "rejected"], limit=_LABELS_PAGE)
    while True:
        page = await list_reviews(executor, namespace, query)
        for label in await _labels(executor, namespace, page.reviews):
            yield label
        if page.next_cursor is None:
            return
        query.cursor = page.next_cursor


async def _edges(executor: Executor, namespace: str, query: ReviewQuery, after: str) -> list[StoredEdge]:
    sorts = [sort for sort in query.sorts or _BETWEEN if sort in _BETWEEN]
    if not sorts:
        return []
    states = query.states or ["open"]
    return await edges.edges_to_review(
        executor, namespace, states, sorts=sorts, because=query.because or "", after=after, limit=query.limit + 1
    )


async def _proposals(
    executor: Executor, namespace: str, query: ReviewQuery, after: tuple[str, int], limit: int
) -> list[RecordedChange]:
    actions = [sort for sort in query.sorts or ("flag", "merge", "fact") if sort not in _BETWEEN]
    states = [_STATES[state] for state in query.states or ("open",) if state in _STATES]
    if not actions or not states:
        return []
    return await reviews.proposals(
        executor, namespace, actions, states, because=query.because or "", after=after, limit=limit
    )


async def _decide_edge(executor: Executor, namespace: str, edge_id: str, decision: Decision) -> Outcome:
    if decision.given_type is not None:
        raise InvalidInput(_NO_TYPE, field="$.type")
    if await edges.get_edge(executor, namespace, edge_id) is None:
        succession = await reviews.decide_supersession(executor, namespace, edge_id, decision, rewritten)
        if succession is None:
            raise _no_review(namespace)
        return succession.done, succession.edge, []
    done = await edges.review_edge(
        executor,
        namespace,
        edge_id,
        accept=decision.accept,
        reviewer=decision.by,
        reason=decision.reason,
        revise=decision.revise,
    )
    if done is None:
        raise _no_review(namespace)
    return done.done, done.edge, [CONTRADICTION] if done.contradicts else []


async def _decide_proposal(
    executor: Executor, namespace: str, sweep_id: str, seq: int, decision: Decision, declared: Declared
) -> Outcome:
    def retype(stored: Memory, flag: RecordedChange) -> NewItem | Unchanged:
        return retyped(stored, str(flag.given_type))

    def merge(kept: Memory, gone: Memory) -> NewItem | Unchanged:
        if decision.given_type is not None:
            raise InvalidInput(_NO_TYPE, field="$.type")
        return joined(kept, gone)

    found = await _fact_to_store(executor, namespace, sweep_id, seq, decision, declared)
    stating = reviews.Stating(found.items, proposals(namespace, found))
    done = await reviews.decide(
        executor, namespace, sweep_id, seq, decision, retype=retype, untype=untyped, merge=merge, facts=stating
    )
    if done is None:
        raise _no_review(namespace)
    made = audited(namespace, found) if done.done else []
    return done.done, done.proposal, remarks(made, found.proposed)


async def _fact_to_store(
    executor: Executor, namespace: str, sweep_id: str, seq: int, decision: Decision, declared: Declared
) -> Successions:
    """Return the fact to store after its acceptance and the facts it replaces; nothing for other proposals."""
    proposed = await reviews.proposal(executor, namespace, sweep_id, seq)
    if proposed is None or proposed.fact_id is None:
        return Successions([])
    if decision.given_type is not None:
        raise InvalidInput(_NO_TYPE, field="$.type")
    if not decision.accept:
        return Successions([])
    item = new_fact(namespace, fact_out(proposed), proposed.uid, proposed.confidence)
    return await with_successions(executor, namespace, [item], declared)


def _check_same(out: ReviewOut, decision: Decision) -> None:
    """Refuse a decision other than the existing one."""
    wanted = "accepted" if decision.accept else "rejected"
    merged = out.sort == "merge" and out.state == "accepted"
    if out.state != wanted or decision.given_type not in (None, out.given_type):
        raise Conflict(
            f"{out.reviewed_by or 'a human'} has decided about this before: it is {out.state}",
            field="$.verdict",
            remedy="Its texts are in the history of the memory that was kept."
            if merged
            else "Revise it, with a reason.",
        )


def _out(subject: Subject, items: dict[str, ItemBrief]) -> ReviewOut:
    item, *other = (items[uid] for uid in ends_of(subject))
    stored = asdict(subject)
    sort = _sort_of(subject)
    return ReviewOut(
        review_id=id_of(subject),
        sort=sort,
        state=state_of(subject),
        item=item,
        other=other[0] if other else None,
        edge=edge_out(subject) if isinstance(subject, StoredEdge) and sort == _EDGE else None,
        fact=fact_out(subject) if isinstance(subject, RecordedChange) and subject.fact_id else None,
        run_id=stored.get("run_id") if isinstance(subject, StoredEdge) else subject.sweep_id,
        **{name: stored.get(name) for name in _SAME},
    )


def _sort_of(subject: Subject) -> ReviewSort:
    if isinstance(subject, StoredEdge):
        return "supersede" if subject.type == edges.SUPERSEDES else "edge"
    if subject.fact_id:
        return "fact"
    return "merge" if subject.action == "merge" else "flag"


def _sort_key(subject: Subject) -> list[str]:
    return [subject.edge_id] if isinstance(subject, StoredEdge) else [subject.sweep_id, str(subject.seq)]


def _position(namespace: str, query: ReviewQuery) -> str | tuple[str, int]:
    """Return the edge, or the proposal of a sweep, after which the page begins."""
    match cursors.decode(namespace, query, query.cursor) if query.cursor else [""]:
        case [edge_id]:
            return edge_id
        case [sweep_id, seq] if seq.isdigit():
            return sweep_id, int(seq)
    raise cursors.invalid()


def _no_review(namespace: str) -> NotFound:
    return NotFound(f"namespace {namespace!r} has no such review", field="review_id")


def _changed(stored: Memory, wanted: Memory) -> NewItem | Unchanged:
    return Unchanged(stored.uid) if wanted == stored else rewritten(wanted)


async def _labels(executor: Executor, namespace: str, found: Sequence[ReviewOut]) -> list[Label]:
    uids = sorted({item.uid for out in found for item in (out.item, out.other) if item is not None})
    texts = await reviews.texts(executor, namespace, uids)
    made = [_label(namespace, out, texts) for out in found if out.item.uid in texts]
    return [label for label in made if label is not None]


def _label(namespace: str, review: ReviewOut, texts: Mapping[str, Brief]) -> Label | None:
    text = texts[review.item.uid].text
    other = texts.get(review.other.uid) if review.other else None
    if review.sort == "fact":
        return None
    if review.sort == "flag":
        return _type_label(namespace, review, text)
    if other is None:
        return None
    if review.sort == "merge":
        return MergeLabel(text_a=text, text_b=other.text, same=review.state == "accepted", **_common(namespace, review))
    return _causal_label(namespace, review, text, other.text)


def _type_label(namespace: str, review: ReviewOut, text: str) -> TypeLabel | None:
    type_ = review.given_type if review.state == "accepted" else review.old_type
    if type_ is None:
        return None
    return TypeLabel(type=type_, text=text, proposed=review.new_type, **_common(namespace, review))


def _causal_label(namespace: str, review: ReviewOut, text_a: str, text_b: str) -> CausalLabel | None:
    if review.edge is None:
        return None
    relation = review.edge.type if review.state == "accepted" else _NONE
    directed = relation not in (_NONE, "RELATES_TO")
    return CausalLabel(
        text_a=text_a,
        text_b=text_b,
        relation=relation,
        acceptable=[relation],
        direction=_FORWARD if directed else _NO_DIRECTION,
        pair_kind="reviewed",
        proposed=review.edge.type,
        method=review.edge.method,
        signal=[quote for quote in (review.edge.source_quote, review.edge.target_quote) if quote],
        **_common(namespace, review),
    )


def _common(namespace: str, review: ReviewOut) -> dict[str, Any]:
    return {
        "id": f"{namespace}/{review.review_id}",
        "repo": namespace,
        "confidence": review.confidence,
        "reviewed_by": review.reviewed_by or "",
        "reviewed_at": review.reviewed_at,
        "reason": review.review_reason,
    }
