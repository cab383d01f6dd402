"""The context pack: lines to give a model about a question."""

from collections.abc import Mapping, Sequence

from graph.executor import Executor
from graph.item import Fact, Item
from graph.search import Turns, hydrate, turns_beside
from librarian.items.reading import open_end
from librarian.search.answer import moment_of
from librarian.search.contracts import ContextInput, ContextItem, ContextOutput, MemoryHit, RelevantOutput
from librarian.search.relevant import author_of
from retrieval.answering import Verdict
from retrieval.context import HasUid, citation_ids
from retrieval.extractive import supporting
from retrieval.pack import Block, Line, Pack, only_asks, packed, says_too_little
from retrieval.tokens import ESTIMATE

_ORDERS = "{n} hits that give orders to their reader were left out"
_NO_ROOM = "{n} of {all} hits found no room in {tokens} tokens"


async def context_pack(executor: Executor, found: RelevantOutput, asked: ContextInput) -> ContextOutput:
    """Return the best of `found` as lines within the budget, with the turns needed to understand them."""
    hits = [hit for hit in found.hits if hit.verdict != Verdict.COMMANDS.value]
    turns, others = await _around(executor, found.namespace, hits)
    ids = _ids(hits, turns, others)
    blocks = [_block(hit, ids, turns.get(hit.uid), others) for hit in hits]
    supported = bool(supporting(hits, found.query, moment_of(found)))
    pack = packed(blocks, asked.max_tokens, supported=supported)
    return ContextOutput(
        namespace=found.namespace,
        query=found.query,
        text=pack.text,
        tokens=pack.tokens,
        max_tokens=asked.max_tokens,
        counted_by=ESTIMATE,
        supported=supported,
        items=_items(pack, ids, hits),
        arms=found.arms,
        reranked=found.reranked,
        notes=[*found.notes, *_remarks(found, hits, pack, ids, asked.max_tokens)],
    )


async def _around(
    executor: Executor, namespace: str, hits: Sequence[MemoryHit]
) -> tuple[Mapping[str, Turns], Mapping[str, Item]]:
    """Return the turns beside hits that need them to be understood, and the items that replace others, by uid."""
    unclear = [hit.uid for hit in hits if hit.kind == "message" and _is_unclear(hit.content)]
    later = {hit.superseded_by for hit in hits if hit.superseded_by} - {hit.uid for hit in hits}
    turns = await turns_beside(executor, namespace, unclear) if unclear else {}
    others = await hydrate(executor, namespace, sorted(later)) if later else []
    return turns, {item.uid: item for item in others}


def _is_unclear(text: str) -> bool:
    return says_too_little(text) or only_asks(text)


def _ids(hits: Sequence[MemoryHit], turns: Mapping[str, Turns], others: Mapping[str, Item]) -> dict[str, str]:
    """Return the citation id of each item, by uid."""
    beside = [item for near in turns.values() for item in (*near.before, *near.after)]
    all_there_is: list[HasUid] = [*hits, *beside, *others.values()]
    named = list({each.uid: each for each in all_there_is}.values())
    return dict(zip([each.uid for each in named], citation_ids(named), strict=True))


def _block(hit: MemoryHit, ids: Mapping[str, str], near: Turns | None, others: Mapping[str, Item]) -> Block:
    line = Line(
        id=ids[hit.uid],
        text=hit.content,
        when=hit.sent_at,
        author=hit.author_name,
        passage=hit.passage,
        ends=hit.valid_to,
        replaced_by=ids.get(hit.superseded_by or ""),
        unsupported=f"{hit.unsupported.because} {hit.unsupported.since:%Y-%m-%d}" if hit.unsupported else None,
    )
    replacement = others.get(hit.superseded_by or "")
    later = [] if replacement is None else [replacement]
    if near is None:
        return Block(line, after=[_line(item, ids) for item in later])
    before = near.before if says_too_little(hit.content) else []
    after = near.after if only_asks(hit.content) else []
    return Block(line, [_line(item, ids) for item in before], [_line(item, ids) for item in (*after, *later)])


def _line(item: Item, ids: Mapping[str, str]) -> Line:
    ends = open_end(item.valid_to) if isinstance(item, Fact) else None
    return Line(id=ids[item.uid], text=item.text, when=item.occurred_at, author=author_of(item), ends=ends)


def _items(pack: Pack, ids: Mapping[str, str], hits: Sequence[MemoryHit]) -> list[ContextItem]:
    uids = {cited: uid for uid, cited in ids.items()}
    found = {hit.uid for hit in hits}
    return [ContextItem(id=cited, uid=uids[cited], hit=uids[cited] in found) for cited in pack.ids]


def _remarks(
    found: RelevantOutput, hits: Sequence[MemoryHit], pack: Pack, ids: Mapping[str, str], max_tokens: int
) -> list[str]:
    remarks = []
    if orders := len(found.hits) - len(hits):
        remarks.append(_ORDERS.format(n=orders))
    if missing := sum(ids[hit.uid] not in pack.ids for hit in hits):
        remarks.append(_NO_ROOM.format(n=missing, all=len(hits), tokens=max_tokens))
    return remarks
