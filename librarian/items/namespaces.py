"""Lists namespaces, and deletes one in two steps."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from graph import namespaces as graph
from graph.executor import Executor
from graph.importing import end_import
from graph.namespaces import Snapshot
from graph.types import Cascade
from librarian.base.errors import Conflict, NotFound
from librarian.base.fields import Kind
from librarian.items.contracts import DeleteOutput, NamespaceList, NamespaceOut, PreviewItem
from librarian.items.deletion import counts_of

_SAMPLE = 10


async def list_namespaces(executor: Executor, allowed: Callable[[str], bool]) -> NamespaceList:
    """Return the `allowed` namespaces that hold items, by name."""
    found = [counts for counts in await graph.list_namespaces(executor) if allowed(counts.namespace)]
    return NamespaceList(
        namespaces=[
            NamespaceOut(
                namespace=counts.namespace,
                items=sum(counts.by_kind.values()),
                by_kind=cast("dict[Kind, int]", dict(counts.by_kind)),
                pending_embeddings=counts.pending,
            )
            for counts in found
        ]
    )


async def delete_namespace(executor: Executor, namespace: str, confirm_token: str | None) -> DeleteOutput:
    """Preview the deletion, or carry it out with the preview's token. Raises NotFound, and Conflict if the state has
    changed since.
    """
    # Anything written after this read is kept; anything written before it changes the token.
    seen = await graph.take_snapshot(executor, namespace)
    held, marks = await graph.holdings(executor, namespace)
    if not held.by_kind and not await graph.exists(executor, namespace):
        raise NotFound(f"there is no namespace {namespace!r}", field="namespace")
    token = _token(namespace, held, marks, seen)
    if confirm_token is None:
        return await _preview(executor, namespace, held, token)
    if confirm_token != token:
        raise Conflict(
            "the namespace changed since the preview; nothing was deleted",
            field="$.confirm_token",
            remedy="Ask for a new preview and send its token.",
        )
    gone, kept = await graph.delete_snapshot(executor, namespace, seen)
    await end_import(executor, namespace)
    return DeleteOutput(deleted=True, counts=counts_of(gone), kept=kept)


async def _preview(executor: Executor, namespace: str, held: Cascade, token: str) -> DeleteOutput:
    sample = await graph.sample(executor, namespace, _SAMPLE)
    briefs = [PreviewItem(uid=uid, kind=cast("Kind", kind), name=name) for uid, kind, name in sample]
    return DeleteOutput(deleted=False, counts=counts_of(held), sample=briefs, confirm_token=token)


def _token(namespace: str, held: Cascade, marks: Sequence[Any], seen: Snapshot) -> str:
    """Return a digest of the namespace's state, without vectors, which the worker adds on its own."""
    state = [namespace, held.edges, held.evidence_links, held.revisions, held.by_kind, marks, seen.files]
    return hashlib.sha256(msgspec.json.encode(state, order="deterministic")).hexdigest()[:32]
