"""Neo4j Browser with the analysts' pack: its link, how to log in, what to load; and opening it."""

import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import quote, urlsplit

import typer

from graph.local.conf import BROWSER_GUIDE_HOSTS
from graph.local.jvm import LOOPBACK
from graph.local.server import ManagedServer
from librarian.browser_pack.pack import GUIDE_FILE, PACK_FILES, PACK_PATH, QUERIES_FILE, STYLE_FILE, pack_file
from librarian.cli.runtime import say
from librarian.settings import HttpSettings

ServiceOption: TypeAlias = Annotated[
    str | None, typer.Option("--service", metavar="URL", help="The service with the guide. Default: LIBRARIAN_PORT's.")
]
OpeningOption: TypeAlias = Annotated[
    bool | None, typer.Option("--open/--no-open", help="Open the link in a web browser. Default: at a terminal.")
]
ShowPasswordOption: TypeAlias = Annotated[
    bool, typer.Option("--show-password", help="Print the database password instead of where it is.")
]

_ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - where a service listens, to be asked on loopback
_PATIENCE_S = 3.0


@dataclass(frozen=True, slots=True)
class BrowserPlace:
    """A running server of ours: where its Browser and its Bolt port are, and who may log in."""

    http_port: int
    bolt_port: int
    password_file: Path

    def link(self, guide_url: str | None = None) -> str:
        """The Browser's address, which plays the guide if there is one; logging in is left to its user."""
        page = f"http://{LOOPBACK}:{self.http_port}/browser/?dbms=bolt://neo4j@{LOOPBACK}:{self.bolt_port}"
        # The Browser takes the query string apart by itself: "?" and "=" stay readable in it.
        return page if guide_url is None else f"{page}&cmd=play&arg={quote(guide_url, safe=':/?=@')}"


def browser_place(server: ManagedServer) -> BrowserPlace | None:
    """Where a server's Browser is; None while it does not run."""
    found = server.status()
    if found.http_port is None or found.bolt_port is None:
        return None
    return BrowserPlace(found.http_port, found.bolt_port, server.password_file)


def service_url(http: HttpSettings) -> str:
    """Where the service of these settings answers callers on this machine."""
    host = LOOPBACK if http.host in _ANYWHERE else http.host
    scheme = "http" if http.tls_cert is None else "https"
    return f"{scheme}://[{host}]:{http.port}" if ":" in host else f"{scheme}://{host}:{http.port}"


def is_loadable(service: str) -> bool:
    """Whether Neo4j Browser takes guides and styles from this service's host."""
    return urlsplit(service).hostname in BROWSER_GUIDE_HOSTS


def guide_of(service: str, namespace: str) -> str:
    """The address of the guide that begins with a namespace."""
    return f"{_by_name(service)}{PACK_PATH}/{GUIDE_FILE}?namespace={namespace}"


def _by_name(service: str) -> str:
    """The service's address as the Browser takes guides from it before its user has logged in: by this name only."""
    return service.replace(f"//{LOOPBACK}", "//localhost", 1)


def browser_lines(
    place: BrowserPlace, service: str, namespace: str, *, show_password: bool = False, with_pack: bool = True
) -> Iterator[str]:
    """Where Neo4j Browser is, how to log in there, and what to load."""
    yield f"Neo4j Browser: {place.link(guide_of(service, namespace) if with_pack else None)}"
    if show_password:
        password = place.password_file.read_text(encoding="utf-8").strip()
        yield f"Log in as neo4j with the password {password}"
    else:
        yield f"Log in as neo4j with the password in {place.password_file}"
        yield "(`librarian server browser --show-password` prints it)."
    if with_pack:
        yield f"The guide's first page loads the colours; by hand: :style {_by_name(service)}{PACK_PATH}/{STYLE_FILE}"
        yield f"Saved queries: get {_by_name(service)}{PACK_PATH}/{QUERIES_FILE} and drop it on the Browser's window."


def show_browser(
    place: BrowserPlace, service: str, namespace: str, *, show_password: bool, opening: bool | None
) -> None:
    """Print the lines and open the link; `opening` None opens it where somebody sits at a terminal."""
    fault = _pack_fault(service)
    if fault is not None:
        say(f"warning: {fault}")
    lines = list(browser_lines(place, service, namespace, show_password=show_password, with_pack=fault is None))
    for line in lines:
        typer.echo(line)
    if sys.stdout.isatty() if opening is None else opening:
        link = lines[0].removeprefix("Neo4j Browser: ")
        if not webbrowser.open(link):
            say("No web browser could be opened here; open the link in yours.")


def save_pack(folder: Path, service: str, namespace: str) -> None:
    """Write the pack's files, for a Browser that cannot reach the service."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACK_FILES:
        (folder / name).write_bytes(pack_file(name, base_url=_by_name(service), namespace=namespace))
    say(f"Drop {STYLE_FILE} and {QUERIES_FILE} of {folder} on the Browser's window; read {GUIDE_FILE} beside it.")


def _pack_fault(service: str) -> str | None:
    """Why the Browser cannot load the pack from there, if so."""
    import httpx

    if not is_loadable(service):
        allowed = " and ".join(BROWSER_GUIDE_HOSTS)
        return f"Neo4j Browser takes guides from {allowed} only, not from {service}; `--save FOLDER` writes the pack."
    try:
        answer = httpx.get(f"{service}{PACK_PATH}/{STYLE_FILE}", timeout=_PATIENCE_S, trust_env=False)
        answer.raise_for_status()
    except httpx.HTTPError:
        return (
            f"the guide comes from the service, and none answers on {service}: "
            "start `librarian serve`, or name it with --service."
        )
    return None
