"""How reviews are shown."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from librarian.cli.display import printable, table
from librarian.cli.runtime import say
from librarian.contracts.causal import ItemBrief
from librarian.contracts.reviews import ReviewOut, ReviewOutput

_COLUMNS = ("id", "what", "sure", "state", "by", "reason")


def show_list(found: Sequence[ReviewOut]) -> None:
    """Print reviews as a table."""
    if found:
        table(_COLUMNS, [_row(one) for one in found], ruled=True)
    else:
        say("There is nothing to review.")


def show_decision(done: ReviewOutput) -> None:
    """Say what was decided."""
    before = "" if done.decided else " It was before."
    say(f"{done.review.state.capitalize()}: {claim(done.review)}.{before}")
    for note in done.notes:
        say(note)


def show_review(one: ReviewOut, number: int) -> None:
    """Print one review with the texts and quotes that it is about."""
    console = Console()
    console.rule(f"{number}. {one.sort}", align="left")
    sure = "" if one.confidence is None else f"  {one.confidence:.2f}"
    console.print(Text(printable(claim(one)), style="bold").append(sure, style="not bold cyan"))
    edge = one.edge
    for item, quote in (
        (one.item, edge.source_quote if edge else None),
        (one.other, edge.target_quote if edge else None),
    ):
        if item is not None:
            console.print(_item(item, quote))
    if one.reason:
        console.print(Text(f"because: {printable(one.reason)}", style="dim"))


def claim(one: ReviewOut) -> str:
    """What a review says in one line."""
    other = one.other.name if one.other else ""
    match one.sort:
        case "edge" if one.edge is not None:
            return f"{one.item.name}  {one.edge.type}  {other}"
        case "merge":
            return f"{one.item.name}  says the same as  {other}"
        case _:
            return f"{one.item.name}  is of type {one.given_type or one.new_type}, not {one.old_type or 'untyped'}"


def _row(one: ReviewOut) -> tuple[object, ...]:
    sure = "" if one.confidence is None else f"{one.confidence:.2f}"
    return (one.review_id, claim(one), sure, one.state, one.reviewed_by, one.review_reason or one.reason)


def _item(item: ItemBrief, quote: str | None) -> Text:
    when = f"  {item.occurred_at:%Y-%m-%d}" if item.occurred_at else ""
    text = Text(f"\n{printable(item.uid)}{when}\n", style="dim")
    text.append(printable(item.text), style="not dim")
    if quote:
        text.append(f"\n   “{printable(quote)}”", style="not dim italic")
    return text
