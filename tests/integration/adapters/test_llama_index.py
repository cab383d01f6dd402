"""A retriever that LlamaIndex's query engines ask."""

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from librarian.adapters.llama_index import LibrarianRetriever
from librarian.client import LibrarianClient

ROWS = [
    {"kind": "memory", "uid": "seats", "text": "Ada prefers window seats.", "tags": ["travel"], "importance": 7},
    {"kind": "memory", "uid": "tea", "text": "Ada drinks green tea.", "attributes": {"cups": 3}},
    {"kind": "message", "uid": "said", "text": "Bo asked for window seats too.", "author": "Bo"},
]


async def test_nodes_are_what_a_search_finds(service, namespace):
    """In both worlds; filters choose, the metadata says where a node is from, and an engine answers with it."""
    with LibrarianClient(**service.access) as client:
        client.ingest(ROWS, namespace=namespace)
    service.encode()
    async with LibrarianRetriever(namespace, similarity_top_k=1, **service.access) as retriever:
        (node,) = await retriever.aretrieve("Which seats does Ada prefer?")
    assert (node.id_, node.text, node.metadata["importance"]) == ("seats", "Ada prefers window seats.", 7)
    assert 0 < node.score <= 1
    with LibrarianRetriever(namespace, filters={"kinds": ["message"]}, **service.access) as retriever:
        assert [node.metadata["author_name"] for node in retriever.retrieve("window seats")] == ["Bo"]
        engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
        assert [node.id_ for node in engine.query("window seats").source_nodes] == ["said"]
