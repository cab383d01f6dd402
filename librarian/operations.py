"""The table of operations: each verb of a Librarian, the room method that implements it, and how it is offered.

The methods of `Librarian` and of both clients, the HTTP interface and its OpenAPI document, the tools of language
models and the commands that `--remote` supports are built from these rows. Importing this module loads only contracts.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import fields

from graph.errors import ChangesGone, ItemBusy, ItemForgotten, LeaseHeld, LeaseLost
from librarian.agent.contracts import FindEvidenceInput, SearchAgentInput, SearchAgentOutput
from librarian.base.errors import Conflict, NotFound, PreconditionFailed
from librarian.base.keys import ApiKey, Scope
from librarian.causal import contracts as causal
from librarian.embeddings.contracts import SpaceList, SwitchInput
from librarian.files import contracts as files
from librarian.items import contracts as items
from librarian.search import contracts as search
from librarian.sweep import contracts as sweep
from librarian.transfer.feed import contracts as feed
from librarian_agents.errors import ToolContractBroken, ToolFailed, ToolRetry

if TYPE_CHECKING:
    from librarian.agent.room import AgentRoom
    from librarian.causal.room import CausalRoom
    from librarian.embeddings.room import EmbeddingsRoom
    from librarian.files.room import FilesRoom
    from librarian.items.room import ItemsRoom
    from librarian.search.room import SearchRoom
    from librarian.sweep.room import ReviewsRoom, SweepsRoom
    from librarian.transfer.feed.room import FeedRoom
    from librarian.transfer.feed.webhooks import WebhooksRoom
    from librarian.transfer.room import TransferRoom

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Pool = Literal["requests", "agents"]
Form = Literal["json", "merge-patch", "rows", "file"]
_IN_BRACES = re.compile(r"{(\w+)}")


class Rooms:
    """The rooms of a Librarian."""

    search: "SearchRoom"
    items: "ItemsRoom"
    files: "FilesRoom"
    causal: "CausalRoom"
    sweeps: "SweepsRoom"
    reviews: "ReviewsRoom"
    agent: "AgentRoom"
    transfer: "TransferRoom"
    feed: "FeedRoom"
    webhooks: "WebhooksRoom"
    embeddings: "EmbeddingsRoom"


Call = Callable[[Rooms], Callable[..., Any]]
"""Finds the method of a room."""


@dataclass(frozen=True, slots=True)
class Http:
    """The HTTP form of an operation; parts of `path` in braces are parameters.

    `form` is the form of the body; a GET sends the input as its query string. `query` is the type of any other query
    string, whose fields the method takes by name. `answer` is the type of the answer where it is not the operation's
    output, `statuses` are those of success, and `created` decides from the output whether it is 201. `versioned`: it
    supports If-Match. `headers` are further request headers it reads; `pool` names the slots it takes. `id` is the
    operationId where it differs from the name. `secret`: the answer holds a secret, is never stored, and the request
    is not safe to repeat.
    """

    method: Method
    path: str
    id: str = ""
    form: Form = "json"
    query: Any = None
    answer: Any = None
    statuses: tuple[int, ...] = (200,)
    created: Callable[[Any], bool] | None = None
    versioned: bool = False
    headers: tuple[str, ...] = ()
    pool: Pool = "requests"
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """The tool form of an operation, for language models. Unset fields are those of the operation.

    `reports`: the method takes `on_step`, which receives a short description of each step.
    """

    description: str
    name: str = ""
    call: Call | None = None
    input: Any = None
    output: Any = None
    errors: tuple[type[Exception], ...] | None = None
    read_only: bool = True
    destructive: bool = False
    reports: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One verb. Its method takes the namespace (if `namespaced`), the parameters of its path, and `input` under the
    name `argument`, or its fields one by one if `unpacked`.

    `errors` are those it raises beyond the common ones. `everywhere`: the key must open every namespace. `progress`:
    the method takes `on_progress`, called with each part that is committed. `cli` is its command, local or remote,
    with the subcommand after a space.
    """

    name: str
    call: Call
    output: Any
    input: Any = None
    argument: str = ""
    unpacked: bool = False
    doc: str
    scope: Scope = "read"
    namespaced: bool = True
    everywhere: bool = False
    errors: tuple[type[Exception], ...] = ()
    progress: bool = False
    http: Http | None = None
    tool: Tool | None = None
    cli: str = ""

    @property
    def description(self) -> str:
        """The description for the HTTP interface and the clients; the first sentence is the summary."""
        return inspect.cleandoc(self.doc)

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.scope in ("write", "sweep", "admin") and (self.http is None or self.http.method != "GET")

    @property
    def path(self) -> str:
        """Its HTTP method and path."""
        return self.http.path if self.http else f"/v1/tools/{self.tool_name}"

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The parameters of its path, without the namespace."""
        return tuple(name for name in _IN_BRACES.findall(self.path) if name != "namespace")

    @property
    def tool_name(self) -> str:
        """The name of its tool, empty without one."""
        return "" if self.tool is None else self.tool.name or self.name


def visible_to(key: ApiKey | None, output: Any) -> Any:
    """Return `output` as the owner of `key` may see it: without the scope `read`, nothing stored is shown."""
    if key is None or key.has_scope("read") or not hasattr(output, "without_content"):
        return output
    return output.without_content()


def signature_of(operation: Operation) -> inspect.Signature:
    """Return the parameters of a verb in the clients, without `self`."""
    plain, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    texts = [*(["namespace"] if operation.namespaced else []), *operation.path_parameters]
    parameters = [inspect.Parameter(name, plain, annotation=str) for name in texts]
    if operation.unpacked:
        parameters += [
            inspect.Parameter(
                each.name,
                by_name if isinstance(each.default, bool) else plain,
                annotation=each.type,
                default=inspect.Parameter.empty if each.required else each.default,
            )
            for each in fields(operation.input)
        ]
    elif operation.input is not None:
        patches = operation.http is not None and operation.http.form == "merge-patch"
        taken = Mapping[str, Any] if patches else operation.input
        parameters.append(inspect.Parameter(operation.argument, plain, annotation=taken))
    if operation.http is not None and operation.http.query is not None:
        parameters += [
            inspect.Parameter(each.name, by_name, annotation=each.type, default=each.default)
            for each in fields(operation.http.query)
        ]
    if operation.http is not None and operation.http.versioned:
        parameters.append(inspect.Parameter("if_version", by_name, annotation=int | None, default=None))
    return inspect.Signature(parameters, return_annotation=operation.output)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="search",
        call=lambda app: app.search,
        input=search.SearchInput,
        argument="query",
        output=search.SearchOutput,
        http=Http("POST", "/v1/search"),
        cli="search",
        doc="""Find items by meaning and by words.

            1 to 20 queries are fused into one ranking. `arms` reports what each arm of the search did.
            """,
    ),
    Operation(
        name="why_not",
        call=lambda app: app.search.why_not,
        input=search.WhyNotInput,
        argument="asked",
        output=search.WhyNotOutput,
        errors=(NotFound,),
        http=Http("POST", "/v1/search/why-not"),
        cli="why-not",
        doc="""Explain why a search does not show an item.

            Repeat the search with the item's uid: a filter, the limit, a duplicate, a missing vector or better hits
            may exclude it. The answer holds the item's rank in each arm.
            """,
    ),
    Operation(
        name="semantic_search_facts",
        call=lambda app: app.search.semantic_search_facts,
        input=search.SemanticSearchInput,
        argument="query",
        output=search.FactSearchOutput,
        tool=Tool(
            "Find facts by meaning and by words, each with the messages that support it. Ask one question in "
            "several wordings at once with `queries`. What is not similar enough is left out: few or no hits "
            "mean that little or nothing is known."
        ),
        cli="search-facts",
        doc="Find facts similar to a query, with their evidence, best first.",
    ),
    Operation(
        name="semantic_search_messages",
        call=lambda app: app.search.semantic_search_messages,
        input=search.SemanticSearchInput,
        argument="query",
        output=search.MessageSearchOutput,
        tool=Tool(
            "Find messages of conversations by meaning and by words: who said what, and when. Ask one "
            "question in several wordings at once with `queries`; narrow it to a conversation, authors or a "
            "time with `filters`."
        ),
        cli="search-messages",
        doc="Find messages similar to a query, best first.",
    ),
    Operation(
        name="semantic_search_memories",
        call=lambda app: app.search.semantic_search_memories,
        input=search.SemanticSearchInput,
        argument="query",
        output=search.MemorySearchOutput,
        tool=Tool(
            "Find memories by meaning and by words: decisions, problems, patterns, insights. Ask one question"
            " in several wordings at once with `queries`; narrow it to types, tags or an agent with "
            "`filters`."
        ),
        cli="search-memories",
        doc="Find memories similar to a query, best first.",
    ),
    Operation(
        name="search_all",
        call=lambda app: app.search.search_all,
        input=search.SemanticSearchInput,
        argument="query",
        output=search.MixedSearchOutput,
        tool=Tool(
            "Find memories, facts, messages and files by meaning and by words, in one ranking. Ask one "
            "question in several wordings at once with `queries`. Every hit has a kind and a uid; facts come "
            "with the messages that support them."
        ),
        cli="search-all",
        doc="Find items of any kind similar to a query, best first.",
    ),
    Operation(
        name="relevant_memory",
        call=lambda app: app.search.relevant_memory,
        input=search.RelevantInput,
        argument="wanted",
        output=search.RelevantOutput,
        http=Http("POST", "/v1/relevant-memory"),
        tool=Tool(
            "Get what helps to answer one question: messages, memories and facts, best first, what tells "
            "before what only asks. Use it to recall; use search_all to filter or to ask in several wordings."
        ),
        cli="relevant",
        doc="""Get the messages, memories and facts that help to answer a question.

            Best first, one hit per message; statements come before questions.
            """,
    ),
    Operation(
        name="context",
        call=lambda app: app.search.context,
        input=search.ContextInput,
        argument="asked",
        output=search.ContextOutput,
        http=Http("POST", "/v1/context"),
        tool=Tool(
            "Get what you should read before you answer a question, as text: dated lines with author and [memory: id], "
            "best first, within max_tokens. Its first line says when nothing that is kept answers the question."
        ),
        cli="context",
        doc="""Get the context that a language model needs to answer a question, within a token budget.

            One line per item, with date, author and `[memory: id]`, best first. A turn that says too little alone comes
            with the one before it, a mere question with the one after it; a replaced item names its replacement. The
            first line says if nothing in memory answers the question.
            """,
    ),
    Operation(
        name="answer",
        call=lambda app: app.search.answer,
        input=search.AnswerInput,
        argument="question",
        output=search.AnswerOutput,
        http=Http("POST", "/v1/answer"),
        cli="ask",
        doc="""Answer a question from memory, with citations.

            The text carries `[memory: ID]`, each checked against the hits. Without a language model, or when it
            fails, the answer quotes the hits (`method` is `extractive`); where they support none, `status` is
            `refused`.

            With `Accept: text/event-stream` it comes as server-sent events: `hits`, `delta` (`{"text": …}`) for each
            piece, and last `answer`, the same object as below, which alone counts, or `error`, a problem.
            """,
    ),
    Operation(
        name="search_agent",
        call=lambda app: app.agent,
        input=SearchAgentInput,
        argument="asked",
        output=SearchAgentOutput,
        scope="agent",
        errors=(ToolRetry, ToolFailed, ToolContractBroken),
        http=Http(
            "POST",
            "/v1/librarian/search-agent",
            headers=("Librarian-Namespace", "Librarian-Detail", "traceparent"),
            pool="agents",
        ),
        tool=Tool(
            "Find the smallest set of evidence that covers each of `target_items`: it searches, judges what "
            "it found, and searches again for what is missing. Gives numbers with reasons and quotations, "
            "never an answer: write that yourself. Use it where one search is not enough; search_all is "
            "faster.",
            name="find_evidence",
            call=lambda app: app.agent.find_evidence,
            input=FindEvidenceInput,
            reports=True,
        ),
        cli="search-agent",
        doc="""Find the smallest set of evidence that covers what is asked; never an answer.

            It searches with the Professor if one is configured, and needs no namespace then; otherwise with Librarian,
            in the namespace. `max_retries` bounds how often the search is refined; at the request's deadline it returns
            the best evidence so far.

            With `Accept: text/event-stream` it comes as server-sent events: `plan`, `search`, `candidates`,
            `evaluation`, `refine`, last `done` with the object below, or `error`, a problem; and `heartbeat` during
            silence.
            """,
    ),
    Operation(
        name="ingest",
        call=lambda app: app.items.ingest,
        input=items.RowsIn,
        argument="rows",
        output=items.IngestReport,
        scope="write",
        errors=(ItemBusy,),
        http=Http("POST", "/v1/items", id="post_items", form="rows", query=items.IngestQuery, statuses=(200, 207, 422)),
        cli="ingest",
        doc="""Store rows.

            Messages, facts, memories and edges, as a JSON array, one object, or NDJSON. 200 if all rows were accepted,
            207 if some were, 422 if none was; the report names the fault of each invalid row, and the valid ones are
            stored. Forgotten items are held back, which is not a fault: `held_back` counts them.
            """,
    ),
    Operation(
        name="list_items",
        call=lambda app: app.items.list_items,
        input=items.ItemQuery,
        argument="query",
        output=items.ItemList,
        http=Http("GET", "/v1/items"),
        cli="list",
        doc="""List items, page by page.

            Takes all filters of a search. Every item comes once as long as nothing changes meanwhile.
            """,
    ),
    Operation(
        name="delete_items",
        call=lambda app: app.items.delete_items,
        input=items.DeleteInput,
        argument="request",
        output=items.DeleteOutput,
        scope="write",
        errors=(Conflict,),
        http=Http("POST", "/v1/items:delete", query=items.DeletionQuery),
        tool=Tool(
            "Delete items by uid or filter, in two steps: without `confirm_token` nothing is deleted and the "
            "answer says what would go, with a token; call again with the same arguments and that token to "
            "delete. Deleted items cannot be kept again unless a human allows it.",
            name="forget",
            read_only=False,
            destructive=True,
        ),
        cli="forget",
        doc="""Delete items by uid or filter, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token the previewed items are
            deleted, unless the selection has changed since (409). They leave tombstones (hashes without text), which
            keep them from returning until lifted. With `tombstones=false` they leave none.
            """,
    ),
    Operation(
        name="list_forgotten",
        call=lambda app: app.items.list_forgotten,
        input=items.ForgottenQuery,
        argument="query",
        output=items.ForgottenList,
        http=Http("GET", "/v1/forgotten"),
        cli="forgotten list",
        doc="""List the tombstones of forgotten items, latest first, page by page.

            Each holds the kind of an item, who forgot it and when. Neither its uid nor its text is kept.
            """,
    ),
    Operation(
        name="lift_forgotten",
        call=lambda app: app.items.lift_forgotten,
        input=items.LiftInput,
        argument="what",
        output=items.LiftOutput,
        scope="admin",
        http=Http("POST", "/v1/forgotten:lift"),
        cli="forgotten lift",
        doc="""Allow forgotten items to return.

            Named by the uids of the items, or by the ids of the tombstones. The tombstones are removed, and the items
            can be ingested or imported again; their contents were not kept and do not return by themselves.
            """,
    ),
    Operation(
        name="correct",
        call=lambda app: app.items.correct,
        input=items.Correction,
        argument="correction",
        output=items.CorrectOutput,
        scope="write",
        errors=(NotFound, Conflict, ItemBusy, ItemForgotten),
        http=Http("POST", "/v1/items/{uid}:correct", id="correct_item"),
        tool=Tool(
            "Correct a stored fact or memory: say what is true instead. The old fact stays in the history and is no"
            " longer found; a memory's old text is kept as a revision. Prefer this to forgetting.",
            input=items.CorrectInput,
            read_only=False,
        ),
        cli="correct",
        doc="""Correct a fact or memory.

            A fact is superseded by a new one and stays in the history; a memory's text is replaced, and the old one
            kept as a revision.
            """,
    ),
    Operation(
        name="revisions",
        call=lambda app: app.items.revisions,
        output=items.RevisionList,
        errors=(NotFound,),
        http=Http("GET", "/v1/items/{uid}/revisions", id="list_revisions"),
        cli="history",
        doc="List the earlier versions of a fact or memory, newest first.",
    ),
    Operation(
        name="impact",
        call=lambda app: app.items.impact,
        output=items.ImpactOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/items/{uid}/impact", id="get_impact"),
        tool=Tool(
            "See what depends on an item before you correct or forget it: facts and memories that would lose all "
            "support, those that keep other support, and what edges say it leads to.",
            call=lambda app: app.items.impact_of,
            input=items.ImpactInput,
        ),
        cli="impact",
        doc="""Show what depends on an item before it ends, is corrected or forgotten.

            Items without any other valid support, direct or indirect, would become unsupported. Nothing is changed.
            """,
    ),
    Operation(
        name="get_item",
        call=lambda app: app.items.get_item,
        input=items.Moments,
        unpacked=True,
        output=items.ItemOut,
        errors=(NotFound,),
        http=Http("GET", "/v1/items/{uid}"),
        cli="get",
        doc="""Get one item, with its evidence.

            An item of another namespace is not found. `known_at` returns it as stored then, `as_of` only if it was
            true then.
            """,
    ),
    Operation(
        name="put_item",
        call=lambda app: app.items.put_item,
        input=items.ItemIn,
        argument="row",
        output=items.PutOutput,
        scope="write",
        errors=(Conflict, PreconditionFailed, ItemBusy, ItemForgotten),
        http=Http("PUT", "/v1/items/{uid}", answer=items.ItemOut, statuses=(200, 201), versioned=True),
        cli="put",
        doc="""Create or replace one item.

            Repeating a row changes nothing. A replaced fact or memory keeps a revision.
            """,
    ),
    Operation(
        name="patch_item",
        call=lambda app: app.items.patch_item,
        input=items.ItemPatch,
        argument="patch",
        output=items.ItemOut,
        scope="write",
        errors=(NotFound, PreconditionFailed, ItemBusy, ItemForgotten),
        http=Http("PATCH", "/v1/items/{uid}", form="merge-patch", versioned=True),
        cli="edit",
        doc="""Change some fields of one item.

            A JSON merge patch (RFC 7396) over the fields of its row: null removes a field. Kind and uid stay. A fact
            or memory keeps a revision.
            """,
    ),
    Operation(
        name="delete_item",
        call=lambda app: app.items.delete_item,
        output=items.DeleteCounts,
        scope="write",
        errors=(NotFound, PreconditionFailed, ItemBusy),
        http=Http("DELETE", "/v1/items/{uid}", query=items.DeletionQuery, versioned=True),
        doc="""Delete one item with its edges, evidence links, revisions and embeddings.

            It leaves a tombstone, which keeps it from returning until lifted. With `tombstones=false` it leaves none.
            """,
    ),
    Operation(
        name="remember",
        call=lambda app: app.items.remember,
        input=items.RememberInput,
        argument="what",
        output=items.PutOutput,
        scope="write",
        errors=(Conflict, ItemBusy, ItemForgotten),
        tool=Tool(
            "Keep one thing for later: a memory (what was decided, learned, gone wrong) or, with kind `fact`,"
            " a statement about somebody or something with the evidence for it. The same content twice is "
            "kept once.",
            read_only=False,
        ),
        cli="remember",
        doc="Keep a memory or fact; the same content again is stored once.",
    ),
    Operation(
        name="link",
        call=lambda app: app.items.link,
        input=items.LinkInput,
        argument="edge",
        output=items.LinkOutput,
        scope="write",
        errors=(NotFound,),
        http=Http("POST", "/v1/edges", id="post_edge", created=lambda linked: linked.created),
        tool=Tool(
            "Connect two items: CAUSES, BLOCKS or ENABLES from source to target, or RELATES_TO. Say why in "
            "`reason`, and quote both ends where you can.",
            read_only=False,
        ),
        cli="link",
        doc="""Draw a typed edge between two items.

            Its method becomes `human`, even if a rule or model had drawn or proposed it. 201 if it is new.
            """,
    ),
    Operation(
        name="unlink",
        call=lambda app: app.items.unlink,
        input=items.UnlinkInput,
        argument="which",
        output=items.EdgeOut,
        scope="write",
        errors=(NotFound,),
        tool=Tool(
            "Remove one connection, by `edge_id` or by `source`, `type` and `target`.",
            read_only=False,
            destructive=True,
        ),
        cli="unlink",
        doc="Remove one edge, named by edge_id or by source, type and target; returns the removed edge.",
    ),
    Operation(
        name="list_edges",
        call=lambda app: app.items.list_edges,
        input=items.EdgeQuery,
        argument="query",
        output=items.EdgeList,
        http=Http("GET", "/v1/edges"),
        cli="edges",
        doc="List typed edges, proposals and rejections, page by page.",
    ),
    Operation(
        name="get_edge",
        call=lambda app: app.items.get_edge,
        output=items.EdgeOut,
        errors=(NotFound,),
        http=Http("GET", "/v1/edges/{edge_id}"),
        doc="Get one edge.",
    ),
    Operation(
        name="delete_edge",
        call=lambda app: app.items.delete_edge,
        output=items.EdgeOut,
        scope="write",
        errors=(NotFound,),
        http=Http("DELETE", "/v1/edges/{edge_id}"),
        doc="Remove one edge and return it.",
    ),
    Operation(
        name="causes_of",
        call=lambda app: app.causal.causes_of,
        input=causal.CausalInput,
        argument="asked",
        output=causal.CausalOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/causes"),
        tool=Tool(
            "Find what led to an item, its root causes last: follows CAUSES backwards. Each item comes with "
            "the edges of the path to it, their quotes, and the product of their confidences."
        ),
        cli="causes",
        doc="Find what led to an item, down to its root causes.",
    ),
    Operation(
        name="effects_of",
        call=lambda app: app.causal.effects_of,
        input=causal.CausalInput,
        argument="asked",
        output=causal.CausalOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/effects"),
        tool=Tool(
            "Find what an item leads to, its blast radius: follows CAUSES forwards, with `types` also BLOCKS "
            "and ENABLES. Use it before changing or reverting something."
        ),
        cli="effects",
        doc="Find what an item leads to: its blast radius.",
    ),
    Operation(
        name="blockers_of",
        call=lambda app: app.causal.blockers_of,
        input=causal.CausalInput,
        argument="asked",
        output=causal.CausalOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/blockers"),
        tool=Tool(
            "Find what blocks an item, and what blocks that: follows BLOCKS backwards. Use it to see why "
            "something is stuck."
        ),
        cli="blockers",
        doc="Find what blocks an item, and what blocks that.",
    ),
    Operation(
        name="enablers_of",
        call=lambda app: app.causal.enablers_of,
        input=causal.CausalInput,
        argument="asked",
        output=causal.CausalOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/enablers"),
        tool=Tool(
            "Find what enables an item, and what enables that: follows ENABLES backwards. Use it to see what "
            "something depends on."
        ),
        cli="enablers",
        doc="Find what enables an item, and what enables that.",
    ),
    Operation(
        name="neighbourhood",
        call=lambda app: app.causal.neighbourhood,
        input=causal.NeighbourhoodQuery,
        argument="asked",
        output=causal.CausalOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/neighbourhood"),
        cli="graph",
        doc="Get the neighbourhood of an item, following edges in both directions.",
    ),
    Operation(
        name="path_between",
        call=lambda app: app.causal.path_between,
        input=causal.PathQuery,
        argument="asked",
        output=causal.PathOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/graph/path"),
        cli="path",
        doc="Find the shortest path between two items.",
    ),
    Operation(
        name="contradictions",
        call=lambda app: app.causal.contradictions,
        input=causal.ContradictionQuery,
        argument="asked",
        output=causal.ContradictionList,
        http=Http("GET", "/v1/graph/contradictions", id="list_contradictions"),
        cli="contradictions",
        doc="List facts that name different objects for the same time, and items that both cause and block another.",
    ),
    Operation(
        name="cycles",
        call=lambda app: app.causal.cycles,
        input=causal.CycleQuery,
        argument="asked",
        output=causal.CycleList,
        http=Http("GET", "/v1/graph/cycles", id="list_cycles"),
        cli="cycles",
        doc="List cycles: items that lead back to themselves.",
    ),
    Operation(
        name="index_folder",
        call=lambda app: app.files.index_allowed,
        input=files.IndexInput,
        argument="wanted",
        output=files.IndexReport,
        scope="admin",
        progress=True,
        http=Http("POST", "/v1/files/index", id="index_files"),
        cli="index",
        doc="""Index a folder on the service's machine.

            Only folders in LIBRARIAN_INDEX_ROOTS, and only files changed since the last time. Files can be found by
            name before their contents are indexed; the answer comes when all are stored.
            """,
    ),
    Operation(
        name="find_file",
        call=lambda app: app.files.find_file,
        input=files.FindFileInput,
        argument="wanted",
        output=files.FindFileOutput,
        http=Http("POST", "/v1/files/find"),
        tool=Tool(
            "Find files by name: a path or its end, a file name, a name without its ending or its "
            "beginning, words of it and of its folders, or a name that it defines; one typo is forgiven. The answer is "
            "a list of paths, best first, with the reason for each."
        ),
        cli="find-file",
        doc="""Find files by name.

            Matches a path or its end, a file name, a stem or its beginning, words of these, or a name that a file
            defines; one typo is forgiven. `matches` says why each file was found.
            """,
    ),
    Operation(
        name="search_text",
        call=lambda app: app.files.search_text,
        input=files.SearchTextInput,
        argument="wanted",
        output=files.SearchTextOutput,
        http=Http("POST", "/v1/files/search-text"),
        tool=Tool(
            "Find the lines of files that hold an exact text, as grep does; `regex`, `ignore_case` and `word`"
            " widen or narrow it, `globs` and `languages` choose files. The answer is lines `path:line: "
            "text`, definitions of the name first. Use it for identifiers, error messages and settings; use "
            "locate when unsure.",
            call=lambda app: app.files.search_lines,
            output=files.TextLines,
        ),
        cli="search-text",
        doc="""Search the lines of files for an exact text.

            Or for an RE2 regular expression, whose time is linear. Lines that define the name come first.
            """,
    ),
    Operation(
        name="locate",
        call=lambda app: app.files.locate,
        input=files.LocateInput,
        argument="wanted",
        output=files.LocateOutput,
        http=Http("POST", "/v1/files/locate"),
        tool=Tool(
            "Find out where something is in files when you do not know how to look: a path, a name, a phrase "
            "in quotation marks, or a question such as `where is X defined?`. It chooses between paths, lines"
            " and meaning and says why."
        ),
        cli="locate",
        doc="""Locate something in files.

            The form of the query decides whether paths, lines, definitions or meanings are searched; `why` gives the
            reason.
            """,
    ),
    Operation(
        name="stale_evidence",
        call=lambda app: app.files.stale_evidence,
        input=files.StaleQuery,
        argument="query",
        output=files.StaleList,
        http=Http("GET", "/v1/stale"),
        cli="stale",
        doc="""List evidence in files that is no longer valid.

            Facts and memories may cite lines of files. Lines that moved within their file are followed; those that were
            changed, removed or never found are listed here, by path.
            """,
    ),
    Operation(
        name="list_files",
        call=lambda app: app.files.list_files,
        input=files.FileListQuery,
        argument="query",
        output=files.FileList,
        http=Http("GET", "/v1/files"),
        doc="List files by path, page by page.",
    ),
    Operation(
        name="open_file",
        call=lambda app: app.files.open_file,
        input=files.SpanQuery,
        argument="span",
        output=files.FileSpan,
        errors=(NotFound,),
        http=Http("GET", "/v1/files/{path}"),
        cli="open",
        doc="Read the stored lines of a file.",
    ),
    Operation(
        name="put_file",
        call=lambda app: app.files.put_file,
        input=bytes,
        argument="data",
        output=files.PutFileOutput,
        scope="write",
        errors=(NotFound,),
        http=Http("PUT", "/v1/files/{path}", form="file", query=files.PutFileQuery, statuses=(200, 201)),
        doc="""Upload one file.

            The body is the file itself. Uploading the same contents again changes nothing.
            """,
    ),
    Operation(
        name="delete_file",
        call=lambda app: app.files.delete_file,
        output=files.FileOut,
        scope="write",
        errors=(NotFound,),
        http=Http("DELETE", "/v1/files/{path}"),
        doc="Delete one file with its chunks and everything attached to them.",
    ),
    Operation(
        name="list_reviews",
        call=lambda app: app.reviews.list_reviews,
        input=sweep.ReviewQuery,
        argument="query",
        output=sweep.ReviewList,
        http=Http("GET", "/v1/reviews"),
        cli="review",
        doc="""List proposals of sweeps and ingests, open or decided, page by page.

            Edges and facts that may replace others (`supersede`) come first, then memories of unclear type (`flag`) and
            memories that say the same (`merge`).
            """,
    ),
    Operation(
        name="review",
        call=lambda app: app.reviews.review,
        input=sweep.ReviewInput,
        argument="given",
        output=sweep.ReviewOutput,
        scope="write",
        errors=(NotFound, Conflict),
        http=Http("POST", "/v1/reviews/{review_id}", id="post_review"),
        cli="review",
        doc="""Accept or reject a proposal.

            An accepted edge gets its real type, a rejected one is kept as a rejected proposal; an accepted
            supersession ends the older fact, and revising that reopens it; an accepted flag gives the memory its type;
            an accepted merge moves everything attached to the shorter memory to the fuller one. Sweeps never change a
            decision. Repeating a decision changes nothing, a different one is a 409.
            """,
    ),
    Operation(
        name="list_review_reasons",
        call=lambda app: app.reviews.list_review_reasons,
        output=sweep.ReasonList,
        http=Http("GET", "/v1/reviews:reasons"),
        cli="review reasons",
        doc="""List the kinds of reasons for proposals, with the numbers of open and decided ones.

            Kinds rejected three times more often than accepted make sweeps of the namespace less confident.
            """,
    ),
    Operation(
        name="review_many",
        call=lambda app: app.reviews.review_many,
        input=sweep.ReviewManyInput,
        argument="given",
        output=sweep.ReviewManyOutput,
        scope="write",
        errors=(Conflict,),
        http=Http("POST", "/v1/reviews:decide"),
        cli="review all",
        doc="""Accept or reject all proposals of one kind of reason, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token the previewed proposals are
            decided one by one, unless others match by now (409). At most 500 at once; `more` says that there are more.
            """,
    ),
    Operation(
        name="sweep",
        call=lambda app: app.sweeps.sweep,
        input=sweep.SweepRequest,
        argument="request",
        output=sweep.SweepReport,
        scope="sweep",
        errors=(NotFound, Conflict, LeaseHeld, LeaseLost),
        http=Http("POST", "/v1/sweeps", id="post_sweep"),
        tool=Tool(
            "See what a sweep would do to the memories: types that nobody has stated, texts put into "
            "sections, causal edges with quotations, near-duplicates to merge, and what is missing or "
            "saturated. Nothing is changed; the first changes are shown, all are counted. Narrow it by "
            "`domains`, `min_importance` or `filters`.",
            call=lambda app: app.sweeps.preview,
            input=sweep.SweepScope,
            errors=(),
            reports=True,
        ),
        cli="sweep",
        doc="""Sweep a namespace: classify memories, write their sections, connect causes, propose merges.

            With `dry_run` nothing is changed, and the answer is a plan that can be sent back as `plan`. The answer
            holds the first 1,000 changes. 409 while another sweep runs in the namespace. `resume` continues an
            interrupted sweep.

            With `Accept: text/event-stream` it comes as server-sent events: with `llm` first `estimate`, what the
            language model will be asked; `progress` with `stage`, `done`, `total` and what to resume; `changes` with
            every change of a finished part, `refused`, and last `report`, the object below, or `error`.
            """,
    ),
    Operation(
        name="list_sweeps",
        call=lambda app: app.sweeps.list_sweeps,
        input=sweep.SweepQuery,
        argument="query",
        output=sweep.SweepList,
        scope="sweep",
        http=Http("GET", "/v1/sweeps"),
        cli="sweep list",
        doc="List the sweeps of a namespace, the newest first, page by page. Dry runs are not kept.",
    ),
    Operation(
        name="get_sweep",
        call=lambda app: app.sweeps.get_sweep,
        input=sweep.SweepQuery,
        argument="query",
        output=sweep.SweepReport,
        scope="sweep",
        errors=(NotFound,),
        http=Http("GET", "/v1/sweeps/{sweep_id}"),
        doc="Get one sweep with a page of its changes, in the order in which they were made.",
    ),
    Operation(
        name="undo_sweep",
        call=lambda app: app.sweeps.undo_sweep,
        output=sweep.SweepUndoOutput,
        scope="sweep",
        errors=(NotFound, LeaseHeld, LeaseLost),
        http=Http("POST", "/v1/sweeps/{sweep_id}/undo"),
        cli="sweep undo",
        doc="""Undo a sweep: restore texts, types and tags, remove its edges, withdraw its proposals.

            Later changes and decisions are kept and reported. Repeating the request continues an interrupted undo.
            With `Accept: text/event-stream` it comes as server-sent events: `progress`, and last
            `undone`, the object below, or `error`.
            """,
    ),
    Operation(
        name="changes",
        call=lambda app: app.feed.changes,
        input=feed.ChangeQuery,
        argument="query",
        output=feed.ChangeList,
        errors=(ChangesGone,),
        http=Http("GET", "/v1/changes", id="list_changes", headers=("Last-Event-ID",)),
        cli="changes",
        doc="""Follow the changes of items, files and edges.

            Each change comes once, in commit order, without its text. Without `after` the answer holds no change, only
            a `cursor` to continue from. Changes are kept for LIBRARIAN_CHANGES_HOURS; an older cursor is a 410: read
            everything again.

            With `Accept: text/event-stream` it comes as an open stream of server-sent events: `change`, an entry of
            `changes` with its cursor as the event's id; first, if there is none yet, `cursor` (`{"cursor": …}`) with
            the cursor as its id. Send the last id as `after` or `Last-Event-ID` to continue a broken stream. The last
            event may be `error`, a problem.
            """,
    ),
    Operation(
        name="add_webhook",
        call=lambda app: app.webhooks.add_webhook,
        input=feed.WebhookIn,
        argument="webhook",
        output=feed.WebhookCreated,
        scope="admin",
        errors=(Conflict,),
        http=Http("POST", "/v1/webhooks", statuses=(), created=lambda _made: True, secret=True),
        cli="webhook add",
        doc="""Send changes from now on to an address.

            Signed according to Standard Webhooks, in the order of the change feed, up to 100 changes at a time, retried
            until the receiver answers with a 2xx. The secret appears only in this answer.
            """,
    ),
    Operation(
        name="list_webhooks",
        call=lambda app: app.webhooks.list_webhooks,
        output=feed.WebhookList,
        scope="admin",
        http=Http("GET", "/v1/webhooks"),
        cli="webhook list",
        doc="""List the webhooks of a namespace, with the state of their deliveries.

            A paused one says since when deliveries have failed, and why.
            """,
    ),
    Operation(
        name="remove_webhook",
        call=lambda app: app.webhooks.remove_webhook,
        output=feed.WebhookOut,
        scope="admin",
        errors=(NotFound,),
        http=Http("DELETE", "/v1/webhooks/{webhook_id}"),
        cli="webhook remove",
        doc="Remove a webhook and return it.",
    ),
    Operation(
        name="test_webhook",
        call=lambda app: app.webhooks.test_webhook,
        output=feed.WebhookTest,
        scope="admin",
        errors=(NotFound,),
        http=Http("POST", "/v1/webhooks/{webhook_id}:test"),
        cli="webhook test",
        doc="""Send a test delivery now.

            If it succeeds, a paused webhook resumes where it stopped.
            """,
    ),
    Operation(
        name="namespaces",
        call=lambda app: app.items.namespaces,
        output=items.NamespaceList,
        namespaced=False,
        http=Http("GET", "/v1/namespaces", id="list_namespaces"),
        cli="namespaces",
        doc="List the namespaces that the key opens, with their item counts.",
    ),
    Operation(
        name="delete_namespace",
        call=lambda app: app.items.delete_namespace,
        input=items.DeleteNamespaceInput,
        output=items.DeleteOutput,
        scope="admin",
        unpacked=True,
        errors=(NotFound, Conflict),
        http=Http("POST", "/v1/namespaces/{namespace}:delete"),
        cli="namespaces",
        doc="""Delete a namespace with all its contents, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token everything is deleted, unless
            something was written since (409).
            """,
    ),
    Operation(
        name="list_embeddings",
        call=lambda app: app.embeddings.status,
        output=SpaceList,
        scope="admin",
        namespaced=False,
        everywhere=True,
        http=Http("GET", "/v1/embeddings"),
        doc="""List the embedding spaces of the graph.

            The vectors of the active one are searched. A space holds vectors of all namespaces.
            """,
    ),
    Operation(
        name="switch_embeddings",
        call=lambda app: app.embeddings.switch_to,
        input=SwitchInput,
        output=SpaceList,
        scope="admin",
        unpacked=True,
        namespaced=False,
        everywhere=True,
        errors=(NotFound, Conflict),
        http=Http("POST", "/v1/embeddings:switch"),
        doc="""Activate another embedding space, in one step.

            Build it first with `librarian embeddings build`: 409 while items lack vectors in it, unless forced.
            Services with a different encoder search by keywords from then on.
            """,
    ),
    Operation(
        name="rollback_embeddings",
        call=lambda app: app.embeddings.rollback,
        output=SpaceList,
        scope="admin",
        namespaced=False,
        everywhere=True,
        errors=(Conflict,),
        http=Http("POST", "/v1/embeddings:rollback"),
        doc="Reactivate the embedding space that was active before the last switch.",
    ),
)

LOCAL: Mapping[str, Call] = {
    "get_relevant_memory": lambda app: app.search.get_relevant_memory,
    "evidence": lambda app: app.search.evidence,
    "answer_from": lambda app: app.search.answer_from,
    "answer_events": lambda app: app.search.answer_events,
    "search_agent_events": lambda app: app.agent.events,
    "load_sample": lambda app: app.items.load_sample,
    "get_object": lambda app: app.items.get_object,
    "index_files": lambda app: app.files.index_files,
    "index_allowed": lambda app: app.files.index_allowed,
    "watch_files": lambda app: app.files.watch_files,
    "sweep_events": lambda app: app.sweeps.sweep_events,
    "sweep_sample": lambda app: app.sweeps.sweep_sample,
    "undo_events": lambda app: app.sweeps.undo_events,
    "review_labels": lambda app: app.reviews.review_labels,
    "export_to": lambda app: app.transfer.export_to,
    "export_into": lambda app: app.transfer.export_into,
    "import_from": lambda app: app.transfer.import_from,
    "follow_changes": lambda app: app.feed.follow_changes,
    "backup": lambda app: app.transfer.backup,
    "restore": lambda app: app.transfer.restore,
    "embed_pending": lambda app: app.embeddings.embed_pending,
    "pending_embeddings": lambda app: app.embeddings.pending_embeddings,
    "unread_items": lambda app: app.embeddings.unread_items,
    "calibrate": lambda app: app.embeddings.calibrate,
    "propose_pending": lambda app: app.sweeps.propose_pending,
    "wake": lambda app: app.embeddings.wake,
    "work": lambda app: app.embeddings.work,
}
"""Further methods of the Librarian, for programs in its process only: their arguments or results cannot be sent."""
