"""`librarian mcp`: the tools for MCP clients, and the configuration for those clients."""

import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from librarian.base.errors import InvalidInput
from librarian.cli.lazy import deferred, new_app
from librarian.cli.options import NamespaceOption
from librarian.cli.runtime import namespace_or, run, run_async, say, settings_for
from librarian.transfer import atomic

if TYPE_CHECKING:
    from librarian import app as service
    from librarian.base import keys, tracing
    from librarian.base.keys import Scope
    from librarian.base.settings.settings import Settings
    from librarian.http import mcp as http_mcp
    from librarian.mcp import bundle as bundles
    from librarian.mcp import server as protocol
    from librarian.mcp import tools as tool_table
else:
    service = deferred("librarian.app")
    keys, tracing = deferred("librarian.base.keys"), deferred("librarian.base.tracing")
    http_mcp, protocol = deferred("librarian.http.mcp"), deferred("librarian.mcp.server")
    tool_table, bundles = deferred("librarian.mcp.tools"), deferred("librarian.mcp.bundle")

app = new_app()
mcp = new_app()
app.add_typer(mcp, name="mcp")

_READING: "tuple[Scope, ...]" = ("read", "agent", "sweep")
_KEY_PLACEHOLDER = "<key of `librarian keys create`>"
ReadOnlyOption = Annotated[bool, typer.Option("--read-only", help="Offer only read-only tools.")]

ToolsOption = Annotated[
    str | None,
    typer.Option(
        "--tools", metavar="SETS", help="Offer only these toolsets, comma-separated: search, keep, graph, files, sweep."
    ),
]


class Client(StrEnum):
    """MCP clients with a known configuration format."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    GEMINI = "gemini-cli"
    VSCODE = "vscode"


@mcp.callback(invoke_without_command=True)
def serve_client(
    ctx: typer.Context,
    namespace: NamespaceOption = None,
    tools: ToolsOption = None,
    *,
    read_only: ReadOnlyOption = False,
) -> None:
    """Offer the tools to an MCP client over standard input and output."""
    if ctx.invoked_subcommand is not None:
        return

    async def work() -> None:
        from mcp.server.stdio import stdio_server

        settings = settings_for()
        if settings.remote.url is not None:
            url = f"{settings.remote.url}{http_mcp.MCP_PATH}"
            raise InvalidInput(
                f"this server works on the graph itself; let the client connect to {url}",
                field="LIBRARIAN_REMOTE",
                remedy="`librarian mcp install --url URL` prints the configuration for that.",
            )
        where = namespace_or(namespace, settings.namespace)
        chosen = None if tools is None else tool_table.chosen_tools(tools)
        async with AsyncExitStack() as stack:
            stack.enter_context(tracing.traced(settings.tracing.endpoint))
            librarian = await stack.enter_async_context(service.open_librarian(settings, purpose="mcp", wait=False))
            caller = protocol.Caller(librarian, connection(where, read_only=read_only), where, chosen)
            server = protocol.mcp_server(lambda _ctx: caller)
            reading, writing = await stack.enter_async_context(stdio_server())
            await server.run(reading, writing, server.create_initialization_options())

    run_async(work)


@mcp.command()
def install(
    client: Annotated[Client | None, typer.Argument(help="Only for this one. Default: for all.")] = None,
    namespace: NamespaceOption = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Connect to this service instead of starting one beside the client."),
    ] = None,
    tools: ToolsOption = None,
    *,
    read_only: ReadOnlyOption = False,
) -> None:
    """Print the configuration for MCP clients."""

    def work() -> None:
        settings = settings_for()
        if tools is not None:
            tool_table.chosen_tools(tools)
        if url:
            server = _over_http(url, namespace, tools)
        else:
            server = _over_stdio(settings, namespace, tools, read_only=read_only)
        wanted = [client] if client else list(Client)
        typer.echo("\n\n".join(f"# {_WHERE[name]}\n{_FORMS[name](server)}" for name in wanted))

    run(work)


@mcp.command()
def bundle(
    file: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The bundle to write: NAME.mcpb.")],
    namespace: NamespaceOption = None,
    tools: ToolsOption = None,
    *,
    read_only: ReadOnlyOption = False,
) -> None:
    """Write a bundle for Claude Desktop, which starts this installation on this machine."""

    def work() -> None:
        settings = settings_for()
        chosen = None if tools is None else tool_table.chosen_tools(tools)
        server = _over_stdio(settings, namespace, tools, read_only=read_only)
        offered = tool_table.tools_for(connection(settings.namespace, read_only=read_only), chosen)
        with atomic.whole_file(file) as written:
            written.write(bundles.bundle_of(server, offered))
        say(f"Wrote {file}: open it with Claude Desktop.")

    run(work)


def connection(namespace: str, *, read_only: bool) -> "keys.ApiKey":
    """Return the rights of the user whose client started this process."""
    scopes: tuple[Scope, ...] = _READING if read_only else (*_READING, "write")
    return keys.ApiKey(
        id="mcp", name="mcp", sha256="", scopes=scopes, namespaces=(namespace,), created_at=datetime.now(UTC)
    )


def _over_stdio(settings: "Settings", namespace: str | None, tools: str | None, *, read_only: bool) -> dict[str, Any]:
    command = shutil.which(sys.argv[0]) or sys.argv[0]
    args = ["mcp", "--namespace", namespace_or(namespace, settings.namespace)] + ["--read-only"] * read_only
    args += [] if tools is None else ["--tools", tools]
    folders = {"LIBRARIAN_HOME": settings.home, "LIBRARIAN_CACHE": settings.cache}
    env = {name: str(folder.absolute()) for name, folder in folders.items() if not settings.has_default(name)}
    return {"command": str(Path(command).absolute()), "args": args} | ({"env": env} if env else {})


def _over_http(url: str, namespace: str | None, tools: str | None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {_KEY_PLACEHOLDER}"}
    if namespace is not None:
        headers["Librarian-Namespace"] = namespace
    base = url.rstrip("/").removesuffix(http_mcp.MCP_PATH)
    query = "" if tools is None else f"?{http_mcp.TOOLS_PARAMETER}={tools}"
    return {"type": "http", "url": base + http_mcp.MCP_PATH + query, "headers": headers}


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _servers(server: Mapping[str, Any]) -> str:
    return _json({"mcpServers": {"librarian": server}})


def _vscode(server: Mapping[str, Any]) -> str:
    return _json({"servers": {"librarian": {"type": server.get("type", "stdio"), **server}}})


def _gemini(server: Mapping[str, Any]) -> str:
    if "url" not in server:
        return _servers(server)
    return _servers({"httpUrl": server["url"], "headers": server["headers"]})


def _claude_desktop(server: Mapping[str, Any]) -> str:
    if "url" not in server:
        return _servers(server)
    # The client can only start programs; this one relays between it and the service.
    headers = [f"--header={name}: {value}" for name, value in server["headers"].items()]
    return _servers({"command": "npx", "args": ["mcp-remote", server["url"], *headers]})


def _claude_code(server: Mapping[str, Any]) -> str:
    return shlex.join(["claude", "mcp", "add-json", "librarian", msgspec.json.encode(server).decode()])


def _codex(server: Mapping[str, Any]) -> str:
    lines = ["[mcp_servers.librarian]"]
    fields = {"http_headers" if name == "headers" else name: value for name, value in server.items() if name != "type"}
    lines += [f"{name} = {_toml(value)}" for name, value in fields.items()]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """Return TOML for texts, lists and tables of texts; JSON strings are valid TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f'"{name}" = {_toml(item)}' for name, item in value.items()) + " }"
    return msgspec.json.encode(value).decode()


_WHERE: Mapping[Client, str] = {
    Client.CLAUDE_DESKTOP: "Claude Desktop: claude_desktop_config.json",
    Client.CLAUDE_CODE: "Claude Code: run this",
    Client.CODEX: "Codex: ~/.codex/config.toml",
    Client.CURSOR: "Cursor: ~/.cursor/mcp.json",
    Client.GEMINI: "Gemini CLI: ~/.gemini/settings.json",
    Client.VSCODE: "VS Code: .vscode/mcp.json",
}
_FORMS: Mapping[Client, Callable[[Mapping[str, Any]], str]] = {
    Client.CLAUDE_DESKTOP: _claude_desktop,
    Client.CLAUDE_CODE: _claude_code,
    Client.CODEX: _codex,
    Client.CURSOR: _servers,
    Client.GEMINI: _gemini,
    Client.VSCODE: _vscode,
}
