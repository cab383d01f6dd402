"""What each verb asks of the service: pure functions from arguments to `Request`, which both clients send."""

import uuid
from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from librarian.client.rows import Rows
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
    DeleteCounts,
    DeleteInput,
    DeleteOutput,
    Outcome,
    PutOutput,
    RememberInput,
    RevisionList,
)
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery, LinkOutput, UnlinkInput
from librarian.contracts.files import (
    FileList,
    FileListQuery,
    FileOut,
    FileSpan,
    FindFileInput,
    FindFileOutput,
    IndexInput,
    IndexReport,
    LocateInput,
    LocateOutput,
    PutFileOutput,
    SearchTextInput,
    SearchTextOutput,
    SpanQuery,
    StaleList,
    StaleQuery,
)
from librarian.contracts.items import IngestReport, ItemIn, ItemOut, LinkInput
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.contracts.namespaces import DeleteNamespaceInput, NamespaceList
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
from librarian.contracts.service import Readiness
from librarian.contracts.why_not import WhyNotInput, WhyNotOutput

T = TypeVar("T")
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

NAMESPACE_HEADER = "Librarian-Namespace"
OUTCOME_HEADER = "Librarian-Outcome"
IDEMPOTENCY_HEADER = "Idempotency-Key"
_JSON = "application/json"
_MERGE_PATCH = "application/merge-patch+json"
_NDJSON = "application/x-ndjson"
_BYTES = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came; names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T]):
    """One request, and how its answer is read.

    `safe` allows to send it again when it failed: a second time changes nothing. `rows` is a body that is streamed, and
    never sent again. `answers` are the statuses beyond 2xx that are answers too.
    """

    method: Method
    path: str
    read: Callable[[Reply], T]
    params: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    rows: Rows | None = None
    answers: frozenset[int] = frozenset()
    safe: bool = True


def search(namespace: str, query: SearchInput) -> Request[SearchOutput]:
    """Hits of `namespace`, best first; a broken arm is reported in `arms`, not raised."""
    return _asking("/v1/search", namespace, query, SearchOutput)


def why_not(namespace: str, asked: WhyNotInput) -> Request[WhyNotOutput]:
    """What became of one item in a search."""
    return _asking("/v1/search/why-not", namespace, asked, WhyNotOutput)


def semantic_search_facts(namespace: str, query: SemanticSearchInput) -> Request[FactSearchOutput]:
    """Facts of `namespace` that are similar to `query`, with their evidence, best first."""
    return _asking("/v1/tools/semantic_search_facts", namespace, query, FactSearchOutput)


def semantic_search_messages(namespace: str, query: SemanticSearchInput) -> Request[MessageSearchOutput]:
    """Messages of `namespace` that are similar to `query`, best first."""
    return _asking("/v1/tools/semantic_search_messages", namespace, query, MessageSearchOutput)


def semantic_search_memories(namespace: str, query: SemanticSearchInput) -> Request[MemorySearchOutput]:
    """Memories of `namespace` that are similar to `query`, best first."""
    return _asking("/v1/tools/semantic_search_memories", namespace, query, MemorySearchOutput)


def search_all(namespace: str, query: SemanticSearchInput) -> Request[MixedSearchOutput]:
    """Items of any kind in `namespace` that are similar to `query`, best first."""
    return _asking("/v1/tools/search_all", namespace, query, MixedSearchOutput)


def relevant_memory(namespace: str, wanted: RelevantInput) -> Request[RelevantOutput]:
    """Messages, memories and facts that help to answer a question, best first."""
    return _asking("/v1/relevant-memory", namespace, wanted, RelevantOutput)


def answer(namespace: str, question: AnswerInput) -> Request[AnswerOutput]:
    """An answer with checked citations out of what `namespace` holds."""
    return _asking("/v1/answer", namespace, question, AnswerOutput)


def search_agent(namespace: str, asked: SearchAgentInput, *, detail: Detail = "full") -> Request[SearchAgentOutput]:
    """The smallest set of evidence for what is asked, never an answer; of `namespace`, or of the Professor's documents
    where the service has one configured.
    """
    request = _asking("/v1/librarian/search-agent", namespace, asked, SearchAgentOutput)
    return replace(request, headers={**request.headers, "Librarian-Detail": detail})


def find_file(namespace: str, wanted: FindFileInput) -> Request[FindFileOutput]:
    """Paths of files by what they are called, best first."""
    return _asking("/v1/files/find", namespace, wanted, FindFileOutput)


def search_text(namespace: str, wanted: SearchTextInput) -> Request[SearchTextOutput]:
    """Lines of files that hold a text, exactly."""
    return _asking("/v1/files/search-text", namespace, wanted, SearchTextOutput)


def locate(namespace: str, wanted: LocateInput) -> Request[LocateOutput]:
    """Paths, lines and parts of files for a question, by the layers that fit its shape."""
    return _asking("/v1/files/locate", namespace, wanted, LocateOutput)


def open_file(namespace: str, path: str, span: SpanQuery) -> Request[FileSpan]:
    """Lines of a file as they are stored, at most 2,000."""
    return _reading(_file(path), namespace, FileSpan, _params(span))


def stale_evidence(namespace: str, query: StaleQuery) -> Request[StaleList]:
    """Facts and memories of `namespace` that cite lines of files which are not there any more, or never were."""
    return _reading("/v1/stale", namespace, StaleList, _params(query))


def list_files(namespace: str, query: FileListQuery) -> Request[FileList]:
    """One page of the files of `namespace`, by path."""
    return _reading("/v1/files", namespace, FileList, _params(query))


def put_file(namespace: str, path: str, data: bytes, root: str = "") -> Request[PutFileOutput]:
    """Store one file under `path`; the same contents again change nothing. `root` says where it comes from."""
    request = _writing("PUT", _file(path), namespace, _json(PutFileOutput), data, headers={"Content-Type": _BYTES})
    return replace(request, params=(("root", root),) if root else ())


def delete_file(namespace: str, path: str) -> Request[FileOut]:
    """Delete one file with all that hangs on it; it is returned as it was."""
    return _writing("DELETE", _file(path), namespace, _json(FileOut))


def index_folder(namespace: str, wanted: IndexInput) -> Request[IndexReport]:
    """Index a folder of the service's machine; it has to be among those that the service allows."""
    return _writing("POST", "/v1/files/index", namespace, _json(IndexReport), msgspec.json.encode(wanted))


def list_items(namespace: str, query: ItemQuery) -> Request[ItemList]:
    """One page of the items that pass the filters."""
    return _reading("/v1/items", namespace, ItemList, _params(query))


def get_item(namespace: str, uid: str) -> Request[ItemOut]:
    """One item of `namespace`."""
    return _reading(_item(uid), namespace, ItemOut)


def revisions(namespace: str, uid: str) -> Request[RevisionList]:
    """What a fact or memory was before each of its changes, newest first."""
    return _reading(f"{_item(uid)}/revisions", namespace, RevisionList)


def put_item(namespace: str, uid: str, row: ItemIn, *, if_version: int | None = None) -> Request[PutOutput]:
    """Make the item `uid` what `row` says; `if_version` 0 means that it must not be there yet."""
    body = msgspec.json.encode(row)
    return _writing("PUT", _item(uid), namespace, _put_output, body, headers=_if_match(if_version))


def patch_item(
    namespace: str, uid: str, patch: Mapping[str, Any], *, if_version: int | None = None
) -> Request[ItemOut]:
    """Apply a JSON merge patch (RFC 7396) to the item's row: null removes a field; kind and uid stay."""
    headers = {"Content-Type": _MERGE_PATCH, **_if_match(if_version)}
    body = msgspec.json.encode(dict(patch))
    return _writing("PATCH", _item(uid), namespace, _json(ItemOut), body, headers=headers)


def remember(namespace: str, what: RememberInput) -> Request[PutOutput]:
    """Keep a memory or fact; the same content again is stored once."""
    return _writing("POST", "/v1/tools/remember", namespace, _json(PutOutput), msgspec.json.encode(what))


def correct(namespace: str, uid: str, correction: Correction) -> Request[CorrectOutput]:
    """Store what is true instead of a fact, which becomes history, or of a memory, which keeps a revision."""
    given = msgspec.to_builtins(correction)
    body = msgspec.json.encode({name: given[name] for name in Correction.__struct_fields__ if name in given})
    return _writing("POST", f"{_item(uid)}:correct", namespace, _json(CorrectOutput), body)


def delete_item(namespace: str, uid: str, *, if_version: int | None = None) -> Request[DeleteCounts]:
    """Delete one item with all that hangs on it."""
    return _writing("DELETE", _item(uid), namespace, _json(DeleteCounts), headers=_if_match(if_version))


def delete_items(namespace: str, request: DeleteInput) -> Request[DeleteOutput]:
    """Without `confirm_token` a preview with the token to send; with it, delete what was previewed."""
    return _writing("POST", "/v1/items:delete", namespace, _json(DeleteOutput), msgspec.json.encode(request))


def link(namespace: str, edge: LinkInput) -> Request[LinkOutput]:
    """Draw a typed edge between two items of `namespace`, or make the one that is there a human's."""
    return _writing("POST", "/v1/edges", namespace, _json(LinkOutput), msgspec.json.encode(edge))


def unlink(namespace: str, which: UnlinkInput) -> Request[EdgeOut]:
    """Remove one edge, named by edge_id or by source, type and target; returns it as it was."""
    return _writing("POST", "/v1/tools/unlink", namespace, _json(EdgeOut), msgspec.json.encode(which))


def get_edge(namespace: str, edge_id: str) -> Request[EdgeOut]:
    """One edge of `namespace`, accepted or not."""
    return _reading(f"/v1/edges/{_part(edge_id)}", namespace, EdgeOut)


def list_edges(namespace: str, query: EdgeQuery) -> Request[EdgeList]:
    """One page of the edges of `namespace`, by edge_id."""
    return _reading("/v1/edges", namespace, EdgeList, _params(query))


def causes_of(namespace: str, asked: CausalInput) -> Request[CausalOutput]:
    """What led to an item, down to its root causes."""
    return _reading("/v1/graph/causes", namespace, CausalOutput, _params(asked))


def effects_of(namespace: str, asked: CausalInput) -> Request[CausalOutput]:
    """What an item leads to: its blast radius."""
    return _reading("/v1/graph/effects", namespace, CausalOutput, _params(asked))


def blockers_of(namespace: str, asked: CausalInput) -> Request[CausalOutput]:
    """What blocks an item, and what blocks that."""
    return _reading("/v1/graph/blockers", namespace, CausalOutput, _params(asked))


def enablers_of(namespace: str, asked: CausalInput) -> Request[CausalOutput]:
    """What enables an item, and what enables that."""
    return _reading("/v1/graph/enablers", namespace, CausalOutput, _params(asked))


def neighbourhood(namespace: str, asked: NeighbourhoodQuery) -> Request[CausalOutput]:
    """What is around an item, whichever way edges point."""
    return _reading("/v1/graph/neighbourhood", namespace, CausalOutput, _params(asked))


def path_between(namespace: str, asked: PathQuery) -> Request[PathOutput]:
    """The shortest path between two items."""
    return _reading("/v1/graph/path", namespace, PathOutput, _params(asked))


def contradictions(namespace: str, asked: ContradictionQuery) -> Request[ContradictionList]:
    """Facts that name different objects for one time, and items that both cause and block another."""
    return _reading("/v1/graph/contradictions", namespace, ContradictionList, _params(asked))


def cycles(namespace: str, asked: CycleQuery) -> Request[CycleList]:
    """Items that lead back to themselves."""
    return _reading("/v1/graph/cycles", namespace, CycleList, _params(asked))


def list_reviews(namespace: str, query: ReviewQuery) -> Request[ReviewList]:
    """One page of what there is to review, or was reviewed."""
    return _reading("/v1/reviews", namespace, ReviewList, _params(query))


def review(namespace: str, review_id: str, given: ReviewInput) -> Request[ReviewOutput]:
    """Accept or reject what is proposed; the same decision again changes nothing."""
    path = f"/v1/reviews/{_part(review_id)}"
    return _writing("POST", path, namespace, _json(ReviewOutput), msgspec.json.encode(given))


def namespaces() -> Request[NamespaceList]:
    """The namespaces that hold items and that the key opens, by name."""
    return Request(method="GET", path="/v1/namespaces", read=_json(NamespaceList))


def delete_namespace(namespace: str, confirm_token: str | None = None) -> Request[DeleteOutput]:
    """Without `confirm_token` a preview with the token to send; with it, delete everything in `namespace`."""
    body = msgspec.json.encode(DeleteNamespaceInput(confirm_token=confirm_token))
    path = f"/v1/namespaces/{_part(namespace)}:delete"
    return _writing("POST", path, namespace, _json(DeleteOutput), body)


def ingest(
    rows: Iterable[tuple[int, bytes] | Mapping[str, Any]] | AsyncIterable[tuple[int, bytes] | Mapping[str, Any]],
    *,
    namespace: str,
) -> Request[IngestReport]:
    """Store rows given as dicts, or as (line number from 1, JSON); only the asynchronous client takes an asynchronous
    source.

    They are sent as they come, so there is no second try; what an interrupted ingest has stored stays, and the same
    rows again add only the rest. Rows that are not taken are listed in the report, not raised.
    """
    return Request(
        method="POST",
        path="/v1/items",
        headers={"Content-Type": _NDJSON, NAMESPACE_HEADER: namespace},
        rows=rows,
        read=_json(IngestReport),
        answers=frozenset({422}),
        safe=False,
    )


def readiness() -> Request[Readiness]:
    """Whether the service can serve requests now, and each check's result."""
    return Request(method="GET", path="/readyz", read=_json(Readiness), answers=frozenset({503}))


def _asking(path: str, namespace: str, body: Struct, type_: type[T]) -> Request[T]:
    """A POST that changes nothing."""
    headers = {NAMESPACE_HEADER: namespace, "Content-Type": _JSON}
    return Request(method="POST", path=path, read=_json(type_), headers=headers, body=msgspec.json.encode(body))


def _reading(path: str, namespace: str, type_: type[T], params: tuple[tuple[str, str], ...] = ()) -> Request[T]:
    return Request(method="GET", path=path, read=_json(type_), params=params, headers={NAMESPACE_HEADER: namespace})


def _writing(
    method: Method,
    path: str,
    namespace: str,
    read: Callable[[Reply], T],
    body: bytes | None = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> Request[T]:
    """A write, which a key of its own makes safe to send again."""
    kind = {} if body is None else {"Content-Type": _JSON}
    own = {NAMESPACE_HEADER: namespace, IDEMPOTENCY_HEADER: uuid.uuid4().hex}
    return Request(method=method, path=path, read=read, headers={**own, **kind, **(headers or {})}, body=body)


def _json(type_: type[T]) -> Callable[[Reply], T]:
    return lambda reply: msgspec.json.decode(reply.body, type=type_)


def _put_output(reply: Reply) -> PutOutput:
    outcome = msgspec.convert(reply.headers.get(OUTCOME_HEADER.lower()), Outcome)
    return PutOutput(outcome=outcome, item=msgspec.json.decode(reply.body, type=ItemOut))


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _item(uid: str) -> str:
    return f"/v1/items/{_part(uid)}"


def _file(path: str) -> str:
    return f"/v1/files/{quote(path, safe='')}"


def _part(text: str) -> str:
    """The text as one part of a path; dots alone would be taken for folders."""
    return quote(text, safe="") if text.strip(".") else text.replace(".", "%2E")


def _params(query: Struct) -> tuple[tuple[str, str], ...]:
    """The fields that are given, as a query string: a name for each element of a list."""
    given = ((name, value) for name, value in msgspec.to_builtins(query).items() if value is not None)
    return tuple((name, str(one)) for name, value in given for one in (value if isinstance(value, list) else [value]))
