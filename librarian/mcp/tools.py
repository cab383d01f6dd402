"""Operations as tools for language models: names, inputs, outputs and scopes."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from librarian.app import Librarian
from librarian.base.errors import InvalidInput
from librarian.base.keys import ApiKey, Scope
from librarian.base.schemas import inlined_schema
from librarian.mcp.contracts import ToolFormat
from librarian.operations import OPERATIONS, Call, Operation

# Receives a short description of each step of a tool.
OnStep = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """One tool. `parts` are the fields of its input that its method takes separately, before the input."""

    name: str
    description: str
    scope: Scope
    call: Call
    parts: tuple[str, ...]
    input: type[Struct]
    output: type[Struct]
    errors: tuple[type[Exception], ...]
    read_only: bool
    destructive: bool
    reports: bool

    async def run(self, librarian: Librarian, namespace: str, given: Any, on_step: OnStep | None = None) -> Struct:
        """Return its output; the namespace comes from the connection or key, never from the model."""
        options = {"on_step": on_step} if self.reports else {}
        parts = (getattr(given, name) for name in self.parts)
        output: Struct = await self.call(librarian)(namespace, *parts, given, **options)
        return output


def offered(operation: Operation) -> OfferedTool | None:
    """Return the tool form of an operation, if it has one."""
    tool = operation.tool
    if tool is None or operation.scope is None:
        return None
    return OfferedTool(
        name=operation.tool_name,
        description=tool.description,
        scope=operation.scope,
        call=tool.call or operation.call,
        parts=operation.path_parameters if tool.call is None else (),
        input=tool.input or operation.input,
        output=tool.output or operation.output,
        errors=operation.errors if tool.errors is None else tool.errors,
        read_only=tool.read_only,
        destructive=tool.destructive,
        reports=tool.reports,
    )


TOOLS = tuple(tool for tool in map(offered, OPERATIONS) if tool is not None)


TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "search": (
        "search_all",
        "semantic_search_facts",
        "semantic_search_messages",
        "semantic_search_memories",
        "relevant_memory",
        "context",
        "find_evidence",
    ),
    "keep": ("remember", "correct", "forget", "impact"),
    "graph": ("link", "unlink", "causes_of", "effects_of", "blockers_of", "enablers_of"),
    "files": ("find_file", "search_text", "locate"),
    "sweep": ("sweep",),
}
"""Groups of tools, to offer a connection only some; each tool is in one group."""


def chosen_tools(toolsets: str) -> frozenset[str]:
    """Return the names of the tools in comma-separated toolsets. Raises InvalidInput."""
    names = [name.strip() for name in toolsets.split(",")]
    if unknown := [name for name in names if name not in TOOLSETS]:
        raise InvalidInput(
            f"there is no toolset {unknown[0][:100]!r}",
            field="tools",
            remedy=f"Name some of {', '.join(TOOLSETS)}, separated by commas.",
        )
    return frozenset(tool for name in names for tool in TOOLSETS[name])


def tools_for(key: ApiKey, chosen: Container[str] | None = None) -> list[OfferedTool]:
    """Return the tools that the key may call, limited to the names in `chosen` if given."""
    return [tool for tool in TOOLS if key.has_scope(tool.scope) and (chosen is None or tool.name in chosen)]


def described(tool: OfferedTool, form: ToolFormat) -> dict[str, Any]:
    """Return the tool's description in the format of a protocol or vendor."""
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
