"""LlamaIndex: a retriever over all items."""

from typing import Any

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("LlamaIndex is missing: install librarian[llama-index]") from missing

from librarian.adapters.connection import Connected, Connection, Steps, ask
from librarian.adapters.records import metadata_of
from librarian.items.contracts import Filters
from librarian.search.contracts import SearchInput


class LibrarianRetriever(Connected, BaseRetriever):
    """Searches `namespace` of a service and returns the best `similarity_top_k` items (up to 50) as nodes.

    `filters` are those of a search, by name. `url`, `api_key` and `options` are those of `LibrarianClient`. A node's id
    is the item's uid, its score the similarity (0 to 1, null without a vector), its metadata the hit's other fields.
    """

    def __init__(
        self,
        namespace: str,
        *,
        similarity_top_k: int = 10,
        filters: dict[str, Any] | None = None,
        url: str | None = None,
        api_key: str | None = None,
        **options: Any,
    ) -> None:
        self._namespace = namespace
        self._limit = similarity_top_k
        self._filters = Filters(**filters) if filters else None
        self._connection = Connection(url, api_key, **options)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._connection.run(self._found(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._connection.arun(self._found(query_bundle))

    def _found(self, query: QueryBundle) -> Steps[list[NodeWithScore]]:
        asked = SearchInput(queries=[query.query_str], limit=self._limit, filters=self._filters)
        found = yield from ask("search", self._namespace, asked)
        return [
            NodeWithScore(
                node=TextNode(id_=hit.uid, text=hit.content, metadata=metadata_of(hit)), score=hit.similarity_score
            )
            for hit in found.results
        ]
