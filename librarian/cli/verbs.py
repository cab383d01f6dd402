"""What commands ask, of a graph that they open or of a service."""

from collections.abc import Mapping
from typing import Any, Protocol

from librarian.contracts.answer import AnswerInput, AnswerOutput
from librarian.contracts.causal import (
    CausalInput,
    CausalOutput,
    ContradictionList,
    ContradictionQuery,
    CycleList,
    CycleQuery,
    NeighbourhoodQuery,
    PathOutput,
    PathQuery,
)
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
from librarian.contracts.files import (
    FileSpan,
    FindFileInput,
    FindFileOutput,
    LocateInput,
    LocateOutput,
    SearchTextInput,
    SearchTextOutput,
    SpanQuery,
    StaleList,
    StaleQuery,
)
from librarian.contracts.items import ItemIn, ItemOut, LinkInput
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.contracts.namespaces import NamespaceList
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.reviews import ReviewInput, ReviewList, ReviewOutput, ReviewQuery
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.search_agent import Detail, SearchAgentInput, SearchAgentOutput
from librarian.contracts.semantic import (
    FactSearchOutput,
    MemorySearchOutput,
    MessageSearchOutput,
    MixedSearchOutput,
    SemanticSearchInput,
)
from librarian.contracts.why_not import WhyNotInput, WhyNotOutput


class Verbs(Protocol):
    """The verbs that `librarian.service.Librarian` and `librarian.client.AsyncLibrarianClient` share."""

    async def search(self, namespace: str, query: SearchInput) -> SearchOutput:
        """Find items."""

    async def why_not(self, namespace: str, asked: WhyNotInput) -> WhyNotOutput:
        """Say why a search does not show an item."""

    async def semantic_search_facts(self, namespace: str, query: SemanticSearchInput) -> FactSearchOutput:
        """Find facts."""

    async def semantic_search_messages(self, namespace: str, query: SemanticSearchInput) -> MessageSearchOutput:
        """Find messages."""

    async def semantic_search_memories(self, namespace: str, query: SemanticSearchInput) -> MemorySearchOutput:
        """Find memories."""

    async def search_all(self, namespace: str, query: SemanticSearchInput) -> MixedSearchOutput:
        """Find items of all kinds."""

    async def relevant_memory(self, namespace: str, wanted: RelevantInput) -> RelevantOutput:
        """Find what helps to answer."""

    async def answer(self, namespace: str, question: AnswerInput) -> AnswerOutput:
        """Answer with citations."""

    async def search_agent(
        self, namespace: str, asked: SearchAgentInput, *, detail: Detail = "full"
    ) -> SearchAgentOutput:
        """Find the smallest set of evidence."""

    async def find_file(self, namespace: str, wanted: FindFileInput) -> FindFileOutput:
        """Find files by name."""

    async def search_text(self, namespace: str, wanted: SearchTextInput) -> SearchTextOutput:
        """Search lines of files."""

    async def locate(self, namespace: str, wanted: LocateInput) -> LocateOutput:
        """Find out where something is."""

    async def stale_evidence(self, namespace: str, query: StaleQuery) -> StaleList:
        """List evidence in files that does not stand any more."""

    async def open_file(self, namespace: str, path: str, span: SpanQuery) -> FileSpan:
        """Read lines of a file."""

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

    async def causes_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Find what led to an item."""

    async def effects_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Find what an item leads to."""

    async def blockers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Find what blocks an item."""

    async def enablers_of(self, namespace: str, asked: CausalInput) -> CausalOutput:
        """Find what enables an item."""

    async def neighbourhood(self, namespace: str, asked: NeighbourhoodQuery) -> CausalOutput:
        """Get what is around an item."""

    async def path_between(self, namespace: str, asked: PathQuery) -> PathOutput:
        """Find the shortest path between two items."""

    async def contradictions(self, namespace: str, asked: ContradictionQuery) -> ContradictionList:
        """List what contradicts itself."""

    async def cycles(self, namespace: str, asked: CycleQuery) -> CycleList:
        """List what leads back to itself."""

    async def list_reviews(self, namespace: str, query: ReviewQuery) -> ReviewList:
        """List what there is to review."""

    async def review(self, namespace: str, review_id: str, given: ReviewInput) -> ReviewOutput:
        """Accept or reject what is proposed."""

    async def namespaces(self) -> NamespaceList:
        """List namespaces."""

    async def delete_namespace(self, namespace: str, confirm_token: str | None = None) -> DeleteOutput:
        """Delete a namespace, in two steps."""
