"""Reads of a sweep: pages of memories, what may be related to them, and runs with their changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, TypeVar

from graph.executor import Executor, Row
from graph.facts import Succession
from graph.item import Item, Memory, Message, NewItem, item_of, memory_of
from graph.search import filter_params
from graph.types import FOREVER, EdgeType, ItemFilter, Kind, native

Position = tuple[str, str]
FIRST: Position = ("0001-01-01T00:00:00Z", "")

Status = Literal["applying", "applied", "undoing", "undone"]
Refusal = Literal["changed", "deleted"]
Method = Literal["rule", "llm"]
EdgeState = Literal["accepted", "proposed"]
Action = Literal["retype", "template", "causal_edge", "flag", "merge", "expire", "fact"]
ChangeState = Literal["applied", "proposed", "undone", "kept", "accepted", "rejected"]
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Scope:
    """The memories that a sweep considers; None means any."""

    where: ItemFilter
    domains: Sequence[str] | None = None
    min_importance: int | None = None


@dataclass(frozen=True, slots=True)
class SweptMemory:
    """One memory of a page; `reviewed`: a human has decided on a proposal about it; `proposed`: open proposals of
    earlier sweeps.
    """

    item: Memory
    position: Position
    reviewed: bool
    proposed: frozenset[str]


@dataclass(frozen=True, slots=True)
class KnownPair:
    """The edges between two memories, in either direction; `human`: a human drew or reviewed one of them."""

    types: frozenset[str]
    human: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from the memory `memory_id` to `target_id`, to draw or to propose if both still have these versions. The
    quotes are literal parts of the two texts; `model` is the language model that judged, if any.
    """

    memory_id: str
    version: int
    target_id: str
    target_version: int
    edge_id: str
    type: EdgeType
    state: EdgeState
    confidence: float
    reason: str = field(repr=False)
    source_quote: str = field(repr=False)
    target_quote: str = field(repr=False)
    method: Method = "rule"
    model: str | None = None

    @property
    def causal(self) -> bool:
        """Whether it claims a cause, an obstacle or a condition."""
        return self.type is not EdgeType.RELATES_TO

    @property
    def needs(self) -> dict[str, int]:
        """The memories that it was planned on, with their versions."""
        return {self.memory_id: self.version, self.target_id: self.target_version}


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact `fact_id` that the message `memory_id` states in the words of `quote`, to store or to propose if the
    message still has this version.
    """

    memory_id: str
    version: int
    fact_id: str
    subject: str = field(repr=False)
    predicate: str = field(repr=False)
    object: str = field(repr=False)
    quote: str = field(repr=False)
    person_id: str | None
    valid_from: datetime | None
    state: EdgeState
    confidence: float
    reason: str
    method: Method = "rule"
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One message of a page; `facts`: ids of all that sweeps have found in it, whatever became of them."""

    item: Message
    position: Position
    facts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A memory to rewrite if it still has `version`; `build` returns its new form."""

    uid: str
    version: int
    build: Callable[[Memory], NewItem] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChange:
    """Entry `seq` of a run's list: a change that the run made to the memory `uid`, or proposes for it, and a human's
    decision on it. It holds names and numbers only: texts stay in the memory, its revisions and its edges, and are
    deleted with them. Only what a message states (`fact_id` and the fields after it) is held here: it is deleted with
    the message. `version` is the memory's after the change; `source` and `target` are the ends of an edge, `target`
    alone the memory that a merge goes into.
    """

    uid: str
    action: Action
    state: ChangeState
    version: int
    sweep_id: str = ""
    seq: int = -1
    confidence: float | None = None
    method: Method | None = None
    old_type: str | None = None
    new_type: str | None = None
    reason: str | None = field(default=None, repr=False)
    model: str | None = None
    relation: str | None = None
    edge_id: str | None = None
    edge_state: EdgeState | None = None
    source: str | None = None
    target: str | None = None
    expires_at: datetime | None = None
    fact_id: str | None = None
    subject: str | None = field(default=None, repr=False)
    predicate: str | None = field(default=None, repr=False)
    object: str | None = field(default=None, repr=False)
    quote: str | None = field(default=None, repr=False)
    person_id: str | None = None
    valid_from: datetime | None = None
    given_type: str | None = None
    reviewed_by: str | None = None
    reviewed_at: datetime | None = None
    review_reason: str | None = field(default=None, repr=False)

    @property
    def items(self) -> list[str]:
        """The items that it concerns."""
        return [self.uid] if self.target is None else [self.source or self.uid, self.target]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Changes to apply together; `facts` holds those to store by uid, `successions` what they may replace. A row is
    kept only if the entry of `needs` at its index, the memories and versions that the change was planned on, still
    holds.
    """

    rewrites: Sequence[Rewrite] = ()
    edges: Sequence[Edge] = ()
    facts: Mapping[str, NewItem] = field(default_factory=dict)
    successions: Sequence[Succession] = ()
    rows: Sequence[RecordedChange] = ()
    needs: Sequence[Mapping[str, int]] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """Outcome of a chunk: indexes of `rows` that now hold, and of those refused with the reason. Edges that already
    existed are in neither.
    """

    done: Sequence[int]
    refused: Mapping[int, Refusal]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the sweep. `config` and `progress` are the caller's text."""

    sweep_id: str
    status: Status
    config: str
    progress: str
    plan_hash: str | None
    actor: str | None
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Undone:
    """Outcome of undoing a page of changes: memories restored, edges removed and proposals withdrawn (by number), facts
    removed, and changes that stay because somebody has changed the result since.
    """

    restored: Sequence[str] = ()
    removed: Sequence[int] = ()
    withdrawn: Sequence[int] = ()
    facts: Sequence[str] = ()
    kept: Sequence[RecordedChange] = ()


# Reading.


async def page(executor: Executor, scope: Scope, *, after: Position, limit: int) -> list[SweptMemory]:
    """Return up to `limit` memories of the scope in the order they were stored, starting after `after`."""
    time, uid = after
    params = _scope_params(scope) | {"after_time": time, "after_uid": uid, "limit": limit}
    return [_swept(row) for row in await executor.fetch_all("sweep_page", params)]


async def messages(executor: Executor, scope: Scope, *, after: Position, limit: int) -> list[ReadMessage]:
    """Return up to `limit` messages of the scope in the order they were stored, starting after `after`."""
    time, uid = after
    params = _scope_params(scope) | {"after_time": time, "after_uid": uid, "limit": limit}
    return [_read(row) for row in await executor.fetch_all("sweep_page", params)]


async def namespaces_to_read(executor: Executor, *, limit: int) -> list[str]:
    """Return up to `limit` namespaces with incoming messages not yet read for facts."""
    return [row["namespace"] for row in await executor.fetch_all("namespaces_to_read", {"limit": limit})]


async def messages_to_read(executor: Executor, namespace: str, *, limit: int) -> list[ReadMessage]:
    """Return up to `limit` incoming messages not yet read for facts."""
    rows = await executor.fetch_all("messages_to_read", {"namespace": namespace, "limit": limit})
    return [_read(row) for row in rows]


async def held_facts(
    executor: Executor, namespace: str, stated: Sequence[tuple[str, str, str]]
) -> set[tuple[str, str, str]]:
    """Return those statements (subject, predicate, object) that a fact already holds, ignoring case."""
    if not stated:
        return set()
    rows = [{"subject": subject, "predicate": predicate, "object": object_} for subject, predicate, object_ in stated]
    params = {"namespace": namespace, "rows": rows, "forever": FOREVER}
    found = await executor.fetch_all("sweep_held_facts", params)
    return {(row["subject"], row["predicate"], row["object"]) for row in found}


async def count(executor: Executor, scope: Scope) -> int:
    """Return the number of memories in the scope."""
    (row,) = await executor.fetch_all("sweep_count", _scope_params(scope))
    return int(row["memories"])


async def aged(
    executor: Executor, where: ItemFilter, older_than: datetime, *, after: str, limit: int
) -> list[tuple[str, int]]:
    """Return up to `limit` items (uid, version) that pass `where`, happened before `older_than`, are not pinned and
    have no end of their own, by uid, starting after `after`.
    """
    params = filter_params(where) | {"older_than": older_than, "after_uid": after, "limit": limit}
    return [(row["uid"], row["version"]) for row in await executor.fetch_all("aged_items", params)]


async def expired_before(executor: Executor, namespace: str, moment: datetime, *, limit: int) -> dict[str, int]:
    """Return version by uid of up to `limit` items that expired before `moment`."""
    params = {"namespace": namespace, "moment": moment, "limit": limit}
    return {row["uid"]: row["version"] for row in await executor.fetch_all("expired_items", params)}


async def count_expired(executor: Executor, namespace: str, moment: datetime) -> int:
    """Return how many items expired before `moment`."""
    (row,) = await executor.fetch_all("count_expired_items", {"namespace": namespace, "moment": moment})
    return int(row["items"])


async def domains(executor: Executor, namespace: str) -> list[str]:
    """Return the domains that memories of `namespace` name."""
    return [row["domain"] for row in await executor.fetch_all("sweep_domains", {"namespace": namespace})]


async def vectors(executor: Executor, namespace: str, uids: Sequence[str], space: str) -> dict[str, Sequence[float]]:
    """Return the vector of each memory's first passage, if it has one in `space`."""
    rows = await executor.fetch_all("sweep_vectors", {"namespace": namespace, "uids": list(uids)}, space=space)
    return {row["uid"]: row["vector"] for row in rows}


async def neighbours(
    executor: Executor, namespace: str, uids: Sequence[str], space: str, k: int
) -> list[tuple[str, str, float]]:
    """Return pairs (memory, nearby memory, cosine), from the `k` vectors nearest to each memory's."""
    params = {"namespace": namespace, "uids": list(uids), "kinds": [Kind.MEMORY.value], "k": k}
    return [
        (uid, other, cosine)
        for uid, other, cosine in await executor.fetch_list("sweep_neighbours", params, space=space)
    ]


async def namesakes(
    executor: Executor, namespace: str, queries: Sequence[tuple[str, str]], *, cjk: bool = False
) -> list[tuple[str, str]]:
    """Return pairs (memory, another that matches words of its Lucene query), by the index for all texts or by the one
    for Chinese, Japanese and Korean.
    """
    if not queries:
        return []
    rows = [{"uid": uid, "words": words} for uid, words in queries]
    params = {"namespace": namespace, "rows": rows}
    if cjk:
        return _pairs(await executor.fetch_list("sweep_namesakes_cjk", params))
    return _pairs(await executor.fetch_list("sweep_namesakes", params))


async def linked(executor: Executor, namespace: str, words: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return pairs (memory, another that supports a fact with it, or whose uid is among its words)."""
    rows = [{"uid": uid, "words": list(said)} for uid, said in words.items()]
    return _pairs(await executor.fetch_list("sweep_linked", {"namespace": namespace, "rows": rows}))


async def notes(
    executor: Executor,
    namespace: str,
    uids: Sequence[str],
    chars: int,
    make: Callable[[str, str, datetime | None, int, bool], N],
) -> list[N]:
    """Return what `make` builds from memories: the first `chars` characters of the text, uid, time, version, and
    whether that is the whole text. Uids that are not memories of `namespace` are left out.
    """
    found = await executor.fetch_list("sweep_notes", {"namespace": namespace, "uids": list(uids), "chars": chars})
    return [make(*row) for row in native(found)]


async def known_pairs(
    executor: Executor, namespace: str, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], KnownPair]:
    """Return the edges between these pairs, for those that have any."""
    params = {"namespace": namespace, "rows": pair_rows(pairs)}
    return known(await executor.fetch_all("sweep_known_pairs", params))


# Runs.


async def next_number(executor: Executor, namespace: str, day: str) -> int:
    """Return the number of the day's next run (`sweep-YYYYMMDD-`)."""
    (row,) = await executor.fetch_all("next_sweep_number", {"namespace": namespace, "day": day})
    return int(row["number"])


async def get(executor: Executor, namespace: str, sweep_id: str) -> Run | None:
    """Return the run, or None."""
    row = await executor.fetch_one("get_sweep", {"namespace": namespace, "sweep_id": sweep_id})
    return None if row is None else Run(**native(row["run"]))


async def list_runs(executor: Executor, namespace: str, *, before: str, limit: int) -> list[Run]:
    """Return up to `limit` runs, newest first, starting before `before`."""
    params = {"namespace": namespace, "before": before, "limit": limit}
    return [Run(**native(row["run"])) for row in await executor.fetch_all("list_sweeps", params)]


async def changes(
    executor: Executor,
    namespace: str,
    sweep_id: str,
    *,
    after: int,
    limit: int,
    states: Sequence[str] | None = None,
) -> list[RecordedChange]:
    """Return up to `limit` changes of a run in order, starting after number `after`."""
    params = {"namespace": namespace, "sweep_id": sweep_id, "after_seq": after, "states": states, "limit": limit}
    rows = await executor.fetch_all("sweep_changes", params)
    return [recorded(row) for row in rows]


def recorded(row: Row) -> RecordedChange:
    """Return a row of uid and properties as an entry of a run's list."""
    stored = native(row["properties"])
    return RecordedChange(uid=row["uid"], **{name: stored[name] for name in _RECORDED if name in stored})


_RECORDED = frozenset(declared.name for declared in fields(RecordedChange)) - {"uid"}


def _swept(row: Row) -> SweptMemory:
    item = memory_of(row["item"])
    return SweptMemory(item, (row["created_at"], item.uid), row["reviewed"], frozenset(row["proposed"]))


def _read(row: Row) -> ReadMessage:
    item: Item = item_of(row["item"])
    if not isinstance(item, Message):
        raise TypeError(f"{item!r} is not a message")
    return ReadMessage(item, (row["created_at"], item.uid), frozenset(row["facts"]))


def _scope_params(scope: Scope) -> dict[str, Any]:
    return filter_params(scope.where) | {
        "domains": None if scope.domains is None else list(scope.domains),
        "min_importance": scope.min_importance,
    }


def _pairs(found: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [(uid, other) for uid, other in found]


def pair_rows(pairs: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the parameters of the statement for known pairs."""
    return [{"source": source, "target": target} for source, target in pairs]


def known(rows: Sequence[Row]) -> dict[tuple[str, str], KnownPair]:
    """Return the rows of that statement as values."""
    return {(row["source"], row["target"]): KnownPair(frozenset(row["types"]), row["human"]) for row in rows}
