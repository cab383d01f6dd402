"""What commands ask, of a graph that they open or of a service."""

from collections.abc import Mapping
from typing import Any, Protocol

from librarian.contracts.answer import AnswerInput, AnswerOutput
from librarian.contracts.changes import (
    Correction,
    CorrectOutput,
    DeleteInput,
    DeleteOutput,
    PutOutput,
    RememberInput,
    RevisionList,
)
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery, LinkOutput, UnlinkInput
from librarian.contracts.items import ItemIn, ItemOut, LinkInput
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.contracts.namespaces import NamespaceList
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.search import SearchInput, SearchOutput


class Verbs(Protocol):
    """The verbs that `librarian.service.Librarian` and `librarian.client.AsyncLibrarianClient` share."""

    async def search(self, namespace: str, query: SearchInput) -> SearchOutput:
        """Find items."""

    async def relevant_memory(self, namespace: str, wanted: RelevantInput) -> RelevantOutput:
        """Find what helps to answer."""

    async def answer(self, namespace: str, question: AnswerInput) -> AnswerOutput:
        """Answer with citations."""

    async def list_items(self, namespace: str, query: ItemQuery) -> ItemList:
        """List items."""

    async def get_item(self, namespace: str, uid: str) -> ItemOut:
        """Get one item."""

    async def revisions(self, namespace: str, uid: str) -> RevisionList:
        """List what an item was before."""

    async def put_item(self, namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> PutOutput:
        """Create or replace one item."""

    async def patch_item(
        self, namespace: str, uid: str, patch: Mapping[str, Any], *, if_version: int | None = None
    ) -> ItemOut:
        """Change some fields of one item."""

    async def remember(self, namespace: str, what: RememberInput) -> PutOutput:
        """Keep a memory or fact."""

    async def correct(self, namespace: str, uid: str, correction: Correction) -> CorrectOutput:
        """Say what is true instead."""

    async def delete_items(self, namespace: str, request: DeleteInput) -> DeleteOutput:
        """Delete items, in two steps."""

    async def link(self, namespace: str, edge: LinkInput) -> LinkOutput:
        """Draw an edge."""

    async def unlink(self, namespace: str, which: UnlinkInput) -> EdgeOut:
        """Remove an edge."""

    async def list_edges(self, namespace: str, query: EdgeQuery) -> EdgeList:
        """List edges."""

    async def namespaces(self) -> NamespaceList:
        """List namespaces."""

    async def delete_namespace(self, namespace: str, confirm_token: str | None = None) -> DeleteOutput:
        """Delete a namespace, in two steps."""
