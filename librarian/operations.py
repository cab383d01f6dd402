"""The one table of operations: each verb of a Librarian, the method of a room that does it, and how it is offered.

The methods of `Librarian` and of both clients, the HTTP interface and its OpenAPI document, the tools of language
models and what `--remote` can ask are made from these rows. Importing this module loads contracts alone.
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
    """One object a room, as a Librarian holds them."""

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
    """How an operation is asked over HTTP: by `path`, whose parts in braces are parameters.

    `form` is that of the body; a GET sends the input as its query string, and `query` is what stands there otherwise:
    the method takes its fields by name. `answer` is the type of the answer where it is not the operation's output,
    `statuses` those of success, and `created` tells from the output whether it is 201. `versioned` says that it
    understands If-Match; `headers` are further ones that it reads; `pool` says whose slots it takes. `id` is the
    operationId where it is not the name. `secret` says that its answer holds one and is kept nowhere: it is
    not safe to send again.
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
    """How language models are offered an operation. What is not given is the operation's own.

    `reports` says that the method takes `on_step`, which hears in a few words what is being done.
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
    """One verb. Its method takes the namespace (unless not `namespaced`), the parameters of its path, and `input` under
    the name `argument`, or its fields one by one where it is `unpacked`.

    `errors` are those that it raises beyond what every operation may raise. `everywhere` says that the key has to open
    every namespace; `progress` that the method takes `on_progress`, called with each part that is done and safe. `cli`
    is the command that asks it, here or of a service; behind a blank its subcommand.
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
        """What it does, for the HTTP interface and the clients; the first sentence is its summary."""
        return inspect.cleandoc(self.doc)

    @property
    def writes(self) -> bool:
        """Whether it changes something."""
        return self.scope in ("write", "sweep", "admin") and (self.http is None or self.http.method != "GET")

    @property
    def path(self) -> str:
        """Where it is asked over HTTP."""
        return self.http.path if self.http else f"/v1/tools/{self.tool_name}"

    @property
    def path_parameters(self) -> tuple[str, ...]:
        """The parameters of its path, without the namespace."""
        return tuple(name for name in _IN_BRACES.findall(self.path) if name != "namespace")

    @property
    def tool_name(self) -> str:
        """The name of its tool, empty where it is none."""
        return "" if self.tool is None else self.tool.name or self.name


def visible_to(key: ApiKey | None, output: Any) -> Any:
    """Return `output` as the owner of `key` may see it: who may write and not read learns nothing of what is stored."""
    if key is None or key.has_scope("read") or not hasattr(output, "without_content"):
        return output
    return output.without_content()


def signature_of(operation: Operation) -> inspect.Signature:
    """Return the parameters of a verb as clients have it, without `self`."""
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

            1 to 20 queries are fused into one ranking. `arms` says what each arm of the search did.
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
        doc="""Say why a search does not show an item.

            Send the search as it was made, with the item's uid: a filter, the limit, a duplicate, a missing vector or
            better hits may keep it out. The answer holds the item's rank in each arm.
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

            Best first, one hit a message; what tells goes before what asks.
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
        doc="""Get what a language model should be given about a question, within a budget of tokens.

            A line an item, with its date, its author and `[memory: id]`, best first. A turn that says too little alone
            comes with the one before it, one that only asks with the one behind it; what was replaced names its
            replacement. The first line says when nothing that is kept answers the question.
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
        doc="""Answer a question out of what is kept, with citations.

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

            The search is the Professor's, where one is configured: no namespace is needed then. Otherwise it is
            Librarian's own over the namespace. `max_retries` bounds how often the search is refined; when the
            request's time is up, the best so far is answered.

            With `Accept: text/event-stream` it comes as server-sent events: `plan`, `search`, `candidates`,
            `evaluation`, `refine`, last `done` with the object below, or `error`, a problem; and `heartbeat` while
            nothing else comes.
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

            Messages, facts, memories and edges, as a JSON array, one object, or NDJSON. 200 when all were taken, 207
            when some were, 422 when none was; the report names each row's fault, and the valid rows lose nothing by
            it. What was forgotten is held back, which is no fault: `held_back` counts it.
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

            All filters of a search. Every item comes once as long as nothing changes meanwhile.
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
            "delete. What is deleted cannot be kept again unless a human allows it.",
            name="forget",
            read_only=False,
            destructive=True,
        ),
        cli="forget",
        doc="""Delete items by uid or filter, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token the previewed items are
            deleted, unless the selection has changed since (409). They leave tombstones, hashes without text: nothing
            brings them back, until the tombstones are lifted. With `tombstones=false` they leave none.
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
        doc="""List the tombstones of what was forgotten, the latest first, page by page.

            Each says the kind of an item, who forgot it and when. Neither its uid nor what it said is kept.
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
        doc="""Let what was forgotten come back.

            Named by the uids that the items had, or by the ids of the tombstones. The tombstones go, and the items can
            be ingested or imported again; what they said was not kept and does not come back by itself.
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
            "Say what is true instead of a stored fact or memory. The old fact stays in the history and is no"
            " longer found; a memory's old text is kept as a revision. Prefer this to forgetting.",
            input=items.CorrectInput,
            read_only=False,
        ),
        cli="correct",
        doc="""Say what is true instead.

            A fact is superseded by a new one and stays in the history; a memory's text is replaced and kept as a
            revision.
            """,
    ),
    Operation(
        name="revisions",
        call=lambda app: app.items.revisions,
        output=items.RevisionList,
        errors=(NotFound,),
        http=Http("GET", "/v1/items/{uid}/revisions", id="list_revisions"),
        cli="history",
        doc="What a fact or memory said before, newest first.",
    ),
    Operation(
        name="impact",
        call=lambda app: app.items.impact,
        output=items.ImpactOutput,
        errors=(NotFound,),
        http=Http("GET", "/v1/items/{uid}/impact", id="get_impact"),
        tool=Tool(
            "See what rests on an item before you correct or forget it: the facts and memories that nothing would "
            "support any more, those that keep other support, and what edges say it leads to.",
            call=lambda app: app.items.impact_of,
            input=items.ImpactInput,
        ),
        cli="impact",
        doc="""Say what rests on an item, before it ends, is corrected or forgotten.

            What cites nothing else that stands would be unsupported, directly or through others. Nothing is changed.
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

            An item of another namespace is not found. `known_at` gives it as it was on file then, `as_of` only if it
            held then.
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

            The same row again changes nothing. A replaced fact or memory keeps a revision.
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
        doc="""Delete one item with all that hangs on it: edges, evidence links, revisions, embeddings.

            It leaves a tombstone: nothing brings it back, until that is lifted. With `tombstones=false` it leaves
            none.
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

            Its method is human from then on, also where a rule or model had drawn or proposed it. 201 when it is new.
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
        doc="Remove one edge, named by edge_id or by source, type and target; the answer is what it was.",
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
        doc="Remove one edge; the answer is what it was.",
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
        doc="Get what is around an item, whichever way edges point.",
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
        doc="List facts that name different objects for one time, and items that both cause and block another.",
    ),
    Operation(
        name="cycles",
        call=lambda app: app.causal.cycles,
        input=causal.CycleQuery,
        argument="asked",
        output=causal.CycleList,
        http=Http("GET", "/v1/graph/cycles", id="list_cycles"),
        cli="cycles",
        doc="List items that lead back to themselves.",
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
        doc="""Index a folder of the service's machine.

            Only folders in LIBRARIAN_INDEX_ROOTS, and only what changed since the last time. Files are found by name
            while their contents follow; the answer comes when all are stored.
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
            "Find files by what they are called: a path or its end, a file name, a name without its ending or its "
            "beginning, words of it and of its folders, or a name that it defines; one typo is forgiven. The answer is "
            "a list of paths, best first, with the reason for each."
        ),
        cli="find-file",
        doc="""Find files by what they are called.

            A path or its end, a file name, a stem or its beginning, words of these, or a name that a file defines; one
            typo is forgiven. `matches` says why each file is there.
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

            Or for a regular expression of RE2, whose time is linear. Lines that define the name come first.
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
        doc="""Find out where something is in files.

            The shape of the query decides whether paths, lines, definitions or meanings are searched; `why` says it.
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
        doc="""List evidence in files that does not stand any more.

            Facts and memories may cite lines of files. Lines that moved with their file are followed; those that were
            changed, are gone, or were never found are listed here, by path.
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
        doc="Read lines of a file, as they are stored.",
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

            The body is the file itself. The same contents again change nothing.
            """,
    ),
    Operation(
        name="delete_file",
        call=lambda app: app.files.delete_file,
        output=files.FileOut,
        scope="write",
        errors=(NotFound,),
        http=Http("DELETE", "/v1/files/{path}"),
        doc="Delete one file with its parts and all that hangs on them.",
    ),
    Operation(
        name="list_reviews",
        call=lambda app: app.reviews.list_reviews,
        input=sweep.ReviewQuery,
        argument="query",
        output=sweep.ReviewList,
        http=Http("GET", "/v1/reviews"),
        cli="review",
        doc="""List what sweeps and ingests propose and nobody has decided, or what was decided, page by page.

            Edges and facts that may replace others (`supersede`) come first, then memories whose type nobody can tell
            (`flag`) and memories that say the same (`merge`).
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
        doc="""Accept or reject what is proposed.

            An accepted edge gets its real type, a rejected one is kept as a rejected proposal; an accepted
            supersession ends the older fact, and revised ends it no more; an accepted flag gives the memory its type;
            an accepted merge lets the fuller memory take over what hangs on the other one. No sweep changes a
            decision. The same decision again changes nothing, another one is a 409.
            """,
    ),
    Operation(
        name="list_review_reasons",
        call=lambda app: app.reviews.list_review_reasons,
        output=sweep.ReasonList,
        http=Http("GET", "/v1/reviews:reasons"),
        cli="review reasons",
        doc="""List the kinds of reasons for which something was proposed, with how many are open or decided.

            What was rejected three times more than accepted teaches sweeps of the namespace to be less sure.
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
        doc="""Accept or reject all that was proposed for one kind of reason, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token the previewed ones are decided,
            each on its own, unless others match by now (409). At most 500 at once; `more` says that there are further
            ones.
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
        doc="""Sweep a namespace: tell memories' types, write their sections, connect causes, propose merges.

            With `dry_run` nothing is changed, and the answer is a plan that can be sent back as `plan`. The answer
            holds the first 1,000 changes. 409 while another sweep works in the namespace. A sweep that was
            interrupted is taken up by `resume`.

            With `Accept: text/event-stream` it comes as server-sent events: with `llm` first `estimate`, what the
            language model will be asked; `progress` with `stage`, `done`, `total` and what to resume; `changes` with
            every change of a part that is done, `refused`, and last `report`, the object below, or `error`.
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
        doc="""Take back what a sweep changed: texts, types and tags as they were, its edges gone, its proposals
            withdrawn.

            What somebody has changed or decided since is kept and reported. An interrupted undo goes on when it is
            asked for again. With `Accept: text/event-stream` it comes as server-sent events: `progress`, and last
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
        doc="""Follow what becomes of items, files and edges.

            In the order in which it was committed, each change once, without its text. Without `after` the answer holds
            no change, and a `cursor` to go on from. Changes are kept for LIBRARIAN_CHANGES_HOURS; behind an older
            cursor it is a 410: read what there is anew.

            With `Accept: text/event-stream` it comes as server-sent events and goes on: `change`, an entry of `changes`
            with its cursor as the event's id; first, where there is none yet, `cursor` (`{"cursor": …}`) with that as
            its id. Send the last id as `after` or `Last-Event-ID` to go on where a stream broke off. The last event may
            be `error`, a problem.
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
        doc="""Send what is changed from now on to an address.

            Signed as Standard Webhooks has it, in the order of the change feed, up to 100 changes at a time, again
            until the receiver answers with a 2xx. The secret is in this answer and nowhere else.
            """,
    ),
    Operation(
        name="list_webhooks",
        call=lambda app: app.webhooks.list_webhooks,
        output=feed.WebhookList,
        scope="admin",
        http=Http("GET", "/v1/webhooks"),
        cli="webhook list",
        doc="""List the webhooks of a namespace, with how their deliveries fare.

            One that was paused says since when nothing was taken, and why.
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
        doc="Remove a webhook; the answer is what it was.",
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

            When it is taken, a webhook that was paused goes on where it was.
            """,
    ),
    Operation(
        name="namespaces",
        call=lambda app: app.items.namespaces,
        output=items.NamespaceList,
        namespaced=False,
        http=Http("GET", "/v1/namespaces", id="list_namespaces"),
        cli="namespaces",
        doc="List the namespaces that the key opens, with their counts.",
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
        doc="""Delete a namespace with all that is in it, in two steps.

            Without `confirm_token` the answer is a preview with a token. With the token everything goes, unless
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

            One is active: its vectors are searched. Vectors of all namespaces lie in one space.
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
        doc="""Make another embedding space the active one, in one step.

            It has to be built before, by `librarian embeddings build`: while items lack vectors in it, 409, unless
            forced. Services whose encoder is another one search by keywords from then on.
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
        doc="Make the embedding space active again that was before the last switch.",
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
"""Further methods of the Librarian, for programs in its own process: they take or give what does not travel."""
