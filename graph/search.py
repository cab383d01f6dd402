"""Candidates of both arms, and their texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from graph.executor import Executor
from graph.item import Fact, Item, Memory, Message, item_of
from graph.tokens import required_clause
from graph.types import (
    FOREVER,
    UNKNOWN_TIME,
    Candidate,
    Cause,
    Evidence,
    ItemFilter,
    Kind,
    PoolRow,
    native,
    time_of,
)

INDEX_ROWS = 10_000
"""The server's limit on the rows of a vector index, whatever is asked (measured with 2026.09: 20,000 gave 10,000)."""

ALL_ROWS = 2**31 - 1
"""Every row of a full-text index, which has no such limit: the largest number that its LIMIT takes."""

_KINDS = {kind.value: kind for kind in Kind}
# Above every string that Neo4j compares by code point.
_LAST_STRING = "\U0010ffff"
_FIRST_STRING = ""


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """Safe Lucene terms for each full-text index; None skips that index."""

    english: str | None = None
    cjk: str | None = None
    files: str | None = None

    @property
    def empty(self) -> bool:
        """Whether no index is queried."""
        return self.english is None and self.cjk is None and self.files is None


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """A unit vector of one embedding space (its id)."""

    space: str
    vector: Sequence[float] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Look:
    """Result of one statement for a query: the rows of its arms, and the ranking data of the items that pass the
    filters, with their cosines to its vectors except those that the vector arm returned.
    """

    candidates: Sequence[Candidate]
    rows: Sequence[PoolRow]


async def hybrid_candidates(
    executor: Executor,
    where: ItemFilter,
    vector: VectorQuery,
    keyword: KeywordQuery,
    k: int,
    beside: VectorQuery | None = None,
) -> Look:
    """Return up to `k` rows of the vector arm and of each queried full-text index, in one statement; cosines are those
    to `vector` and to `beside`, another vector of the same space.
    """
    params = _params(where) | _keyword_params(where, keyword) | {"vector": list(vector.vector), "k": k}
    params["vectors"] = [params["vector"]] if beside is None else [params["vector"], list(beside.vector)]
    name = "search_hybrid"
    if _needs_index_filters(where):
        name, params = "search_hybrid_filtered", params | _index_params(where)
    found = await executor.fetch_list(name, params, space=vector.space, dimension=len(vector.vector))
    candidates, rows = [], []
    for ranks, *described in found:
        row = _measured_row(*described) if described else None
        if row is not None or not described:
            uid, keep = ("", False) if row is None else (row.uid, True)
            candidates += [Candidate(arm, uid, score, keep) for arm, score in ranks]
        if row is not None:
            rows.append(row)
    return Look(candidates, rows)


def _measured_row(*described: Any) -> PoolRow | None:
    """Return the row of an item with the best cosine of its vectors to each query, or None."""
    *values, cosines = described
    return _pool_row(values, [max(column) for column in zip(*cosines, strict=True)])


async def vector_candidates(executor: Executor, where: ItemFilter, vector: VectorQuery, k: int) -> list[Candidate]:
    """Return up to `k` rows of the vector arm."""
    params = _params(where) | _index_params(where) | {"vector": list(vector.vector), "k": k}
    return _ranked(await executor.fetch_list("search_vector", params, space=vector.space))


async def keyword_candidates(executor: Executor, where: ItemFilter, keyword: KeywordQuery, k: int) -> list[Candidate]:
    """Return up to `k` rows of each queried full-text index."""
    params = _params(where) | _keyword_params(where, keyword) | {"k": k}
    return _ranked(await executor.fetch_list("search_keyword", params))


async def vector_candidates_deeper(
    executor: Executor, where: ItemFilter, vector: VectorQuery, *, k: int, limit: int
) -> list[Candidate]:
    """Return the best `limit` items that pass `where` among the `k` (at most INDEX_ROWS) nearest embeddings."""
    params = _params(where) | _index_params(where) | {"vector": list(vector.vector), "k": k, "limit": limit}
    return _candidates(await executor.fetch_list("search_vector_deeper", params, space=vector.space))


async def vector_candidates_exact(
    executor: Executor, where: ItemFilter, vector: VectorQuery, *, limit: int
) -> list[Candidate]:
    """Return the best `limit` of all items that pass `where` and have a vector, found without the vector index."""
    params = _params(where) | {"vector": list(vector.vector), "limit": limit}
    dimension = len(vector.vector)
    return _candidates(
        await executor.fetch_list("search_vector_exact", params, space=vector.space, dimension=dimension)
    )


async def keyword_candidates_deeper(
    executor: Executor, where: ItemFilter, keyword: KeywordQuery, *, k: int, limit: int
) -> list[Candidate]:
    """Return for each queried full-text index the best `limit` items that pass `where` among its first `k` rows; with
    ALL_ROWS among all its items that contain a word of the query.
    """
    params = _params(where) | _keyword_params(where, keyword) | {"k": k, "limit": limit}
    return _candidates(await executor.fetch_list("search_keyword_deeper", params))


async def hydrate(executor: Executor, namespace: str, uids: Sequence[str]) -> list[Item]:
    """Return items with their evidence, in no particular order; uids of other namespaces are not found."""
    rows = await executor.fetch_list("hydrate_items", {"namespace": namespace, "uids": list(uids)})
    return [found_item(row) for row in rows if _is_whole(row["item"])]


async def as_known(executor: Executor, namespace: str, items: Sequence[Item], known_at: datetime) -> list[Item]:
    """Return those of `items` that were on file at `known_at`, as they were then, in the same order. Marks of their
    support are left out, since they are today's.
    """
    params = {"namespace": namespace, "uids": [item.uid for item in items], "known_at": known_at}
    then = {row["uid"]: row for row in await executor.fetch_all("items_then", params)}
    return [_then(item, then[item.uid]) for item in items if item.uid in then]


def _then(item: Item, row: Mapping[str, Any]) -> Item:
    was: Item = item if row["was"] is None else item_of(row["was"], item.evidence, item.led_by)
    if isinstance(was, Fact):
        end = None if row["valid_to"] is None else native(row["valid_to"])
        return replace(was, created_at=item.created_at, valid_to=end, support_ends=None)
    if isinstance(was, Memory):
        return replace(was, created_at=item.created_at, support_ends=None)
    return replace(was, replaced_by=None, replaced_at=None) if isinstance(was, Message) else was


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns before and after a message, in its session of its conversation: at most one each."""

    before: Sequence[Item]
    after: Sequence[Item]


async def turns_beside(executor: Executor, namespace: str, uids: Sequence[str]) -> dict[str, Turns]:
    """Return the turns around messages by uid, for those that have some."""
    rows = await executor.fetch_all("turns_beside", {"namespace": namespace, "uids": list(uids)})
    return {row["uid"]: Turns(_items(row["before"]), _items(row["after"])) for row in rows}


def _items(nodes: Sequence[Mapping[str, Any]]) -> list[Item]:
    return [item_of(node) for node in nodes if _is_whole(node)]


async def pool_rows(
    executor: Executor,
    namespace: str,
    unscored: Mapping[str, Sequence[int]],
    *,
    vectors: Sequence[VectorQuery],
    known_at: datetime | None = None,
) -> list[PoolRow]:
    """Return the ranking data of candidates, in no particular order.

    `unscored` maps each uid to the indexes in `vectors` (all of one space) whose cosine is wanted. With `known_at`
    texts and ends are those on file then.
    """
    params: dict[str, Any] = {"namespace": namespace, "known_at": known_at}
    if not vectors:
        found = await executor.fetch_list("pool_traits_only", params | {"uids": list(unscored)})
        return [row for values in found if (row := _pool_row(values, ())) is not None]
    params["rows"] = [{"uid": uid, "queries": list(queries)} for uid, queries in unscored.items()]
    params["vectors"] = [list(query.vector) for query in vectors]
    dimension = len(vectors[0].vector)
    found = await executor.fetch_list("pool_traits", params, space=vectors[0].space, dimension=dimension)
    # Lists of the database hold no null: a missing vector is -2, which is no cosine.
    scored = [(values, [None if cosine < -1.5 else cosine for cosine in cosines]) for *values, cosines in found]
    return [row for values, cosines in scored if (row := _pool_row(values, cosines)) is not None]


async def items_of_small_namespace(executor: Executor, where: ItemFilter, limit: int) -> list[str] | None:
    """Return the uids of all items that pass `where`; None for a namespace of `limit` items or more."""
    params = _params(where) | {"limit": limit}
    held, *uids = await executor.fetch_list("items_of_small_namespace", params)
    return None if int(held) >= limit else uids


async def list_authors(executor: Executor, namespace: str, limit: int) -> list[str]:
    """Return at most `limit` authors of messages in `namespace`."""
    rows = await executor.fetch_all("list_authors", {"namespace": namespace, "limit": limit})
    return [row["author"] for row in rows]


def _params(where: ItemFilter) -> dict[str, Any]:
    """Return parameters of the fragment `item_filters`."""
    return filter_params(where) | {"held_from": where.held_from, "held_to": where.held_to}


def filter_params(where: ItemFilter) -> dict[str, Any]:
    """Return parameters of the fragment `item_conditions`, and `as_of`."""
    return {
        "namespace": where.namespace,
        "kinds": [kind.value for kind in where.kinds],
        "types": _listed(where.types),
        "authors": _listed(where.authors),
        "conversation_id": where.conversation_id,
        "session_id": where.session_id,
        "person_id": where.person_id,
        "domain": where.domain,
        "tags": _listed(where.tags),
        "agent": where.agent,
        "path_prefix": where.path_prefix,
        "occurred_from": where.occurred_from or UNKNOWN_TIME,
        "occurred_to": where.occurred_to or FOREVER,
        "unknown_time": UNKNOWN_TIME,
        "as_of": where.as_of,
        "known_at": where.known_at,
        "expired": where.expired,
        "resembling": where.resembling,
    }


def _listed(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _needs_index_filters(where: ItemFilter) -> bool:
    """Return whether the vector index can narrow the search beyond namespace and kind (each range it checks costs
    time).
    """
    narrowing = (
        where.authors,
        where.conversation_id,
        where.domain,
        where.occurred_from,
        where.occurred_to,
        where.as_of,
    )
    return any(value is not None for value in narrowing)


def _index_params(where: ItemFilter) -> dict[str, Any]:
    """Return bounds for the filters of the vector index, which takes one range per property, and no null."""
    authors = sorted(where.authors) if where.authors else None
    return {
        "author_from": authors[0] if authors else _FIRST_STRING,
        "author_to": authors[-1] if authors else _LAST_STRING,
        "conversation_from": where.conversation_id or _FIRST_STRING,
        "conversation_to": where.conversation_id or _LAST_STRING,
        "domain_from": where.domain or _FIRST_STRING,
        "domain_to": where.domain or _LAST_STRING,
        # Facts that were closed later were open then.
        "valid_after": where.as_of if where.as_of and where.known_at is None else UNKNOWN_TIME,
    }


def _keyword_params(where: ItemFilter, keyword: KeywordQuery) -> dict[str, str | None]:
    required = required_clause(where.namespace, [kind.value for kind in where.kinds], where.authors)

    def clause(terms: str | None) -> str | None:
        return None if terms is None else f"{required} +({terms})"

    files = keyword.files if Kind.FILE_CHUNK in where.kinds else None
    return {"english": clause(keyword.english), "cjk": clause(keyword.cjk), "files": clause(files)}


def _ranked(rows: Sequence[Sequence[Any]]) -> list[Candidate]:
    """Return the candidates of statements that list each item with its ranks."""
    return [
        Candidate(arm, uid, float(score), bool(keep))
        for uid, ranks, keep in rows
        if uid is not None
        for arm, score in ranks
    ]


def _candidates(rows: Sequence[Sequence[Any]]) -> list[Candidate]:
    return [Candidate(arm, uid, float(score), bool(keep)) for arm, uid, score, keep in rows if uid is not None]


def _is_whole(node: Mapping[str, Any]) -> bool:
    """Return whether the node is still there: one deleted while it is read has null properties."""
    return all(node.get(name) is not None for name in ("uid", "text"))


def _pool_row(values: Sequence[Any], cosines: Sequence[float | None]) -> PoolRow | None:
    """Return the row of a candidate; None if it was deleted while it was read."""
    *plain, kind, when, ends, falls, subject, predicate, sources, text = values
    if plain[0] is None or kind is None or text is None:
        return None
    # Times come as text: the driver takes 40 us for each, and a search has hundreds.
    times = (
        None if when is None else time_of(when),
        _open_end(ends),
        None if falls is None else time_of(falls),
    )
    return PoolRow._make((*plain, _KINDS[kind], *times, subject, predicate, sources, text, cosines))


def _open_end(valid_to: str | None) -> datetime | None:
    ends = None if valid_to is None else time_of(valid_to)
    return None if ends is None or ends >= FOREVER else ends


def found_item(row: Mapping[str, Any]) -> Item:
    """Return the item of a row with `item` and `evidence`, and perhaps `led_by`."""
    led_by = [Cause(**cause) for cause in row.get("led_by", ()) if _is_whole(cause)]
    return item_of(row["item"], [_evidence(source) for source in row["evidence"] if _is_whole(source)], led_by)


def _evidence(source: Mapping[str, Any]) -> Evidence:
    return Evidence(
        uid=source["uid"],
        message_id=source["message_id"],
        author_name=source["author_name"],
        text=source["text"],
        sent_at=None if source["sent_at"] is None else time_of(source["sent_at"]),
        path=source["path"],
        start_line=source["start_line"],
        end_line=source["end_line"],
    )


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts that supersede an item (uids), and whether it waits for a vector of the active space or was refused one;
    `unread` is its language if that space's encoder does not read it.
    """

    superseded_by: Sequence[str]
    pending: bool
    refused: bool
    unread: str | None


async def standing_of(executor: Executor, namespace: str, uid: str) -> Standing | None:
    """Return the standing of the item `uid` of `namespace`, or None."""
    row = await executor.fetch_one("item_standing", {"namespace": namespace, "uid": uid})
    return None if row is None else Standing(**row)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An item joined to the item `seed` by an accepted typed edge or an evidence link, in either direction.

    `confidence` (0..1) is the edge's; 1 if it has none.
    """

    seed: str
    uid: str
    relation: str
    confidence: float


async def neighbours(executor: Executor, where: ItemFilter, seeds: Sequence[str], *, limit: int) -> list[Neighbour]:
    """Return for each seed at most `limit` neighbours that pass `where`, most confident first."""
    params = _params(where) | {"uids": list(seeds), "limit": limit}
    rows = await executor.fetch_all("search_neighbours", params)
    return [Neighbour(row["seed"], row["uid"], row["relation"], float(row["confidence"])) for row in rows]


async def causes(executor: Executor, where: ItemFilter, effects: Sequence[str], *, limit: int) -> list[Neighbour]:
    """Return for each effect (`seed`) at most `limit` items that pass `where` and led to it, most confident first."""
    params = _params(where) | {"uids": list(effects), "limit": limit}
    rows = await executor.fetch_all("causes_of_items", params)
    return [Neighbour(row["seed"], row["uid"], row["relation"], float(row["confidence"])) for row in rows]
