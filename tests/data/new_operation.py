"""Adds an operation to the table before anything else is loaded, then asks for it in every way.

What came is written to the file that is named; `cli` and arguments behind it run the command line instead.
"""

import asyncio
import contextlib
import os
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import httpx
import msgspec

from librarian import operations
from librarian.operations import Http, Operation, Tool


class RepeatInput(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The text to repeat."""

    text: Annotated[str, msgspec.Meta(description="Any text.")]


class RepeatOutput(msgspec.Struct, kw_only=True):
    """The repeated text, and where."""

    namespace: str
    text: str


async def repeat(namespace: str, wanted: RepeatInput) -> RepeatOutput:
    """Return the text."""
    return RepeatOutput(namespace=namespace, text=wanted.text)


operations.OPERATIONS += (
    Operation(
        name="repeat",
        call=lambda _app: repeat,
        input=RepeatInput,
        argument="wanted",
        output=RepeatOutput,
        doc="Say a text again.",
        http=Http("POST", "/v1/repeat"),
        tool=Tool("Say a text again."),
        cli="repeat",
    ),
)

from librarian import cli  # noqa: E402 - after the table has its row
from librarian.app import Librarian  # noqa: E402 - after the table has its row
from librarian.base.keys import KeyFile  # noqa: E402 - after the table has its row
from librarian.base.settings.settings import Settings  # noqa: E402 - after the table has its row
from librarian.cli import asking, lazy, options  # noqa: E402 - after the table has its row
from librarian.client import AsyncLibrarianClient, LibrarianClient  # noqa: E402 - after the table has its row
from librarian.http.app import build_app  # noqa: E402 - after the table has its row
from librarian.http.server import Server, listen  # noqa: E402 - after the table has its row

NAMESPACE = "a"
WANTED = RepeatInput(text="hello")


def add_command() -> None:
    """A command is made from data too."""
    options.OPTIONS["RepeatInput"] = {"text": options.OptionSpec("text", "Any text.", required=True)}
    module = types.ModuleType("librarian.cli.repeating")
    module.app = lazy.new_app()
    asking.question(module.app, "repeat", RepeatInput, lambda found: sys.stdout.write(found.text))
    sys.modules[module.__name__] = module
    lazy.COMMANDS["repeat"] = lazy.SECTIONS["Find"]["repeat"] = ("repeating", "Say a text again.")
    cli.app.info.cls = lazy.lazy_group(lazy.SECTIONS)


async def asked(url: str, key: str) -> dict[str, object]:
    """Return the answer of each way to ask."""
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=120) as http:

        async def mcp(method: str, **params: object) -> dict:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return (await http.post("/mcp", json=body)).json()["result"]

        document = (await http.get("/openapi.json")).json()
        (tool,) = [tool for tool in (await mcp("tools/list"))["tools"] if tool["name"] == "repeat"]
        body = msgspec.to_builtins(WANTED)
        ways = {
            "http": (await http.post("/v1/repeat", json=body)).json(),
            "tool over http": (await http.post("/v1/tools/repeat", json=body)).json(),
            "mcp": (await mcp("tools/call", name="repeat", arguments=body))["structuredContent"],
        }
        tools = (await http.get("/v1/tools")).json()["tools"]
    async with AsyncLibrarianClient(url, key) as client:
        ways["asynchronous client"] = msgspec.to_builtins(await client.repeat(NAMESPACE, WANTED))
    ways["blocking client"] = msgspec.to_builtins(
        await asyncio.to_thread(lambda: LibrarianClient(url, key).repeat(NAMESPACE, WANTED))
    )
    done = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, "cli", "--remote", url, "repeat", "hello", "--namespace", NAMESPACE, "--json"),
        env={**os.environ, "LIBRARIAN_API_KEY": key},
        stdout=asyncio.subprocess.PIPE,
    )
    ways["--remote"] = msgspec.json.decode((await done.communicate())[0])
    return {
        "ways": ways,
        "operationId": document["paths"]["/v1/repeat"]["post"]["operationId"],
        "component": "RepeatInput" in document["components"]["schemas"],
        "read only": tool["annotations"]["readOnlyHint"],
        "listed": [tool["name"] for tool in tools if tool["name"] == "repeat"],
    }


async def main() -> dict[str, object]:
    settings = Settings.from_env()
    librarian = Librarian(settings)
    librarian.lifecycle.without_graph("this operation needs none")
    keys = KeyFile(settings.keys_file)
    _, key = keys.create("test", namespaces=[NAMESPACE], scopes=["read"])

    @contextlib.asynccontextmanager
    async def connect():
        yield librarian

    http = replace(settings.http, port=0)
    with listen(http) as listening:
        server = Server(build_app(http, keys, connect))
        running = asyncio.create_task(server.serve(sockets=[listening]))
        found = await asked(f"http://127.0.0.1:{listening.getsockname()[1]}", key)
        server.should_exit = True
        await running
    found["ways"]["facade"] = msgspec.to_builtins(await librarian.repeat(NAMESPACE, WANTED))
    return found


if __name__ == "__main__":
    add_command()
    if sys.argv[1] == "cli":
        sys.argv = ["librarian", *sys.argv[2:]]
        cli.main()
    else:
        Path(sys.argv[1]).write_bytes(msgspec.json.encode(asyncio.run(main())))
