"""Every operation of the HTTP interface: `OPERATIONS` is what is documented, `ENDPOINTS` is all that is served."""

from typing import Any, cast

from agents.errors import ToolContractBroken, ToolFailed, ToolRetry
from librarian.contracts.answer import AnswerInput, AnswerOutput
from librarian.contracts.changes import Correction, CorrectOutput, DeleteCounts, DeleteInput, DeleteOutput, RevisionList
from librarian.contracts.edges import EdgeList, EdgeOut, EdgeQuery, LinkOutput
from librarian.contracts.imports import ImportQuery
from librarian.contracts.items import IngestReport, ItemIn, ItemOut, LinkInput, RowsIn
from librarian.contracts.listing import ItemList, ItemQuery
from librarian.contracts.namespaces import DeleteNamespaceInput, NamespaceList
from librarian.contracts.patch import ItemPatch
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.search_agent import SearchAgentInput, SearchAgentOutput
from librarian.contracts.service import Health, Readiness
from librarian.contracts.spaces import SpaceList, SwitchInput
from librarian.contracts.tools import ToolList, ToolQuery
from librarian.contracts.why_not import WhyNotInput, WhyNotOutput
from librarian.errors import Conflict, NotFound, PayloadTooLarge, PreconditionFailed
from librarian.http.causal_endpoints import CAUSAL_OPERATIONS
from librarian.http.endpoints import Body, Endpoint, json_of
from librarian.http.file_endpoints import FILE_OPERATIONS
from librarian.http.requests import FILES, JSON, NDJSON, PATCHES, file_body, merge_patch, rows
from librarian.http.review_endpoints import REVIEW_OPERATIONS
from librarian.http.routes.answer import answer
from librarian.http.routes.browser_pack import BROWSER_PACK
from librarian.http.routes.docs import documentation_of
from librarian.http.routes.edges import delete_edge, get_edge, list_edges, post_edge
from librarian.http.routes.embeddings import list_embeddings, rollback_embeddings, switch_embeddings
from librarian.http.routes.health import healthz, readyz, show_metrics
from librarian.http.routes.imports import post_import
from librarian.http.routes.items import (
    correct_item,
    delete_item,
    delete_items,
    get_item,
    list_items,
    list_revisions,
    patch_item,
    post_items,
    put_item,
)
from librarian.http.routes.namespaces import delete_namespace, list_namespaces
from librarian.http.routes.relevant import relevant_memory
from librarian.http.routes.search import search
from librarian.http.routes.search_agent import search_agent
from librarian.http.routes.tools import list_tools, tool_endpoint
from librarian.http.routes.why_not import why_not
from librarian.http.sweep_endpoints import SWEEP_OPERATIONS
from librarian.http.transfer_endpoints import TRANSFER_OPERATIONS
from librarian.tools import TOOLS

_ITEM = json_of(cast("type[ItemIn]", ItemIn))
_ROWS = Body(RowsIn, (JSON, *NDJSON), rows)
_PATCH = Body(ItemPatch, PATCHES, merge_patch)
_FILE = Body(bytes, FILES, file_body)
_REPORT = {200: IngestReport, 207: IngestReport, 422: IngestReport}

OPERATIONS: tuple[Endpoint[Any, Any], ...] = (
    Endpoint(method="GET", path="/healthz", handler=healthz, scope=None, answers={200: Health}),
    Endpoint(method="GET", path="/readyz", handler=readyz, scope=None, answers={200: Readiness, 503: Readiness}),
    Endpoint(method="GET", path="/metrics", handler=show_metrics, scope=None, answers={200: None}),
    Endpoint(
        method="POST",
        path="/v1/search",
        handler=search,
        scope="read",
        body=json_of(SearchInput),
        answers={200: SearchOutput},
    ),
    Endpoint(
        method="POST",
        path="/v1/search/why-not",
        handler=why_not,
        scope="read",
        body=json_of(WhyNotInput),
        answers={200: WhyNotOutput},
        errors=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/v1/relevant-memory",
        handler=relevant_memory,
        scope="read",
        body=json_of(RelevantInput),
        answers={200: RelevantOutput},
    ),
    Endpoint(
        method="POST",
        path="/v1/answer",
        handler=answer,
        scope="read",
        body=json_of(AnswerInput),
        answers={200: AnswerOutput},
    ),
    Endpoint(
        method="POST",
        path="/v1/librarian/search-agent",
        handler=search_agent,
        scope="agent",
        namespaced=False,
        body=json_of(SearchAgentInput),
        headers=("Librarian-Namespace", "Librarian-Detail", "traceparent"),
        pool="agents",
        answers={200: SearchAgentOutput},
        errors=(ToolRetry, ToolFailed, ToolContractBroken),
    ),
    Endpoint(method="POST", path="/v1/items", handler=post_items, scope="write", body=_ROWS, answers=_REPORT),
    Endpoint(
        method="POST",
        path="/v1/imports/{format}",
        handler=post_import,
        scope="write",
        body=_FILE,
        query=ImportQuery,
        answers=_REPORT,
        errors=(PayloadTooLarge,),
    ),
    Endpoint(
        method="GET", path="/v1/items", handler=list_items, scope="read", query=ItemQuery, answers={200: ItemList}
    ),
    Endpoint(
        method="POST",
        path="/v1/items:delete",
        handler=delete_items,
        scope="write",
        body=json_of(DeleteInput),
        answers={200: DeleteOutput},
        errors=(Conflict,),
    ),
    Endpoint(
        method="POST",
        path="/v1/items/{uid}:correct",
        handler=correct_item,
        scope="write",
        body=json_of(Correction),
        answers={200: CorrectOutput},
        errors=(NotFound, Conflict),
    ),
    Endpoint(
        method="GET",
        path="/v1/items/{uid}/revisions",
        handler=list_revisions,
        scope="read",
        answers={200: RevisionList},
        errors=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/v1/items/{uid}",
        handler=get_item,
        scope="read",
        answers={200: ItemOut},
        errors=(NotFound,),
    ),
    Endpoint(
        method="PUT",
        path="/v1/items/{uid}",
        handler=put_item,
        scope="write",
        body=_ITEM,
        versioned=True,
        answers={200: ItemOut, 201: ItemOut},
        errors=(Conflict, PreconditionFailed),
    ),
    Endpoint(
        method="PATCH",
        path="/v1/items/{uid}",
        handler=patch_item,
        scope="write",
        body=_PATCH,
        versioned=True,
        answers={200: ItemOut},
        errors=(NotFound, PreconditionFailed),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/items/{uid}",
        handler=delete_item,
        scope="write",
        versioned=True,
        answers={200: DeleteCounts},
        errors=(NotFound, PreconditionFailed),
    ),
    Endpoint(
        method="POST",
        path="/v1/edges",
        handler=post_edge,
        scope="write",
        body=json_of(LinkInput),
        answers={200: LinkOutput, 201: LinkOutput},
        errors=(NotFound,),
    ),
    Endpoint(
        method="GET", path="/v1/edges", handler=list_edges, scope="read", query=EdgeQuery, answers={200: EdgeList}
    ),
    Endpoint(
        method="GET",
        path="/v1/edges/{edge_id}",
        handler=get_edge,
        scope="read",
        answers={200: EdgeOut},
        errors=(NotFound,),
    ),
    Endpoint(
        method="DELETE",
        path="/v1/edges/{edge_id}",
        handler=delete_edge,
        scope="write",
        answers={200: EdgeOut},
        errors=(NotFound,),
    ),
    *CAUSAL_OPERATIONS,
    *FILE_OPERATIONS,
    *REVIEW_OPERATIONS,
    *SWEEP_OPERATIONS,
    Endpoint(
        method="GET",
        path="/v1/namespaces",
        handler=list_namespaces,
        scope="read",
        namespaced=False,
        answers={200: NamespaceList},
    ),
    Endpoint(
        method="POST",
        path="/v1/namespaces/{namespace}:delete",
        handler=delete_namespace,
        scope="admin",
        body=json_of(DeleteNamespaceInput),
        answers={200: DeleteOutput},
        errors=(NotFound, Conflict),
    ),
    *TRANSFER_OPERATIONS,
    Endpoint(
        method="GET",
        path="/v1/embeddings",
        handler=list_embeddings,
        scope="admin",
        namespaced=False,
        answers={200: SpaceList},
    ),
    Endpoint(
        method="POST",
        path="/v1/embeddings:switch",
        handler=switch_embeddings,
        scope="admin",
        namespaced=False,
        body=json_of(SwitchInput),
        answers={200: SpaceList},
        errors=(NotFound, Conflict),
    ),
    Endpoint(
        method="POST",
        path="/v1/embeddings:rollback",
        handler=rollback_embeddings,
        scope="admin",
        namespaced=False,
        answers={200: SpaceList},
        errors=(Conflict,),
    ),
    Endpoint(
        method="GET",
        path="/v1/tools",
        handler=list_tools,
        scope="any",
        namespaced=False,
        query=ToolQuery,
        answers={200: ToolList},
    ),
    *(tool_endpoint(tool) for tool in TOOLS),
)

ENDPOINTS = (*OPERATIONS, *documentation_of(OPERATIONS), BROWSER_PACK)
