"""What `librarian serve --with-sample` prints when it is ready: searches to paste, and the way into the graph."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

EXAMPLES = (
    "why did the deploy fail?",
    "what did we decide about event sourcing?",
    "請求書の不具合の原因は?",
)
_LIMIT = 5


def greeting(base_url: str, key: str, namespace: str, *, home: Path | None) -> Iterator[str]:
    """Lines with the same searches over HTTP and by the command line; each can be pasted into a shell.

    `home` is named in them where it is not the default.
    """
    command = shlex.quote(own_command())
    if home is not None:
        command = f"LIBRARIAN_HOME={shlex.quote(str(home))} {command}"
    yield f"Librarian is ready on {base_url}. Try:"
    yield ""
    for query in EXAMPLES:
        yield curl_line(base_url, key, namespace, query)
    yield ""
    for query in EXAMPLES:
        yield f"{command} search {shlex.quote(query)} --namespace {namespace}"
    yield ""
    yield f"Or open {base_url}/ in a browser; `{command} keys show-local` prints a key to log in with."
    yield ""


def curl_line(base_url: str, key: str, namespace: str, query: str) -> str:
    """One search as a curl command."""
    body = json.dumps({"queries": [query], "limit": _LIMIT}, ensure_ascii=False)
    return (
        f'curl -sS {base_url}/v1/search -H "Authorization: Bearer {key}" -H "Librarian-Namespace: {namespace}" '
        f'-H "Content-Type: application/json" -d {shlex.quote(body)}'
    )


def own_command() -> str:
    """How to call this program again from here: its path, short where it lies under the working directory."""
    running = Path(sys.argv[0]).absolute()
    if not os.access(running, os.X_OK):  # started by `python -m` or from another program
        return "librarian"
    here = Path.cwd()
    if running.is_relative_to(here):
        return str(running.relative_to(here))
    return "librarian" if shutil.which("librarian") == str(running) else str(running)
