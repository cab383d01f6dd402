"""A bundle for Claude Desktop (.mcpb): a zip with a manifest that says how to start the server of this machine.

The manifest follows https://github.com/modelcontextprotocol/mcpb, version 0.2. The program itself is not included.
"""

import io
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import metadata
from typing import Any

import msgspec

from librarian.mcp.tools import OfferedTool

_LAUNCHER = "server/librarian"
_EXECUTABLE = 0o755 << 16


def bundle_of(server: Mapping[str, Any], tools: Sequence[OfferedTool]) -> bytes:
    """Return the bundle of a server started by `command`, `args` and `env` that offers `tools`."""
    described = metadata("librarian")
    manifest = {
        "manifest_version": "0.2",
        "name": "librarian",
        "display_name": "Librarian",
        "version": described["Version"],
        "description": described["Summary"],
        "author": {"name": "Librarian"},
        "license": described["License-Expression"],
        "server": {"type": "binary", "entry_point": _LAUNCHER, "mcp_config": {"env": {}, **server}},
        "tools": [{"name": tool.name, "description": tool.description} for tool in tools],
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "linux"]},
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=2))
        launcher = zipfile.ZipInfo(_LAUNCHER)
        launcher.external_attr = _EXECUTABLE
        bundle.writestr(launcher, f"#!/bin/sh\nexec {shlex.join([server['command'], *server['args']])}\n")
    return written.getvalue()
