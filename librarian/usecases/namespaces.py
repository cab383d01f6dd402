"""Namespaces: which there are, and deleting one, in two steps."""

import hashlib
from collections.abc import Callable
from typing import cast

import msgspec

from graph import namespaces as graph
from graph.executor import Executor
from graph.importing import end_import
from graph.namespaces import Holdings
from librarian.contracts.changes import DeleteCounts, DeleteOutput, PreviewItem
from librarian.contracts.fields import Kind
from librarian.contracts.namespaces import NamespaceList, NamespaceOut
from librarian.errors import Conflict, NotFound

_SAMPLE = 10


async def list_namespaces(executor: Executor, allowed: Callable[[str], bool]) -> NamespaceList:
    """The namespaces that hold items and that are `allowed`, by name."""
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
    """A preview, or with its token the deletion. Raises NotFound, and Conflict when the token is of another state."""
    held = await graph.holdings(executor, namespace)
    if not held.by_kind and not await graph.exists(executor, namespace):
        raise NotFound(f"there is no namespace {namespace!r}", field="namespace")
    token = _token(namespace, held)
    if confirm_token is None:
        return await _preview(executor, namespace, held, token)
    if confirm_token != token:
        raise Conflict(
            "the namespace changed since the preview; nothing was deleted",
            field="$.confirm_token",
            remedy="Ask for a new preview and send its token.",
        )
    await graph.delete_namespace(executor, namespace)
    await end_import(executor, namespace)
    return DeleteOutput(deleted=True, counts=_counts(held))


async def _preview(executor: Executor, namespace: str, held: Holdings, token: str) -> DeleteOutput:
    sample = await graph.sample(executor, namespace, _SAMPLE)
    briefs = [PreviewItem(uid=uid, kind=cast("Kind", kind), name=name) for uid, kind, name in sample]
    return DeleteOutput(deleted=False, counts=_counts(held), sample=briefs, confirm_token=token)


def _counts(held: Holdings) -> DeleteCounts:
    return DeleteCounts(
        items=sum(held.by_kind.values()),
        by_kind=cast("dict[Kind, int]", dict(held.by_kind)),
        edges=held.edges,
        evidence_links=held.evidence_links,
        revisions=held.revisions,
        embeddings=held.embeddings,
    )


def _token(namespace: str, held: Holdings) -> str:
    """A digest of the namespace's state. Its vectors are left out: the worker adds them without anybody's order."""
    state = [namespace, held.edges, held.evidence_links, held.revisions, held.by_kind, held.marks]
    return hashlib.sha256(msgspec.json.encode(state, order="deterministic")).hexdigest()[:32]
