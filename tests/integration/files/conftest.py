"""Small source trees, and a Librarian that knows them."""

import pytest

from librarian.files.contracts import FindFileInput, SearchTextInput


@pytest.fixture(autouse=True)
async def clean(executor, namespace):
    """Leave nothing behind that waits for vectors: other tests would make them."""
    yield
    await executor.driver.execute_query("MATCH (n) WHERE n.namespace = $namespace DETACH DELETE n", namespace=namespace)


@pytest.fixture
def tree(tmp_path):
    """Writes files given as path -> text or bytes; gives the folder."""
    root = tmp_path / "tree"
    root.mkdir()

    def write(files=None, **more):
        for path, content in {**(files or {}), **more}.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return write


@pytest.fixture
def find(librarian, namespace):
    async def run(query, limit=10):
        return (await librarian.find_file(namespace, FindFileInput(name=query, limit=limit))).paths

    return run


@pytest.fixture
def grep(librarian, namespace):
    """Lines that match, as (path, line), in their order."""

    async def run(query, **options):
        found = await librarian.search_text(namespace, SearchTextInput(query=query, **options))
        return [(hit.path, hit.line) for hit in found.hits]

    return run
