"""A namespace that holds one of everything, and files of namespaces."""

import io
from collections.abc import Awaitable, Callable

import pytest

from librarian.items.contracts import LinkInput
from librarian.sweep.contracts import ReviewInput, ReviewQuery, SweepRequest

ROWS = [
    {"kind": "message", "uid": "m1", "message_id": "m1", "conversation_id": "c", "author": "Ada",
     "text": "The deploy failed 京都?", "sent_at": "2026-03-01T09:00:00.123456Z", "position": 1},
    {"kind": "message", "message_id": "m2", "conversation_id": "c", "author": "Bo", "text": "Rolled back.",
     "sent_at": "2026-03-01T09:05:00+02:00", "position": 2, "caption": "a chart"},
    {"kind": "fact", "uid": "old", "text": "Ada lives in Bonn.", "person_id": "ada", "fact_type": "home",
     "valid_from": "2020-01-01T00:00:00Z"},
    {"kind": "fact", "uid": "new", "subject": "Ada", "predicate": "lives in", "object": "Kyoto", "person_id": "ada",
     "attributes": {"since": 2026}, "confidence": 1.0, "valid_from": "2026-01-01T00:00:00Z", "supersedes": ["old"],
     "evidence": ["m1", "file:src/billing.py#L1-L2", "file:src/gone.py#L1-L1"]},
    {"kind": "fact", "uid": "waiting", "text": "Bo is away.", "evidence": ["m-not-yet"]},
    {"kind": "memory", "uid": "cause", "text": "Verbose logging was switched on in export_job.py on Monday.",
     "occurred_at": "2026-03-01T00:00:00Z", "importance": 3, "agent": "ada", "tags": ["ops", "logs"]},
    {"kind": "memory", "uid": "problem", "text": "Problem: the nightly export failed, error: disk quota exceeded on "
     "/var/exports. This was caused by the verbose logging in export_job.py.", "occurred_at": "2026-03-02T00:00:00Z"},
    {"kind": "memory", "uid": "vague", "text": "Blue, mostly."},
    {"kind": "edge", "source": "m1", "target": "problem", "type": "RELATES_TO", "confidence": 0.5, "reason": "a"},
]  # fmt: skip
CODE = b"def bill():\n    return 1\n\n\nclass Invoice:\n    pass\n"

Exported = Callable[..., Awaitable[bytes]]


@pytest.fixture
async def everything(librarian, ingest, namespace):
    """Items of every kind, a file with definitions, evidence, citations, history, edges in each state, and a sweep."""
    await librarian.put_file(namespace, "src/billing.py", CODE)
    await librarian.put_file(namespace, "src/blank.py", b"\n\n")
    report = await ingest(*ROWS, embed=False)
    assert report.failed == 0
    await librarian.patch_item(namespace, "vague", {"text": "Green, mostly.", "importance": 9})
    swept = await librarian.sweep(namespace, SweepRequest())
    assert swept.changes
    await librarian.link(namespace, LinkInput(source="vague", type="BLOCKS", target="cause", source_quote="Green"))
    for review in (await librarian.list_reviews(namespace, ReviewQuery())).reviews[:1]:
        await librarian.review(namespace, review.review_id, ReviewInput(verdict="reject", reason="no"))
    await librarian.embed_pending()
    return namespace


@pytest.fixture
def exported(librarian) -> Exported:
    """The bytes of an export; it is exact, as nobody else writes there."""

    async def run(*namespaces: str, vectors: bool = False) -> bytes:
        file = io.BytesIO()
        report = await librarian.export_into(file, list(namespaces), vectors=vectors)
        assert report.exact
        assert report.bytes == len(file.getvalue())
        return file.getvalue()

    return run


@pytest.fixture
def imported(librarian):
    """Imports bytes."""

    async def run(content: bytes, into: str | None = None, **options):
        return await librarian.import_from(io.BytesIO(content), into, **options)

    return run


@pytest.fixture
def emptied(librarian):
    """Deletes a namespace."""

    async def run(namespace: str) -> None:
        preview = await librarian.delete_namespace(namespace)
        await librarian.delete_namespace(namespace, preview.confirm_token)

    return run
