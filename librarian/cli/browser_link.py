"""Neo4j Browser with the analysts' pack: prints its link, the login and the files to load, and opens it."""

import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias
from urllib.parse import quote, urlsplit

import typer

from librarian.cli.lazy import deferred
from librarian.cli.runtime import say

if TYPE_CHECKING:
    from graph.local import conf, jvm
    from graph.local.server import ManagedServer
    from librarian.analyst.browser_pack import pack
    from librarian.base.settings.settings import HttpSettings
else:
    conf, jvm = deferred("graph.local.conf"), deferred("graph.local.jvm")
    pack = deferred("librarian.analyst.browser_pack.pack")

ServiceOption: TypeAlias = Annotated[
    str | None, typer.Option("--service", metavar="URL", help="The service with the guide. Default: LIBRARIAN_PORT's.")
]
OpeningOption: TypeAlias = Annotated[
    bool | None, typer.Option("--open/--no-open", help="Open the link in a web browser. Default: at a terminal.")
]
ShowPasswordOption: TypeAlias = Annotated[
    bool, typer.Option("--show-password", help="Print the database password instead of its location.")
]

_ANYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - addresses a service listens on, called on loopback
_PATIENCE_S = 3.0


@dataclass(frozen=True, slots=True)
class BrowserAddress:
    """A running managed server: its Browser, its Bolt port, and its login."""

    http_port: int
    bolt_port: int
    password_file: Path
    password_command: str
    """Command that prints the password of this server."""

    def link(self, guide_url: str | None = None) -> str:
        """Return the Browser's link, which plays the guide if given; the user logs in."""
        page = f"http://{jvm.LOOPBACK}:{self.http_port}/browser/?dbms=bolt://neo4j@{jvm.LOOPBACK}:{self.bolt_port}"
        # The Browser parses the query string itself, so "?" and "=" may stay readable in it.
        return page if guide_url is None else f"{page}&cmd=play&arg={quote(guide_url, safe=':/?=@')}"


def browser_address(server: "ManagedServer", password_command: str) -> BrowserAddress | None:
    """Return the address of a server's Browser; None if it is not running. `password_command` prints its password."""
    found = server.status()
    if found.http_port is None or found.bolt_port is None:
        return None
    return BrowserAddress(found.http_port, found.bolt_port, server.password_file, password_command)


def service_url(http: "HttpSettings") -> str:
    """Return the address at which the service of these settings answers callers on this machine."""
    host = jvm.LOOPBACK if http.host in _ANYWHERE else http.host
    return http.url_at(host, http.port)


def is_loadable(service: str) -> bool:
    """Return whether Neo4j Browser accepts guides and styles from this service's host."""
    return urlsplit(service).hostname in conf.BROWSER_GUIDE_HOSTS


def guide_of(service: str, namespace: str) -> str:
    """Return the address of the guide for a namespace."""
    return f"{_by_name(service)}{pack.PACK_PATH}/{pack.GUIDE_FILE}?namespace={namespace}"


def _by_name(service: str) -> str:
    """Return the service's address with the only host name that the Browser accepts guides from before a login."""
    return service.replace(f"//{jvm.LOOPBACK}", "//localhost", 1)


def browser_lines(
    address: BrowserAddress, service: str, namespace: str, *, show_password: bool = False, with_pack: bool = True
) -> Iterator[str]:
    """Yield the lines on Neo4j Browser's address, its login, and the files to load."""
    yield f"Neo4j Browser: {address.link(guide_of(service, namespace) if with_pack else None)}"
    if show_password:
        password = address.password_file.read_text(encoding="utf-8").strip()
        yield f"Log in as neo4j with the password {password}"
    else:
        yield f"Log in as neo4j with the password in {address.password_file}"
        yield f"(`{address.password_command}` prints it)."
    if with_pack:
        files = f"{_by_name(service)}{pack.PACK_PATH}"
        yield f"The guide's first page loads the colours; by hand: :style {files}/{pack.STYLE_FILE}"
        yield f"Saved queries: get {files}/{pack.QUERIES_FILE} and drop it on the Browser's window."


def show_browser(
    address: BrowserAddress, service: str, namespace: str, *, show_password: bool, opening: bool | None
) -> None:
    """Print the lines and open the link; `opening` None opens it only at a terminal."""
    fault = _pack_fault(service)
    if fault is not None:
        say(f"warning: {fault}")
    lines = list(browser_lines(address, service, namespace, show_password=show_password, with_pack=fault is None))
    for line in lines:
        typer.echo(line)
    if sys.stdout.isatty() if opening is None else opening:
        link = lines[0].removeprefix("Neo4j Browser: ")
        if not webbrowser.open(link):
            say("No web browser could be opened here; open the link in yours.")


def save_pack(folder: Path, service: str, namespace: str) -> None:
    """Write the pack's files, for a Browser that cannot reach the service."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in pack.PACK_FILES:
        (folder / name).write_bytes(pack.pack_file(name, base_url=_by_name(service), namespace=namespace))
    dropped = f"{pack.STYLE_FILE} and {pack.QUERIES_FILE} of {folder}"
    say(f"Drop {dropped} on the Browser's window; read {pack.GUIDE_FILE} beside it.")


def _pack_fault(service: str) -> str | None:
    """Return why the Browser cannot load the pack from the service, if so."""
    import httpx

    if not is_loadable(service):
        allowed = " and ".join(conf.BROWSER_GUIDE_HOSTS)
        return f"Neo4j Browser takes guides from {allowed} only, not from {service}; `--save FOLDER` writes the pack."
    try:
        answer = httpx.get(f"{service}{pack.PACK_PATH}/{pack.STYLE_FILE}", timeout=_PATIENCE_S, trust_env=False)
        answer.raise_for_status()
    except httpx.HTTPError:
        return (
            f"the guide comes from the service, and none answers on {service}: "
            "start `librarian serve`, or name it with --service."
        )
    return None
