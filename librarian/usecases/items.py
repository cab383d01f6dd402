"""One item, whole."""

from graph.executor import Executor
from graph.search import hydrate
from librarian.contracts.items import ItemOut
from librarian.errors import NotFound
from librarian.usecases.search import attributes_of, evidence_of, open_end

_OWN_FIELDS = frozenset(
    {"namespace", "uid", "kind", "name", "text", "occurred_at", "created_at", "version", "valid_to", "attributes"}
)
_INTERNAL = frozenset({"source_hash", "evidence_refs", "supersedes_refs", "tokens", "search_text"})


async def get_item(executor: Executor, namespace: str, uid: str) -> ItemOut:
    """The item `uid` of `namespace`. Raises NotFound, also for an item of another namespace."""
    found = await hydrate(executor, namespace, [uid])
    if not found:
        raise NotFound(f"no item has this uid in namespace {namespace!r}", field="uid")
    properties = dict(found[0].properties)
    own = {name: value for name, value in properties.items() if name not in _OWN_FIELDS | _INTERNAL}
    if (valid_to := open_end(properties.get("valid_to"))) is not None:
        own["valid_to"] = valid_to
    if attributes := attributes_of(properties):
        own["attributes"] = attributes
    return ItemOut(
        uid=found[0].uid,
        kind=found[0].kind.value,
        namespace=namespace,
        name=properties["name"],
        text=properties["text"],
        occurred_at=properties.get("occurred_at"),
        created_at=properties["created_at"],
        version=properties.get("version", 1),
        properties=own,
        evidence=evidence_of(found[0]),
    )
