"""The tools of an agent: what each is called, takes and gives, and who may call it.

HTTP, MCP and the documentation are made from this one table. Descriptions are written for language models.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct, structs

from agents.errors import ToolContractBroken, ToolFailed, ToolRetry
from librarian.contracts.causal import CausalInput, CausalOutput
from librarian.contracts.changes import (
    CorrectInput,
    CorrectOutput,
    DeleteInput,
    DeleteOutput,
    PutOutput,
    RememberInput,
)
from librarian.contracts.edges import EdgeOut, LinkOutput, UnlinkInput
from librarian.contracts.files import (
    FindFileInput,
    FindFileOutput,
    LocateInput,
    LocateOutput,
    SearchTextInput,
    TextLines,
)
from librarian.contracts.items import LinkInput
from librarian.contracts.keys import ApiKey, Scope
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.search_agent import FindEvidenceInput, SearchAgentOutput
from librarian.contracts.semantic import (
    FactSearchOutput,
    MemorySearchOutput,
    MessageSearchOutput,
    MixedSearchOutput,
    SemanticSearchInput,
)
from librarian.contracts.sweeps import SweepReport, SweepRequest, SweepScope
from librarian.contracts.tools import ToolFormat
from librarian.errors import Conflict, NotFound
from librarian.schemas import inlined_schema
from librarian.service import Librarian
from librarian.usecases.search_agent import watched
from librarian.usecases.search_text import as_lines
from librarian.usecases.sweep_reports import shortened

Input = TypeVar("Input", bound=Struct)
# Hears what a tool is at, in a few words.
Watch = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tool(Generic[Input]):
    """One tool; `run` gets the namespace from the connection or key, never from the model.

    `watched` does the same and says what it is at meanwhile, where that takes long.
    """

    name: str
    description: str
    scope: Scope
    input: type[Input]
    output: type[Struct]
    run: Callable[[Librarian, str, Input], Awaitable[Struct]]
    errors: tuple[type[Exception], ...] = ()
    watched: Callable[[Librarian, str, Input, Watch], Awaitable[Struct]] | None = None


async def _search_facts(librarian: Librarian, namespace: str, given: SemanticSearchInput) -> FactSearchOutput:
    return await librarian.semantic_search_facts(namespace, given)


async def _search_messages(librarian: Librarian, namespace: str, given: SemanticSearchInput) -> MessageSearchOutput:
    return await librarian.semantic_search_messages(namespace, given)


async def _search_memories(librarian: Librarian, namespace: str, given: SemanticSearchInput) -> MemorySearchOutput:
    return await librarian.semantic_search_memories(namespace, given)


async def _search_all(librarian: Librarian, namespace: str, given: SemanticSearchInput) -> MixedSearchOutput:
    return await librarian.search_all(namespace, given)


async def _relevant_memory(librarian: Librarian, namespace: str, given: RelevantInput) -> RelevantOutput:
    return await librarian.relevant_memory(namespace, given)


async def _find_evidence(librarian: Librarian, namespace: str, given: FindEvidenceInput) -> SearchAgentOutput:
    return await librarian.search_agent(namespace, given.as_request())


async def _watched_evidence(
    librarian: Librarian, namespace: str, given: FindEvidenceInput, watch: Watch
) -> SearchAgentOutput:
    steps = librarian.search_agent_events(namespace, given.as_request())
    return await watched(steps, lambda step: watch(step.event))


async def _find_file(librarian: Librarian, namespace: str, given: FindFileInput) -> FindFileOutput:
    return await librarian.find_file(namespace, given)


async def _search_text(librarian: Librarian, namespace: str, given: SearchTextInput) -> TextLines:
    return as_lines(await librarian.search_text(namespace, given))


async def _locate(librarian: Librarian, namespace: str, given: LocateInput) -> LocateOutput:
    return await librarian.locate(namespace, given)


async def _remember(librarian: Librarian, namespace: str, given: RememberInput) -> PutOutput:
    return await librarian.remember(namespace, given)


async def _correct(librarian: Librarian, namespace: str, given: CorrectInput) -> CorrectOutput:
    return await librarian.correct(namespace, given.uid, given)


async def _forget(librarian: Librarian, namespace: str, given: DeleteInput) -> DeleteOutput:
    return await librarian.delete_items(namespace, given)


async def _link(librarian: Librarian, namespace: str, given: LinkInput) -> LinkOutput:
    return await librarian.link(namespace, given)


async def _unlink(librarian: Librarian, namespace: str, given: UnlinkInput) -> EdgeOut:
    return await librarian.unlink(namespace, given)


async def _causes_of(librarian: Librarian, namespace: str, given: CausalInput) -> CausalOutput:
    return await librarian.causes_of(namespace, given)


async def _effects_of(librarian: Librarian, namespace: str, given: CausalInput) -> CausalOutput:
    return await librarian.effects_of(namespace, given)


async def _blockers_of(librarian: Librarian, namespace: str, given: CausalInput) -> CausalOutput:
    return await librarian.blockers_of(namespace, given)


async def _enablers_of(librarian: Librarian, namespace: str, given: CausalInput) -> CausalOutput:
    return await librarian.enablers_of(namespace, given)


async def _watched_sweep(librarian: Librarian, namespace: str, given: SweepScope, watch: Watch) -> SweepReport:
    request = SweepRequest(**structs.asdict(given), dry_run=True)
    report = await librarian.sweep(namespace, request, lambda step: watch(f"{step.stage}: {step.done} of {step.total}"))
    return shortened(report)


async def _sweep(librarian: Librarian, namespace: str, given: SweepScope) -> SweepReport:
    return await _watched_sweep(librarian, namespace, given, lambda _step: None)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "semantic_search_facts",
        "Find facts by meaning and by words, each with the messages that support it. Ask one question in several "
        "wordings at once with `queries`. What is not similar enough is left out: few or no hits mean that little or "
        "nothing is known.",
        "read",
        SemanticSearchInput,
        FactSearchOutput,
        _search_facts,
    ),
    Tool(
        "semantic_search_messages",
        "Find messages of conversations by meaning and by words: who said what, and when. Ask one question in several "
        "wordings at once with `queries`; narrow it to a conversation, authors or a time with `filters`.",
        "read",
        SemanticSearchInput,
        MessageSearchOutput,
        _search_messages,
    ),
    Tool(
        "semantic_search_memories",
        "Find memories by meaning and by words: decisions, problems, patterns, insights. Ask one question in several "
        "wordings at once with `queries`; narrow it to types, tags or an agent with `filters`.",
        "read",
        SemanticSearchInput,
        MemorySearchOutput,
        _search_memories,
    ),
    Tool(
        "search_all",
        "Find memories, facts, messages and files by meaning and by words, in one ranking. Ask one question in several "
        "wordings at once with `queries`. Every hit has a kind and a uid; facts come with the messages that support "
        "them.",
        "read",
        SemanticSearchInput,
        MixedSearchOutput,
        _search_all,
    ),
    Tool(
        "relevant_memory",
        "Get what helps to answer one question: messages, memories and facts, best first, what tells before what only "
        "asks. Use it to recall; use search_all to filter or to ask in several wordings.",
        "read",
        RelevantInput,
        RelevantOutput,
        _relevant_memory,
    ),
    Tool(
        "find_evidence",
        "Find the smallest set of evidence that covers each of `target_items`: it searches, judges what it found, and "
        "searches again for what is missing. Gives numbers with reasons and quotations, never an answer: write that "
        "yourself. Use it where one search is not enough; search_all is faster.",
        "agent",
        FindEvidenceInput,
        SearchAgentOutput,
        _find_evidence,
        (ToolRetry, ToolFailed, ToolContractBroken),
        _watched_evidence,
    ),
    Tool(
        "find_file",
        "Find files by what they are called: a path or its end, a file name, a name without its ending, or words of "
        "it; one typo is forgiven. The answer is a list of paths, best first.",
        "read",
        FindFileInput,
        FindFileOutput,
        _find_file,
    ),
    Tool(
        "search_text",
        "Find the lines of files that hold an exact text, as grep does; `regex`, `ignore_case` and `word` widen or "
        "narrow it, `globs` and `languages` choose files. The answer is lines `path:line: text`, definitions of the "
        "name first. Use it for identifiers, error messages and settings; use locate when unsure.",
        "read",
        SearchTextInput,
        TextLines,
        _search_text,
    ),
    Tool(
        "locate",
        "Find out where something is in files when you do not know how to look: a path, a name, a phrase in quotation "
        "marks, or a question such as `where is X defined?`. It chooses between paths, lines and meaning and says why.",
        "read",
        LocateInput,
        LocateOutput,
        _locate,
    ),
    Tool(
        "causes_of",
        "Find what led to an item, its root causes last: follows CAUSES backwards. Each item comes with the edges of "
        "the path to it, their quotes, and the product of their confidences.",
        "read",
        CausalInput,
        CausalOutput,
        _causes_of,
        (NotFound,),
    ),
    Tool(
        "effects_of",
        "Find what an item leads to, its blast radius: follows CAUSES forwards, with `types` also BLOCKS and ENABLES. "
        "Use it before changing or reverting something.",
        "read",
        CausalInput,
        CausalOutput,
        _effects_of,
        (NotFound,),
    ),
    Tool(
        "blockers_of",
        "Find what blocks an item, and what blocks that: follows BLOCKS backwards. Use it to see why something is "
        "stuck.",
        "read",
        CausalInput,
        CausalOutput,
        _blockers_of,
        (NotFound,),
    ),
    Tool(
        "enablers_of",
        "Find what enables an item, and what enables that: follows ENABLES backwards. Use it to see what something "
        "depends on.",
        "read",
        CausalInput,
        CausalOutput,
        _enablers_of,
        (NotFound,),
    ),
    Tool(
        "remember",
        "Keep one thing for later: a memory (what was decided, learned, gone wrong) or, with kind `fact`, a statement "
        "about somebody or something with the evidence for it. The same content twice is kept once.",
        "write",
        RememberInput,
        PutOutput,
        _remember,
        (Conflict,),
    ),
    Tool(
        "correct",
        "Say what is true instead of a stored fact or memory. The old fact stays in the history and is no longer "
        "found; a memory's old text is kept as a revision. Prefer this to forgetting.",
        "write",
        CorrectInput,
        CorrectOutput,
        _correct,
        (NotFound, Conflict),
    ),
    Tool(
        "forget",
        "Delete items by uid or filter, in two steps: without `confirm_token` nothing is deleted and the answer says "
        "what would go, with a token; call again with the same arguments and that token to delete.",
        "write",
        DeleteInput,
        DeleteOutput,
        _forget,
        (Conflict,),
    ),
    Tool(
        "link",
        "Connect two items: CAUSES, BLOCKS or ENABLES from source to target, or RELATES_TO. Say why in `reason`, and "
        "quote both ends where you can.",
        "write",
        LinkInput,
        LinkOutput,
        _link,
        (NotFound,),
    ),
    Tool(
        "unlink",
        "Remove one connection, by `edge_id` or by `source`, `type` and `target`.",
        "write",
        UnlinkInput,
        EdgeOut,
        _unlink,
        (NotFound,),
    ),
    Tool(
        "sweep",
        "See what a sweep would do to the memories: types that nobody has stated, texts put into sections, causal "
        "edges with quotations, near-duplicates to merge, and what is missing or saturated. Nothing is changed; the "
        "first changes are shown, all are counted. Narrow it by `domains`, `min_importance` or `filters`.",
        "sweep",
        SweepScope,
        SweepReport,
        _sweep,
        watched=_watched_sweep,
    ),
)

# Tools that take long and say meanwhile what they are at.
WATCHED = frozenset(tool.name for tool in TOOLS if tool.watched is not None)


def tools_for(key: ApiKey) -> list[Tool[Any]]:
    """The tools that the key may call."""
    return [tool for tool in TOOLS if key.has_scope(tool.scope)]


def described(tool: Tool[Any], form: ToolFormat) -> dict[str, Any]:
    """The tool as a protocol or vendor wants it described."""
    parameters = inlined_schema(tool.input)
    match form:
        case "mcp":
            named = {"name": tool.name, "description": tool.description}
            return {**named, "inputSchema": parameters, "outputSchema": inlined_schema(tool.output)}
        case "anthropic":
            return {"name": tool.name, "description": tool.description, "input_schema": parameters}
        case "openai":
            function = {"name": tool.name, "description": tool.description, "parameters": parameters}
            return {"type": "function", "function": function}
