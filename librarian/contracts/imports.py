"""Importing what other programs have exported."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

ImportFormat = Annotated[
    Literal["auto", "chatgpt", "markdown", "mcp-memory", "mem0", "slack"],
    Meta(description="The program that wrote the export; auto recognises it."),
]
Filename = Annotated[
    str, Meta(min_length=1, max_length=255, description="The file's name; its ending tells a zip archive from a file.")
]


class ImportQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """How the uploaded file is called."""

    filename: Filename = "upload"
