"""Tool descriptions for language models."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

ToolFormat = Literal["mcp", "openai", "anthropic"]


class ToolQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """The format of the tool descriptions: the Model Context Protocol's, or a vendor's function calling."""

    format: Annotated[ToolFormat, Meta(description="The protocol or vendor.")] = "mcp"


class ToolList(Struct, kw_only=True):
    """The tools that the key may call, each described in the format."""

    format: ToolFormat
    tools: list[dict[str, Any]]
