"""Showing what causal questions find: a tree in the terminal, or a drawing for another program."""

from enum import StrEnum
from functools import partial
from typing import Annotated, TypeAlias, cast

import typer
from msgspec import Struct
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from librarian.cli.display import printable
from librarian.cli.opening import Question, ask, reached_without_encoder
from librarian.cli.runtime import say
from librarian.contracts.causal import CausalOutput, ItemBrief, ReachedItem
from librarian.contracts.edges import EdgeOut
from librarian.drawings import Form, drawn


class Format(StrEnum):
    """How an answer is shown."""

    TREE = "tree"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    SVG = "svg"
    HTML = "html"


FormatOption: TypeAlias = Annotated[
    Format, typer.Option("--format", "-f", help="How it is shown; all but tree are for other programs.")
]


def ask_walk(
    question: Question[CausalOutput],
    namespace: str | None,
    form: Format,
    *,
    purpose: str,
    contract: type[Struct],
    as_json: bool,
) -> None:
    """Ask, and show what was found in the wanted form."""
    ask(
        question,
        namespace,
        partial(show, form=form),
        purpose=purpose,
        contract=contract,
        reach=reached_without_encoder,
        as_json=as_json,
    )


def show(found: CausalOutput, *, form: Format) -> None:
    """Print what was found."""
    if form is Format.TREE:
        Console().print(tree_of(found))
        _say_what_is_missing(found)
    else:
        typer.echo(drawn(found, cast("Form", form.value)), nl=False)
        if found.more:
            say("A limit cut something off: see --max-depth and --limit.")


def tree_of(found: CausalOutput) -> Tree:
    """What was found as a tree of shortest paths, each item below the one that it was reached from."""
    root = Tree(_item_text(found.item))
    edges = {edge.edge_id: edge for edge in found.edges}
    branches: dict[tuple[str, ...], Tree] = {(): root}
    for item in found.items:
        path = tuple(item.path)
        branch = branches[path[:-1]].add(_reached_text(item, edges[path[-1]]))
        branches[path] = branch
    return root


def _say_what_is_missing(found: CausalOutput) -> None:
    if not found.items:
        say(f"Nothing is connected to it by {' or '.join(found.types)}.")
    if found.more:
        say("There is more: a limit cut it off, see --max-depth and --limit.")


def _item_text(item: ItemBrief) -> Text:
    text = Text(printable(item.name), style="bold")
    what = " · ".join(part for part in (item.uid, item.type or item.kind, _day(item)) if part)
    return text.append(f"  {printable(what)}", style="not bold dim")


def _reached_text(item: ReachedItem, edge: EdgeOut) -> Text:
    came_from_source = edge.target == item.uid
    arrow = "──" if edge.type == "RELATES_TO" else "─▶" if came_from_source else "◀─"
    state = "" if edge.state == "accepted" else f" {edge.state}"
    text = Text(f"{arrow} {edge.type}{state} {item.confidence:.2f}  ", style="cyan").append_text(_item_text(item))
    if item.is_end:
        text.append("  (end)", style="green")
    for quote in (edge.source_quote, edge.target_quote):
        if quote:
            text.append(f"\n   “{printable(quote)}”", style="not bold italic dim")
    return text


def _day(item: ItemBrief) -> str:
    return f"{item.occurred_at:%Y-%m-%d}" if item.occurred_at else ""
