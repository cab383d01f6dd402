"""The tools of an agent: what each is called, takes and gives, and who may call it.

HTTP, MCP and the documentation are made from this one table. Descriptions are written for language models.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import Struct

from librarian.contracts.changes import (
    CorrectInput,
    CorrectOutput,
    DeleteInput,
    DeleteOutput,
    PutOutput,
    RememberInput,
)
from librarian.contracts.edges import EdgeOut, LinkOutput, UnlinkInput
from librarian.contracts.items import LinkInput
from librarian.contracts.keys import ApiKey, Scope
from librarian.contracts.relevant import RelevantInput, RelevantOutput
from librarian.contracts.search import SearchInput, SearchOutput
from librarian.contracts.tools import ToolFormat
from librarian.errors import Conflict, NotFound
from librarian.schemas import inlined_schema
from librarian.service import Librarian

Input = TypeVar("Input", bound=Struct)


@dataclass(frozen=True, slots=True)
class Tool(Generic[Input]):
    """One tool; `run` gets the namespace from the connection or key, never from the model."""

    name: str
    description: str
    scope: Scope
    input: type[Input]
    output: type[Struct]
    run: Callable[[Librarian, str, Input], Awaitable[Struct]]
    errors: tuple[type[Exception], ...] = ()


async def _search_all(librarian: Librarian, namespace: str, given: SearchInput) -> SearchOutput:
    return await librarian.search(namespace, given)


async def _relevant_memory(librarian: Librarian, namespace: str, given: RelevantInput) -> RelevantOutput:
    return await librarian.relevant_memory(namespace, given)


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


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "search_all",
        "Find memories, facts, messages and files by meaning and by words. Ask one question in several wordings at "
        "once with `queries`. Every hit has a uid; facts come with the messages that support them.",
        "read",
        SearchInput,
        SearchOutput,
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
)


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
