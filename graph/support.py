"""Support of facts and memories: which are unsupported, since when, and why.

An item rests on the items it cites (EVIDENCED_BY), and on lines of files as long as they stand. A source ceases to
stand when it ends, is superseded, is corrected (its words change by anything but a sweep), is forgotten, or becomes
unsupported itself. An item is unsupported from the moment its last source ceased to stand; one that cites nothing
stands by itself, and items that cite only each other never had support that could cease. Causal edges are not support:
what led to something says nothing about whether the text about it is true.

Whatever changes a source labels it `Unsettled`; `settle` judges the items that rest on it, in the same transaction.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any

from graph.executor import Executor, Row, Transaction
from graph.tombstones import forgotten_refs
from graph.types import FOREVER, Impact, Impacted, LedTo, Loss, LossReason, native

_BY_SWEEP = re.compile(r"(undo |review of )?sweep-\d{8}-\d+")
_LED_TO = 50
Run = Callable[[str, Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Source:
    """An item that is cited. `own`: how it ceased to stand by itself; `inherited`: the loss of its last judgement,
    which counts unless it is judged again.
    """

    uid: str
    own: Loss | None = None
    inherited: Loss | None = None


@dataclass(frozen=True, slots=True)
class Resting:
    """An item with its sources; `forgotten`: the loss of those that were forgotten; `stands`: lines of files support
    it.
    """

    uid: str
    kind: str = ""
    name: str = field(default="", repr=False)
    sources: Sequence[Source] = ()
    forgotten: Loss | None = None
    stands: bool = False


def judged(items: Mapping[str, Resting], forgotten: Mapping[str, Loss] | None = None) -> dict[str, Loss | None]:
    """Return for each item the loss that leaves it unsupported, or None.

    `items` must include everything that cites one of them. `forgotten` are uids to treat as lost in that way. Support
    lasts as long as the best way to something that stands by itself: the widest path, found from its end as in
    Dijkstra's algorithm.
    """
    gone = forgotten or {}
    resting = {uid: item for uid, item in items.items() if not item.stands and (item.sources or item.forgotten)}
    queue = [way for item in resting.values() for way in _first_ways(item, resting, gone)]
    citers: dict[str, list[tuple[str, Loss | None]]] = {}
    for item in resting.values():
        for source in item.sources:
            citers.setdefault(source.uid, []).append((item.uid, gone.get(source.uid, source.own)))
    heapify(queue)
    found: dict[str, Loss | None] = {}
    while queue:
        *_, uid, loss = heappop(queue)
        if uid in found:
            continue
        found[uid] = loss
        for citer, own in citers.get(uid, ()):
            if citer not in found:
                heappush(queue, _way(citer, uid, own, loss))
    return {uid: found.get(uid) for uid in items}


_Way = tuple[float, int, tuple[str, ...], str, str, Loss | None]


def _first_ways(item: Resting, resting: Mapping[str, Resting], gone: Mapping[str, Loss]) -> Iterable[_Way]:
    """Yield the support of an item that is known without judging other items."""
    if item.forgotten is not None:
        yield _queued(item.uid, item.forgotten)
    for source in item.sources:
        if source.uid not in resting:
            yield _way(item.uid, source.uid, gone.get(source.uid, source.own), source.inherited)


def _way(uid: str, source: str, own: Loss | None, inherited: Loss | None) -> _Way:
    """Return the support from one source: it lasts until the source, or what that rests on, ceases to stand."""
    if own is not None and (inherited is None or own.since <= inherited.since):
        return _queued(uid, Loss(own.since, own.reason, (source,)))
    if inherited is not None:
        return _queued(uid, Loss(inherited.since, inherited.reason, (source, *inherited.way)))
    return _queued(uid, None)


def _queued(uid: str, loss: Loss | None) -> _Way:
    """Order the longest-lasting support first, then the shortest way."""
    if loss is None:
        return (-FOREVER.timestamp(), 0, (), "", uid, None)
    return (-loss.since.timestamp(), len(loss.way), tuple(loss.way), loss.reason.value, uid, loss)


async def settle(transaction: Transaction, namespace: str) -> None:
    """Judge again everything that rests on what has changed in this transaction."""
    taken = await transaction.run("take_unsettled", {"namespace": namespace})
    changed = [row["uid"] for row in taken]
    if not changed:
        return
    rows = await _resting_on(transaction.run, namespace, changed)
    marks = judged({row["uid"]: _resting(row) for row in rows})
    written = [row for row in (_mark(row, marks[row["uid"]]) for row in rows) if row is not None]
    if written:
        await transaction.run("put_support", {"namespace": namespace, "rows": written})
    await transaction.run("mark_stated", {"namespace": namespace, "uids": changed, "forever": FOREVER})


async def miss_forgotten(transaction: Transaction, namespace: str, cited: Mapping[str, Collection[str]]) -> None:
    """Record the loss for written items (references by uid) that cite something already forgotten; `settle` judges
    them. Citations of something never seen wait for it.
    """
    gone = set(await forgotten_refs(transaction, namespace, {ref for refs in cited.values() for ref in refs}))
    if gone:
        uids = [uid for uid, refs in cited.items() if not gone.isdisjoint(refs)]
        await transaction.run("miss_forgotten", {"namespace": namespace, "uids": uids, "refs": sorted(gone)})


async def impact_of(executor: Executor, namespace: str, uids: Collection[str], now: Any) -> Impact:
    """Return the items left unsupported if `uids` ceased to stand `now`, and those that keep other support."""
    rows = await _resting_on(executor.fetch_all, namespace, uids)
    items = {row["uid"]: _resting(row) for row in rows}
    before = judged(items)
    after = judged(items, {uid: Loss(now, LossReason.FORGOTTEN, ()) for uid in uids})
    others = [item for item in items.values() if item.uid not in uids and not _lost(before[item.uid], now)]
    unsupported = [
        _impacted(item, loss) for item in others if (loss := after[item.uid]) is not None and _lost(loss, now)
    ]
    fallen = {*uids, *(item.uid for item in unsupported)}
    kept = [
        _impacted(item, None)
        for item in others
        if item.uid not in fallen and any(source.uid in fallen for source in item.sources)
    ]
    params = {"namespace": namespace, "uids": sorted(fallen), "limit": _LED_TO}
    (row,) = await executor.fetch_all("names_of_impact", params)
    return Impact(
        sorted(unsupported, key=lambda item: (len(item.way), item.uid)),
        sorted(kept, key=lambda item: item.uid),
        [LedTo(*led) for led in row["leads_to"]],
    )


def _lost(loss: Loss | None, now: Any) -> bool:
    return loss is not None and loss.since <= now


def _impacted(item: Resting, loss: Loss | None) -> Impacted:
    return Impacted(item.uid, item.kind, item.name, () if loss is None else loss.way)


async def _resting_on(run: Run, namespace: str, uids: Iterable[str]) -> list[Row]:
    """Return the rows of the items, and of everything that cites them, at any distance."""
    reached: set[str] = set(uids)
    layer = sorted(reached)
    while layer:
        rows = await run("citers_of", {"namespace": namespace, "uids": layer})
        layer = sorted({row["uid"] for row in rows} - reached)
        reached.update(layer)
    found: list[Row] = await run("read_support", {"namespace": namespace, "uids": sorted(reached), "forever": FOREVER})
    return found


def _resting(row: Row) -> Resting:
    # The way ends before a forgotten item, whose uid is gone.
    forgotten = Loss(native(row["lost_at"]), LossReason.FORGOTTEN, ()) if row["lost"] else None
    sources = [_source(source) for source in row["sources"]]
    return Resting(row["uid"], row["kind"], row["name"] or "", sources, forgotten, row["lines"])


def _source(row: Mapping[str, Any]) -> Source:
    # A superseded fact ends where the newer one begins or, if that is unknown, when that was stored.
    superseded, ended = native(row["superseded_at"]), native(row["valid_to"])
    own = _corrected(row)
    if superseded is not None:
        own = _earlier(own, Loss(ended or superseded, LossReason.SUPERSEDED, ()))
    elif ended is not None:
        own = _earlier(own, Loss(ended, LossReason.ENDED, ()))
    return Source(row["uid"], own, _loss_of(row))


def _earlier(first: Loss | None, other: Loss) -> Loss:
    return other if first is None or other.since <= first.since else first


def _corrected(row: Mapping[str, Any]) -> Loss | None:
    """Return the loss of a source that says something else than when it was cited; a sweep only sorts its words into
    sections.
    """
    texts = [_plain(text) for text, *_ in row["said"]] + [_plain(row["text"])]
    if texts[0] == texts[-1]:
        return None
    for index, (_, reason, changed_at) in enumerate(row["said"]):
        if texts[index] != texts[index + 1] and not _BY_SWEEP.fullmatch(reason or ""):
            return Loss(native(changed_at), LossReason.CORRECTED, ())
    return None


def _plain(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _loss_of(row: Mapping[str, Any]) -> Loss | None:
    return None if row["ends"] is None else Loss(native(row["ends"]), LossReason(row["because"]), tuple(row["way"]))


def _mark(row: Row, loss: Loss | None) -> Row | None:
    """Return the marks to write on an item; None if they are there already."""
    ends = native(row["valid_to"])
    if loss is not None and ends is not None and ends <= loss.since:
        loss = None  # it had ended before its support did
    if loss == _loss_of(row):
        return None
    values = (None, None, None) if loss is None else (loss.since, loss.reason.value, list(loss.way))
    return {
        "uid": row["uid"],
        **dict(zip(("ends", "because", "way"), values, strict=True)),
        "lost": row["lost"] or None,
    }
