"""Reviews as callers see them: lists of what sweeps propose, and decisions about it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, replace

from graph import causal, edges, reviews
from graph.edges import StoredEdge
from graph.executor import Executor
from graph.reviews import Decision, Proposal
from graph.types import AsIs, NewItem, StoredItem
from librarian import cursors
from librarian.contracts.causal import ItemBrief
from librarian.contracts.reviews import ReviewInput, ReviewList, ReviewOut, ReviewOutput, ReviewQuery, ReviewState
from librarian.errors import Conflict, InvalidInput, NotFound
from librarian.usecases.edges import CONTRADICTION, edge_out
from librarian.usecases.review_changes import joined, retyped

Subject = StoredEdge | Proposal
Outcome = tuple[bool, Subject, list[str]]

_EDGE = "edge"
_STATES: dict[ReviewState, str] = {"open": reviews.OPEN, "accepted": "accepted", "rejected": "rejected"}
_SHOWN: dict[str, ReviewState] = {stored: shown for shown, stored in _STATES.items()}
_TEXT_CHARS = 300
_OF_SWEEP = re.compile(r"(sweep-[0-9]{8}-[0-9]{3,})-([0-9]{1,9})")
_BEFORE_ALL = ("", -1)
_SAME = ("old_type", "new_type", "given_type", "confidence", "reason", "reviewed_by", "reviewed_at", "review_reason")
_NO_TYPE = "only a flag takes a type"


async def list_reviews(executor: Executor, namespace: str, query: ReviewQuery) -> ReviewList:
    """One page. Raises InvalidInput for a cursor of another query."""
    after = _position(query)
    found: list[Subject] = []
    if isinstance(after, str):
        found += await _edges(executor, namespace, query, after)
        after = _BEFORE_ALL
    if len(found) <= query.limit:
        found += await _proposals(executor, namespace, query, after, query.limit + 1 - len(found))
    page = found[: query.limit]
    return ReviewList(
        reviews=await reviews_out(executor, namespace, page),
        next_cursor=cursors.encode(query, _place(page[-1])) if len(found) > len(page) else None,
    )


async def review(executor: Executor, namespace: str, review_id: str, given: ReviewInput, reviewer: str) -> ReviewOutput:
    """Decide about one. The same decision again changes nothing.

    Raises NotFound, InvalidInput, and Conflict where a human has decided otherwise before.
    """
    decision = Decision(given.verdict == "accept", reviewer, given.reason, given.type)
    if given.type is not None and not decision.accept:
        raise InvalidInput("only what is accepted takes a type", field="$.type")
    if of_sweep := _OF_SWEEP.fullmatch(review_id):
        proposed = of_sweep[1], int(of_sweep[2])
        done, subject, notes = await _decide_proposal(executor, namespace, *proposed, decision)
    else:
        done, subject, notes = await _decide_edge(executor, namespace, review_id, decision)
    found = await reviews_out(executor, namespace, [subject])
    if not found:
        raise _no_review(namespace)
    if not done:
        _check_same(found[0], decision)
    return ReviewOutput(decided=done, review=found[0], notes=notes)


async def reviews_out(executor: Executor, namespace: str, found: Sequence[Subject]) -> list[ReviewOut]:
    """Reviews for the wire, each with the items that it is about."""
    uids = sorted({uid for one in found for uid in ends_of(one)})
    briefs = await causal.items(executor, namespace, uids)
    gone = await reviews.texts(executor, namespace, [uid for uid in uids if uid not in briefs])
    known = briefs | {uid: replace(one, text=one.text[:_TEXT_CHARS]) for uid, one in gone.items()}
    items = {uid: ItemBrief(**asdict(brief)) for uid, brief in known.items()}
    # An item may have been deleted since.
    return [_out(one, items) for one in found if all(uid in items for uid in ends_of(one))]


def ends_of(one: Subject) -> list[str]:
    """The items that a review is about."""
    if isinstance(one, StoredEdge):
        return [one.source, one.target]
    return [one.uid, *([one.properties["target"]] if "target" in one.properties else ())]


def state_of(one: Subject) -> ReviewState:
    """What a human has said of it, if anything."""
    if isinstance(one, Proposal):
        return _SHOWN[one.properties["state"]]
    if one.state == "accepted":
        return "accepted" if edges.decided(one) else "unreviewed"
    return "rejected" if one.state == "rejected" else "open"


def id_of(one: Subject) -> str:
    """Its stable id."""
    return one.edge_id if isinstance(one, StoredEdge) else f"{one.sweep_id}-{one.seq}"


async def _edges(executor: Executor, namespace: str, query: ReviewQuery, after: str) -> list[StoredEdge]:
    if query.sorts is not None and _EDGE not in query.sorts:
        return []
    states = query.states or ["open"]
    return await edges.edges_to_review(executor, namespace, states, after=after, limit=query.limit + 1)


async def _proposals(
    executor: Executor, namespace: str, query: ReviewQuery, after: tuple[str, int], limit: int
) -> list[Proposal]:
    actions = [sort for sort in query.sorts or ("flag", "merge") if sort != _EDGE]
    states = [_STATES[state] for state in query.states or ("open",) if state in _STATES]
    if not actions or not states:
        return []
    return await reviews.proposals(executor, namespace, actions, states, after=after, limit=limit)


async def _decide_edge(executor: Executor, namespace: str, edge_id: str, decision: Decision) -> Outcome:
    if decision.given_type is not None:
        raise InvalidInput(_NO_TYPE, field="$.type")
    done = await edges.review_edge(
        executor, namespace, edge_id, accept=decision.accept, reviewer=decision.by, reason=decision.reason
    )
    if done is None:
        raise _no_review(namespace)
    return done.done, done.edge, [CONTRADICTION] if done.contradicts else []


async def _decide_proposal(executor: Executor, namespace: str, sweep_id: str, seq: int, decision: Decision) -> Outcome:
    def retype(stored: StoredItem, flag: Proposal) -> NewItem | AsIs:
        return retyped(namespace, stored, flag.properties["given_type"])

    def merge(kept: StoredItem, gone: StoredItem) -> NewItem | AsIs:
        if decision.given_type is not None:
            raise InvalidInput(_NO_TYPE, field="$.type")
        return joined(namespace, kept, gone)

    done = await reviews.decide(executor, namespace, sweep_id, seq, decision, retype=retype, merge=merge)
    if done is None:
        raise _no_review(namespace)
    return done.done, done.proposal, []


def _check_same(out: ReviewOut, decision: Decision) -> None:
    """Refuse another decision than the one that stands."""
    wanted = "accepted" if decision.accept else "rejected"
    if out.state != wanted or decision.given_type not in (None, out.given_type):
        raise Conflict(
            f"{out.reviewed_by or 'a human'} has decided about this before: it is {out.state}",
            field="$.verdict",
            remedy="Change the edge or memory itself.",
        )


def _out(one: Subject, items: dict[str, ItemBrief]) -> ReviewOut:
    item, *other = (items[uid] for uid in ends_of(one))
    stored = one.properties
    return ReviewOut(
        review_id=id_of(one),
        sort="edge" if isinstance(one, StoredEdge) else stored["action"],
        state=state_of(one),
        item=item,
        other=other[0] if other else None,
        edge=edge_out(one) if isinstance(one, StoredEdge) else None,
        run_id=stored.get("run_id") if isinstance(one, StoredEdge) else one.sweep_id,
        **{name: stored.get(name) for name in _SAME},
    )


def _place(one: Subject) -> list[str]:
    return [one.edge_id] if isinstance(one, StoredEdge) else [one.sweep_id, str(one.seq)]


def _position(query: ReviewQuery) -> str | tuple[str, int]:
    """Behind which edge, or which proposal of a sweep, the page begins."""
    match cursors.decode(query, query.cursor) if query.cursor else [""]:
        case [edge_id]:
            return edge_id
        case [sweep_id, seq] if seq.isdigit():
            return sweep_id, int(seq)
    raise InvalidInput("this is no cursor of a list of reviews", field="$.cursor")


def _no_review(namespace: str) -> NotFound:
    return NotFound(f"namespace {namespace!r} has no such review", field="review_id")
