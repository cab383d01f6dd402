"""A LangGraph store: keeps what outlives one thread, and finds it by meaning and by words.

Every item is a memory. Its searchable text is built from the value's fields; its attributes hold the value itself, the
namespace and the key.
"""

import asyncio
import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from librarian.adapters.connection import Connected, Connection, Steps, ask
from librarian.adapters.records import MAX_HITS, delete, field_tags, item_or_none, keep, listed
from librarian.items.contracts import Filters, ItemOut, ItemQuery, MemoryIn
from librarian.search.contracts import Hit, SearchInput

_MARK = "langgraph"
_LONGEST_PATH = 400
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class LibrarianStore(Connected, BaseStore):
    """A store in `namespace` of a service; `url`, `api_key` and `options` are those of `LibrarianClient`.

    `fields` are the paths of a value whose texts are searched, by default all of it; `index` of a put overrides them,
    and with `index=False` only the key is searched. A search with a query returns 50 items at most, scored by
    similarity (0 to 1; null for items that have no vector yet). The service evaluates filters for equality; other
    comparisons apply to the 50 best. Without a query the newest come first.

    The puts of one batch are one transaction. Putting an equal value changes nothing; a different one leaves a
    revision of the old. Deleted items may be put again.

    `ttl` of a put, or `default_ttl` of `ttl`, lets an item expire: from then on it is neither returned nor found, and
    sweeps purge it. Reads extend it only on request (`refresh_ttl=True`, or `refresh_on_read` of `ttl`), because that
    changes the item and leaves a revision.
    """

    supports_ttl = True

    def __init__(
        self,
        namespace: str,
        *,
        url: str | None = None,
        api_key: str | None = None,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        **options: Any,
    ) -> None:
        self._namespace = namespace
        self._fields = fields
        self.ttl_config = {"refresh_on_read": False, **(ttl or {})}
        self._connection = Connection(url, api_key, **options)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations: reads first, then writes."""
        ops = list(ops)
        results = [self._connection.run(self._read(op)) for op in ops]
        self._connection.run(self._write(ops))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations: reads first, concurrently, then writes."""
        ops = list(ops)
        results = list(await asyncio.gather(*(self._connection.arun(self._read(op)) for op in ops)))
        await self._connection.arun(self._write(ops))
        return results

    def _read(self, op: Op) -> Steps[Result]:
        validate_op_namespace(op)
        match op:
            case GetOp():
                found = yield from item_or_none(self._namespace, _uid(op.namespace, op.key))
                if found is None or _expired(found):
                    return None
                yield from self._refresh(op, [found])
                return Item(**_stored(found))
            case SearchOp(query=str(query)) if query.strip():
                return (yield from self._searched(op, query))
            case SearchOp():
                return (yield from self._listed(op))
            case ListNamespacesOp():
                return (yield from self._namespaces(op))
            case PutOp():
                return None
        raise ValueError(f"no store knows this operation: {op}")

    def _searched(self, op: SearchOp, query: str) -> Steps[list[SearchItem]]:
        wanted = op.offset + op.limit
        found = yield from ask(
            "search",
            self._namespace,
            SearchInput(
                queries=[query],
                limit=MAX_HITS if op.filter else max(1, min(MAX_HITS, wanted)),
                filters=Filters(**_selection(op)),
                explain=True,
            ),
        )
        hits: list[tuple[ItemOut | Hit, float | None]] = []
        for hit in found.results:
            same = yield from self._same_text(hit)
            hits += [(each, hit.similarity_score) for each in (hit, *same)]
        hits = [hit for hit in hits if _passes(op, *_key_of(hit[0])[:1], _value_of(hit[0]))][op.offset : wanted]
        yield from self._refresh(op, [item for item, _ in hits])
        return [SearchItem(**_stored(item), score=score) for item, score in hits]

    def _same_text(self, hit: Hit) -> Steps[list[ItemOut]]:
        """Return the duplicates under other keys that a search merged into a hit."""
        merged = hit.explanation.merged_duplicates if hit.explanation else []
        found: list[ItemOut] = []
        for uid in merged:
            item = yield from item_or_none(self._namespace, uid)
            found += [] if item is None or _expired(item) else [item]
        return found

    def _listed(self, op: SearchOp) -> Steps[list[SearchItem]]:
        found = yield from listed(
            self._namespace,
            ItemQuery(**_selection(op)),
            most=op.offset + op.limit,
            accept=lambda item: _passes(op, *_key_of(item)[:1], _value_of(item)),
        )
        yield from self._refresh(op, found[op.offset :])
        return [SearchItem(**_stored(item)) for item in found[op.offset :]]

    def _refresh(self, op: GetOp | SearchOp, items: Iterable[ItemOut | Hit]) -> Steps[None]:
        """Extend the lifetime of expiring items where the operation asks for it."""
        for item in items if op.refresh_ttl else ():
            minutes = _attributes(item).get("ttl")
            if minutes is not None:
                yield from ask("patch_item", self._namespace, item.uid, {"expires_at": _end(minutes)})

    def _namespaces(self, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        conditions = op.match_conditions or ()
        paths = [_path_tag(each.path) for each in conditions if each.match_type == "prefix" and "*" not in each.path]
        query = ItemQuery(kinds=["memory"], tags=[_MARK, *filter(None, paths)])
        items = yield from listed(self._namespace, query)
        namespaces = {_key_of(item)[0] for item in items}
        matching = {namespace for namespace in namespaces if all(_matches(each, namespace) for each in conditions)}
        return sorted({namespace[: op.max_depth] for namespace in matching})[op.offset : op.offset + op.limit]

    def _write(self, ops: Iterable[Op]) -> Steps[None]:
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        rows = [(_uid(*key), self._row(op, op.value)) for key, op in puts.items() if op.value is not None]
        yield from delete(self._namespace, [_uid(*key) for key, op in puts.items() if op.value is None])
        if len(rows) == 1:
            yield from ask("put_item", self._namespace, *rows[0])
        elif rows:
            yield from keep(self._namespace, rows)

    def _row(self, op: PutOp, value: Mapping[str, Any]) -> MemoryIn:
        kept = {} if op.ttl is None else {"ttl": op.ttl}
        paths = {_path_tag(op.namespace[:depth]): None for depth in range(1, len(op.namespace) + 1)}
        return MemoryIn(
            text=self._text(op, value),
            domain=".".join(op.namespace)[:_LONGEST_PATH],
            tags=[_MARK, *filter(None, paths), *field_tags(value)],
            source=_MARK,
            attributes={"namespace": json.dumps(op.namespace), "key": op.key, "value": json.dumps(dict(value)), **kept},
            expires_at=None if op.ttl is None else _end(op.ttl),
        )

    def _text(self, op: PutOp, value: Mapping[str, Any]) -> str:
        if op.index is False:
            return op.key
        paths = self._fields if op.index is None else op.index
        texts = (text for path in paths for text in ([_said(value)] if path == "$" else get_text_at_path(value, path)))
        return "\n".join(text for text in texts if text.strip()) or op.key


def _uid(namespace: tuple[str, ...], key: str) -> str:
    return f"lg-{hashlib.sha256(json.dumps([namespace, key]).encode()).hexdigest()[:32]}"


def _end(minutes: float) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


def _expired(item: ItemOut) -> bool:
    """Return whether an item has expired; until it is purged, it can still be read by uid."""
    end = item.properties.get("expires_at")
    return end is not None and datetime.fromisoformat(end) <= datetime.now(UTC)


def _path_tag(path: Sequence[str]) -> str | None:
    """Return the tag of everything below `path`; None for the root. Labels contain no full stop."""
    joined = ".".join(path)
    if len(joined) > _LONGEST_PATH:
        joined = hashlib.sha256(joined.encode()).hexdigest()
    return f"namespace:{joined}" if joined else None


def _selection(op: SearchOp) -> dict[str, Any]:
    """Return service filters that keep at least everything the operation asks for."""
    below = _path_tag(op.namespace_prefix)
    return {"kinds": ["memory"], "tags": [_MARK, *([below] if below else []), *field_tags(op.filter or {})]}


def _value_of(item: ItemOut | Hit) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(_attributes(item)["value"])
    return value


def _key_of(item: ItemOut | Hit) -> tuple[tuple[str, ...], str]:
    attributes = _attributes(item)
    return tuple(json.loads(attributes["namespace"])), attributes["key"]


def _attributes(item: ItemOut | Hit) -> dict[str, Any]:
    attributes: dict[str, Any] = item.attributes if isinstance(item, Hit) else item.properties["attributes"]
    return attributes


def _stored(item: ItemOut | Hit) -> dict[str, Any]:
    """Return the arguments of an Item."""
    namespace, key = _key_of(item)
    updated = item.updated_at if isinstance(item, Hit) else datetime.fromisoformat(item.properties["updated_at"])
    return {
        "namespace": namespace,
        "key": key,
        "value": _value_of(item),
        "created_at": item.created_at,
        "updated_at": updated or item.created_at,
    }


def _passes(op: SearchOp, namespace: tuple[str, ...], value: Mapping[str, Any]) -> bool:
    below = namespace[: len(op.namespace_prefix)] == op.namespace_prefix
    return below and all(_equals(value.get(name), wanted) for name, wanted in (op.filter or {}).items())


def _equals(value: Any, wanted: Any) -> bool:
    """Compare as stores do: `$` begins an operator; objects are compared by the given fields only."""
    match wanted:
        case dict() if any(name.startswith("$") for name in wanted):
            return all(_compares(value, name, other) for name, other in wanted.items())
        case dict():
            return isinstance(value, dict) and all(_equals(value.get(name), each) for name, each in wanted.items())
        case list() | tuple():
            return (
                isinstance(value, list)
                and len(value) == len(wanted)
                and all(_equals(left, right) for left, right in zip(value, wanted, strict=True))
            )
    return bool(value == wanted)


def _compares(value: Any, name: str, other: Any) -> bool:
    if name in ("$eq", "$ne"):
        return bool(value == other) is (name == "$eq")
    if name not in _COMPARISONS:
        raise ValueError(f"Unsupported operator: {name}")
    try:
        return _COMPARISONS[name](float(value), float(other))
    except (TypeError, ValueError):  # not comparable
        return False


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path, parts = condition.path, namespace
    if condition.match_type == "suffix":
        path, parts = path[::-1], parts[::-1]
    return len(parts) >= len(path) and all(wanted in ("*", part) for wanted, part in zip(path, parts, strict=False))


def _said(value: Any) -> str:
    """Return the texts of a value, one line per field; a single text stands alone."""
    lines = list(_lines("", value))
    return lines[0][1] if len(lines) == 1 else "\n".join(f"{name}: {text}" if name else text for name, text in lines)


def _lines(name: str, value: Any) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for key, each in value.items():
                yield from _lines(str(key).replace("_", " "), each)
        case list() | tuple():
            for each in value:
                yield from _lines(name, each)
        case None | "":
            return
        case _:
            yield name, str(value)
