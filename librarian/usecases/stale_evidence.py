"""Facts and memories whose evidence in files does not stand any more."""

from typing import cast

from graph.citations import list_stale
from graph.executor import Executor
from librarian.contracts.files import StaleEvidence, StaleList, StaleQuery, StaleState


async def stale_evidence(executor: Executor, namespace: str, query: StaleQuery) -> StaleList:
    """Citations whose lines were changed, are gone, or were never found, by path and line."""
    found = await list_stale(executor, namespace, query.limit + 1)
    stale = [
        StaleEvidence(
            uid=one.uid,
            kind=one.kind,
            name=one.name,
            ref=one.ref,
            path=one.path,
            start=one.start_line,
            end=one.end_line,
            state=cast("StaleState", one.state.value),
            since=one.stale_since,
            content=one.text,
        )
        for one in found[: query.limit]
    ]
    return StaleList(namespace=namespace, stale=stale, more=len(found) > query.limit)
