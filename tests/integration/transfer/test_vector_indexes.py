"""The vector index of a space that an import fills is built once, at its end."""

import base64
import io
from array import array

import pytest

from graph.search import VectorQuery, vector_candidates
from graph.spaces import built_at_once, drop_space, index_state
from graph.types import ItemFilter, NewSpace
from librarian.transfer.contracts import FORMAT, VERSION, HeaderRow, Holding, NamespaceRow, SpaceRow
from librarian.transfer.reading import PORTION_ROWS, latest_schema
from librarian.transfer.writing import ExportWriter

ITEMS = PORTION_ROWS + 1
VECTORS = [[1.0, 0.0], [0.0, 1.0]]


@pytest.fixture
async def space(executor, namespace):
    """A space that no encoder has, gone afterwards with its vectors."""
    name = namespace.replace("-", "_")
    yield name
    await drop_space(executor, name)


@pytest.fixture
def content(space, namespace):
    """An export of two portions, with vectors of the space."""
    file = io.BytesIO()
    writer = ExportWriter(file, compress=False)
    facts = {"format": FORMAT, "version": VERSION, "librarian": "0.1.0", "schema": latest_schema(), "vectors": True}
    made = SpaceRow(space=space, model="made up", dimension=2, text_form="t", normalised=True, revision="r")
    holding = Holding(namespace=namespace, items={"memory": ITEMS})
    writer.head(HeaderRow(**facts, spaces=[made], namespaces=[holding]))
    writer.head(NamespaceRow(namespace=namespace))
    writer.rows("item", [item(n, space) for n in range(ITEMS)])
    writer.finish()
    return file.getvalue()


def item(n, space):
    vector = base64.b64encode(array("f", VECTORS[n % 2]).tobytes()).decode()
    passage = {"space": space, "role": "passage", "ordinal": 0, "vector": vector}
    return {"uid": f"k{n:05}", "kind": "memory", "properties": {"text": f"text {n}"}, "vectors": [passage]}


async def is_found(executor, namespace, space):
    """Whether the last item is, by its vector."""
    query = VectorQuery(space, VECTORS[(ITEMS - 1) % 2])
    found = await vector_candidates(executor, ItemFilter(namespace), query, ITEMS)
    return f"k{ITEMS - 1:05}" in [candidate.uid for candidate in found]


async def test_the_index_waits_for_all_vectors(executor, namespace, space, content, imported):
    """There is none while an empty space is filled; afterwards it is ONLINE, finds them, and stays when more come."""
    made = NewSpace(space, "made up", 2, "t", normalised=True, revision="r")
    async with built_at_once(executor, [made]):
        assert await index_state(executor, space) == "MISSING"
    assert await index_state(executor, space) == "ONLINE"
    await imported(content)
    assert await is_found(executor, namespace, space)
    async with built_at_once(executor, [made]):
        assert await index_state(executor, space) == "ONLINE"


@pytest.mark.parametrize("killed", [False, True])
async def test_an_import_that_was_interrupted_ends_with_an_index(executor, namespace, space, content, imported, killed):
    """Stopped after a portion it builds the index of what came; killed it leaves none, and whoever goes on makes it."""

    def stop(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await imported(content, on_progress=stop)
    assert await index_state(executor, space) in ("POPULATING", "ONLINE")
    if killed:
        await executor.run_schema("drop_space_index", space=space)
    report = await imported(content)
    assert report.resumed
    assert await index_state(executor, space) == "ONLINE"
    assert await is_found(executor, namespace, space)
