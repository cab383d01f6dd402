"""Forgets items: one at once, many after a preview. Forgotten items leave tombstones."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from graph import deletion as graph
from graph.executor import Executor
from graph.ingest import link_order
from graph.search import hydrate
from graph.support import impact_of
from graph.types import Cascade, Provenance
from librarian.base.audit import actor
from librarian.base.errors import Conflict, InvalidInput, PreconditionFailed
from librarian.items.changes import refuse_stale
from librarian.items.contracts import DeleteCounts, DeleteInput, DeleteOutput, Filters, PreviewItem
from librarian.items.filters import item_filter
from librarian.items.reading import no_item, previews

SAMPLE_ITEMS = 10
UNSUPPORTED_ITEMS = 100
_PREVIEW_AGAIN = "Ask for the preview again, without confirm_token."


async def delete_item(
    executor: Executor, namespace: str, uid: str, if_version: int | None, *, forgotten: bool = True
) -> DeleteCounts:
    """Delete one item with everything attached to it; it may return unless `forgotten`. Raises NotFound,
    PreconditionFailed.
    """
    await refuse_stale(executor, namespace, uid, if_version)

    def check(version: int | None) -> None:
        if version is None:
            raise no_item(namespace)
        if if_version not in (None, version):
            raise PreconditionFailed(f"the item is at version {version}", remedy="Read it again before you retry.")

    by = _forgetting() if forgotten else None
    gone = await graph.delete_item(executor, namespace, uid, check, forgotten=by)
    await link_order(executor, namespace)
    return counts_of(gone)


async def delete_items(
    executor: Executor, namespace: str, request: DeleteInput, *, forgotten: bool = True
) -> DeleteOutput:
    """Preview a deletion, or carry out a previewed one; the items may return unless `forgotten`. Raises Conflict if the
    selection is not the previewed one.
    """
    if request.uids is None and not _narrowed(request.filters):
        raise InvalidInput(
            "name uids or at least one filter", field="$.filters", remedy="A whole namespace is deleted as such."
        )
    versions = await _selected(executor, namespace, request)
    token = _token(namespace, request, versions)
    if request.confirm_token is None:
        if not versions:
            return DeleteOutput(deleted=False, counts=DeleteCounts())
        found = await hydrate(executor, namespace, list(versions)[:SAMPLE_ITEMS])
        sample = [PreviewItem(uid=item.uid, kind=item.kind.value, name=item.name) for item in found]
        impact = await impact_of(executor, namespace, versions, datetime.now(UTC))
        return DeleteOutput(
            deleted=False,
            counts=counts_of(await graph.count_cascade(executor, namespace, versions)),
            sample=sorted(sample, key=lambda brief: brief.uid),
            confirm_token=token,
            unsupported=previews(impact.unsupported[:UNSUPPORTED_ITEMS]),
        )
    if request.confirm_token != token:
        raise Conflict("the matching items changed since the preview", field="$.confirm_token", remedy=_PREVIEW_AGAIN)
    gone, kept = await graph.delete_items(executor, namespace, versions, forgotten=_forgetting() if forgotten else None)
    await link_order(executor, namespace)
    return DeleteOutput(deleted=True, counts=counts_of(gone), kept=kept)


def _narrowed(filters: Filters | None) -> bool:
    """Return whether any filter is set besides `expired`, which deletions always imply."""
    return filters is not None and bool(msgspec.to_builtins(msgspec.structs.replace(filters, expired=None)))


async def _selected(executor: Executor, namespace: str, request: DeleteInput) -> dict[str, int]:
    if request.filters is None and request.uids is not None:
        return await graph.versions_of(executor, namespace, request.uids)
    where = replace(item_filter(namespace, request.filters), expired=True)
    return await graph.select_items(executor, where, request.uids)


def counts_of(cascade: Cascade) -> DeleteCounts:
    """Return the counts in their wire form."""
    return DeleteCounts(
        items=sum(cascade.by_kind.values()),
        by_kind={kind.value: items for kind, items in sorted(cascade.by_kind.items())},
        edges=cascade.edges,
        evidence_links=cascade.evidence_links,
        revisions=cascade.revisions,
        embeddings=cascade.embeddings,
    )


def _forgetting() -> Provenance:
    return Provenance("forget", actor.get())


def _token(namespace: str, request: DeleteInput, versions: Mapping[str, int]) -> str:
    """Return a token that is equal only for the same request on the same items at the same versions."""
    asked = msgspec.structs.replace(request, confirm_token=None)
    digest = hashlib.sha256(msgspec.json.encode([namespace, asked], order="deterministic"))
    for uid, version in versions.items():
        digest.update(f"\0{uid}\0{version}".encode())
    return digest.hexdigest()
