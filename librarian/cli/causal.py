"""Causal questions: walks, drawn as trees or for other programs, paths, contradictions and cycles."""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeAlias, cast

import typer

from librarian.causal.contracts import (
    CausalInput,
    CausalOutput,
    ContradictingFact,
    ContradictionList,
    ContradictionQuery,
    CycleList,
    CycleOut,
    CycleQuery,
    ItemBrief,
    NeighbourhoodQuery,
    PathOutput,
    PathQuery,
    ReachedItem,
)
from librarian.cli.asking import ask, question
from librarian.cli.display import printable, table
from librarian.cli.lazy import deferred, new_app, verb_of
from librarian.cli.opening import answering_without_encoder
from librarian.cli.options import JsonOption, NamespaceOption, takes
from librarian.cli.runtime import say
from librarian.items.contracts import EdgeOut

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

    from librarian.causal import drawings
else:
    drawings = deferred("librarian.causal.drawings")

app = new_app()


class Format(StrEnum):
    """Output format of an answer."""

    TREE = "tree"
    MERMAID = "mermaid"
    GRAPHML = "graphml"
    SVG = "svg"
    HTML = "html"


FormatOption: TypeAlias = Annotated[
    Format, typer.Option("--format", "-f", help="Output format; all except tree are for other programs.")
]


def walk(name: str, contract: type[CausalInput | NeighbourhoodQuery]) -> None:
    """Add the command `name`, which gets the connections of an item from its operation and draws them."""

    @app.command(name)
    @takes(contract)
    def command(
        query: CausalInput | NeighbourhoodQuery,
        namespace: NamespaceOption = None,
        *,
        form: FormatOption = Format.TREE,
        as_json: JsonOption = False,
    ) -> None:
        ask(
            lambda librarian, where: getattr(librarian, verb_of(name))(where, query),
            namespace,
            partial(show_walk, form=form),
            purpose=name,
            contract=contract,
            reach=answering_without_encoder,
            as_json=as_json,
        )


def show_walk(found: CausalOutput, *, form: Format) -> None:
    """Print the connections of an item."""
    if form is not Format.TREE:
        typer.echo(drawings.drawn(found, cast("drawings.Form", form.value)), nl=False)
        if found.more:
            say("A limit cut something off: see --max-depth and --limit.")
        return

    from rich.console import Console

    Console().print(tree_of(found))
    if not found.items:
        say(f"Nothing is connected to it by {' or '.join(found.types)}.")
    if found.more:
        say("There is more: a limit cut it off, see --max-depth and --limit.")


def tree_of(found: CausalOutput) -> "Tree":
    """Return a tree of shortest paths, each item below its predecessor.

    An edge between items already in the tree is a leaf below the later one and points to the earlier one.
    """
    from rich.tree import Tree

    root = Tree(_item_text(found.item))
    edges = {edge.edge_id: edge for edge in found.edges}
    followed = {item.path[-1] for item in found.items}
    names = {item.uid: item.name for item in (found.item, *found.items)}
    branches: dict[tuple[str, ...], Tree] = {(): root}
    for item in found.items:
        path = tuple(item.path)
        branches[path] = branches[path[:-1]].add(_reached_text(item, edges[path[-1]], names))
    for edge in found.edges:
        if edge.edge_id not in followed:
            _add_again(branches, edge, found, names)
    return root


def _add_again(
    branches: "Mapping[tuple[str, ...], Tree]",
    edge: EdgeOut,
    found: CausalOutput,
    names: Mapping[str, str],
) -> None:
    """Add an edge that no shortest path uses, below the end that is printed later."""
    paths = {found.item.uid: (), **{item.uid: tuple(item.path) for item in found.items}}
    order = {uid: index for index, uid in enumerate(_printed(paths))}
    earlier, later = sorted((edge.source, edge.target), key=lambda uid: order[uid])
    text = _edge_text(edge, below=later).append(f"edge {edge.confidence:.2f}  ", style="cyan")
    text.append(printable(names[earlier]), style="bold").append("  (see above)", style="not bold dim")
    branches[paths[later]].add(_with_quotes(text, edge, names))


def _printed(paths: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the uids in the order of their printed tree: each item directly followed by those reached from it."""
    below: dict[tuple[str, ...], list[str]] = {}
    for uid, path in paths.items():
        if path:
            below.setdefault(path[:-1], []).append(uid)
    printed, waiting = [], [next(uid for uid, path in paths.items() if not path)]
    while waiting:
        printed.append(uid := waiting.pop())
        waiting += reversed(below.get(paths[uid], []))
    return printed


def _item_text(item: ItemBrief) -> "Text":
    from rich.text import Text

    text = Text(printable(item.name), style="bold")
    day = f"{item.occurred_at:%Y-%m-%d}" if item.occurred_at else ""
    what = " · ".join(part for part in (item.uid, item.type or item.kind, day) if part)
    return text.append(f"  {printable(what)}", style="not bold dim")


def _reached_text(item: ReachedItem, edge: EdgeOut, names: Mapping[str, str]) -> "Text":
    """Return the edge that led to an item, with its confidence and, for longer paths, that of the whole path."""
    way = f", way {item.confidence:.2f}" if item.depth > 1 else ""
    text = _edge_text(edge, below=edge.source if edge.target == item.uid else edge.target)
    text.append(f"edge {edge.confidence:.2f}{way}  ", style="cyan").append_text(_item_text(item))
    if item.is_end:
        text.append("  (end)", style="green")
    return _with_quotes(text, edge, names)


def _edge_text(edge: EdgeOut, *, below: str) -> "Text":
    """Return the type of an edge and its arrow, as seen from the item above it."""
    from rich.text import Text

    arrow = "──" if edge.type == "RELATES_TO" else "─▶" if edge.source == below else "◀─"
    state = "" if edge.state == "accepted" else f" {edge.state}"
    return Text(f"{arrow} {edge.type}{state} ", style="cyan")


def _with_quotes(text: "Text", edge: EdgeOut, names: Mapping[str, str]) -> "Text":
    for quote in quotes_of(edge, names):
        text.append(f"\n   {printable(quote)}", style="not bold italic dim")
    return text


def quotes_of(edge: EdgeOut, names: Mapping[str, str]) -> list[str]:
    """Return the quotes of an edge, each after the name of the quoted item."""
    ends = ((edge.source, edge.source_quote), (edge.target, edge.target_quote))
    return [f"{names[uid]}: “{quote}”" for uid, quote in ends if quote]


def show_path(found: PathOutput) -> None:
    """Print the edges of a path, or exit with code 1 if there is none."""
    if not found.items:
        say("A limit ended the search for a path." if found.more else "No path connects the two.")
        raise typer.Exit(1)
    names = {item.uid: item.name for item in found.items}
    rows = [
        (
            names[edge.source],
            edge.type,
            names[edge.target],
            f"{edge.confidence:.2f}",
            "\n".join(quotes_of(edge, names)),
        )
        for edge in found.edges
    ]
    table(("from", "what", "to", "edge", "quotes"), rows, ruled=True)
    say(f"The way as a whole: {found.confidence:.2f}, the product of its edges.")


def show_contradictions(found: ContradictionList) -> None:
    """Print facts, and edges, that contradict each other."""
    if found.facts:
        facts = [
            (pair.person_id, pair.relationship_type, _fact(pair.first), _fact(pair.second)) for pair in found.facts
        ]
        table(("person", "what", "one says", "the other says"), facts, ruled=True)
    if found.edges:
        edges = [
            (pair.source.name, pair.target.name, " and ".join(sorted({edge.type for edge in pair.edges})))
            for pair in found.edges
        ]
        table(("from", "to", "edges"), edges, ruled=True)
    if not found.facts and not found.edges:
        say("Nothing contradicts itself.")
    if found.more:
        say("There may be more: see --limit.")


def _fact(fact: ContradictingFact) -> str:
    since = fact.valid_from.date() if fact.valid_from else "ever"
    until = f" until {fact.valid_to.date()}" if fact.valid_to else ""
    return f"{fact.object}\n{fact.uid}, since {since}{until}"


def show_cycles(found: CycleList) -> None:
    """Print cycles."""
    if found.cycles:
        rows = [(_steps(cycle), f"{cycle.confidence:.2f}") for cycle in found.cycles]
        table(("cycle", "confidence"), rows, ruled=True)
    else:
        say("Nothing leads back to itself.")
    if found.more:
        say("There may be more: see --limit.")


def _steps(cycle: CycleOut) -> str:
    steps = [f"{item.name}\n  {edge.type} →" for item, edge in zip(cycle.items, cycle.edges, strict=True)]
    return "\n".join([*steps, cycle.items[0].name])


walk("graph", NeighbourhoodQuery)
walk("causes", CausalInput)
walk("effects", CausalInput)
walk("blockers", CausalInput)
walk("enablers", CausalInput)
question(app, "path", PathQuery, show_path)
question(app, "contradictions", ContradictionQuery, show_contradictions)
question(app, "cycles", CycleQuery, show_cycles)
