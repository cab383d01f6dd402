"""`librarian review`: shows proposals, decides them by keys or one by one, and exports decisions as labelled texts."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import msgspec
import typer

from librarian.base.errors import LibrarianError
from librarian.base.strictjson import convert
from librarian.causal.contracts import ItemBrief
from librarian.cli.asking import answered, ask, list_pages, pages
from librarian.cli.display import printable, table
from librarian.cli.lazy import deferred, new_app
from librarian.cli.opening import Connection, opened, reached_without_encoder
from librarian.cli.options import AllOption, JsonOption, NamespaceOption, struct_of, takes
from librarian.cli.runtime import finished, namespace_or, report, run_async, say, settings_for
from librarian.sweep.contracts import (
    CausalLabel,
    MergeLabel,
    ReasonList,
    ReasonOut,
    ReviewInput,
    ReviewManyInput,
    ReviewManyOutput,
    ReviewOut,
    ReviewOutput,
    ReviewQuery,
    TypeLabel,
)
from librarian.transfer import atomic

if TYPE_CHECKING:
    from rich.text import Text

    from librarian.client import errors
else:
    errors = deferred("librarian.client.errors")

app = new_app()
reviews = new_app()
app.add_typer(reviews, name="review")

ReviewArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the review, from the list.")]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why; kept with the decision.")]
ReviseOption = Annotated[bool, typer.Option("--revise", help="Change an earlier decision; takes a reason.")]


@reviews.callback(invoke_without_command=True)
@takes(ReviewQuery)
def review(
    query: ReviewQuery,
    ctx: typer.Context,
    namespace: NamespaceOption = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write all decisions as labelled texts into a folder.")
    ] = None,
    *,
    every: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Accept or reject what sweeps and ingests propose."""
    if ctx.invoked_subcommand is not None:
        return
    if export is not None:
        finished(lambda: export.mkdir(parents=True, exist_ok=True))

        async def work() -> None:
            settings = settings_for()
            where = namespace_or(namespace, settings.namespace)
            async with opened(settings, "review") as librarian:
                for file, rows in (await write_labels(export, librarian.review_labels(where))).items():
                    say(f"{file}: {rows} labels")

        run_async(work)
    elif as_json or every or not _at_a_terminal():
        list_pages(
            "list_reviews", query, namespace, "reviews", show_list, purpose="review", every=every, as_json=as_json
        )
    else:
        answered(partial(decide_by_keys, query=query), namespace, purpose="review", contract=ReviewQuery)


@reviews.command()
def accept(
    review_id: ReviewArgument,
    reason: ReasonOption = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="Type for a flagged memory, if not the proposed one.")
    ] = None,
    namespace: NamespaceOption = None,
    *,
    revise: ReviseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Accept a proposal: its edge, type, merge or fact is right."""
    values = {"verdict": "accept", "reason": reason, "type": type_, "revise": revise or None}
    _decide(review_id, values, namespace, as_json=as_json)


@reviews.command()
def reject(
    review_id: ReviewArgument,
    reason: ReasonOption = None,
    namespace: NamespaceOption = None,
    *,
    revise: ReviseOption = False,
    as_json: JsonOption = False,
) -> None:
    """Reject a proposal: no sweep proposes it again."""
    values = {"verdict": "reject", "reason": reason, "revise": revise or None}
    _decide(review_id, values, namespace, as_json=as_json)


@reviews.command("reasons")
def list_reasons(namespace: NamespaceOption = None, *, as_json: JsonOption = False) -> None:
    """List the kinds of reasons for proposals, with the decisions on them."""
    ask(
        lambda librarian, where: librarian.list_review_reasons(where),
        namespace,
        show_reasons,
        purpose="review",
        reach=reached_without_encoder,
        as_json=as_json,
    )


@reviews.command("all")
@takes(ReviewManyInput)
def decide_all(
    given: ReviewManyInput,
    namespace: NamespaceOption = None,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Decide what the preview shows, without confirmation.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Accept or reject all proposals of one kind of reason, after a preview."""

    async def decide(librarian: Connection, where: str) -> ReviewManyOutput:
        answer = await librarian.review_many(where, given)
        if answer.confirm_token is None or not yes:
            return answer
        confirmed = msgspec.structs.replace(given, confirm_token=answer.confirm_token)
        return await librarian.review_many(where, confirmed)

    ask(
        decide,
        namespace,
        partial(show_many, verdict=given.verdict),
        purpose="review",
        contract=ReviewManyInput,
        as_json=as_json,
    )


def _decide(review_id: str, values: Mapping[str, str | bool | None], namespace: str | None, *, as_json: bool) -> None:
    decision = finished(lambda: struct_of(ReviewInput, values))
    ask(
        lambda librarian, where: librarian.review(where, review_id, decision),
        namespace,
        show_decision,
        purpose="review",
        contract=ReviewInput,
        as_json=as_json,
    )


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


# Interactive review.

_HELP = "a accept · r reject · A, R with a reason · t another type · f full texts · s skip · q quit"


def _read_line(question: str) -> str:
    answer: str = typer.prompt(question, default="", show_default=False, err=True)
    return answer.strip()


@dataclass(frozen=True, slots=True)
class Keyboard:
    """Source of decisions: single keys, and lines that answer a prompt."""

    key: Callable[[], str] = typer.getchar
    line: Callable[[str], str] = _read_line


async def decide_by_keys(
    librarian: Connection, namespace: str, *, query: ReviewQuery, keyboard: Keyboard | None = None
) -> None:
    """Show reviews in turn, and act on each key."""
    session = _Session(librarian, namespace, keyboard or Keyboard())
    say(_HELP)
    async for page in pages(partial(librarian.list_reviews, namespace), query, every=True):
        for proposal in page.reviews:
            if not await session.decide(proposal):
                session.end()
                return
    session.end()


@dataclass(slots=True)
class _Session:
    librarian: Connection
    namespace: str
    keyboard: Keyboard
    seen: int = 0
    decided: int = 0

    async def decide(self, proposal: ReviewOut) -> bool:
        """Let the human decide on a proposal; return false if they quit."""
        self.seen += 1
        show_review(proposal, self.seen)
        while True:
            key = self.keyboard.key()
            if key in ("q", "\x03", "\x04"):
                self.seen -= 1
                return False
            if key == "s":
                return True
            action = _ACTIONS.get(key)
            if action is None:
                say(_HELP)
            elif await action(self, proposal):
                return True

    def end(self) -> None:
        """Print a summary."""
        say(f"{self.decided} of {self.seen} decided." if self.seen else "There is nothing to review.")

    async def accept(self, proposal: ReviewOut) -> bool:
        """Accept it."""
        return await self._send(proposal, verdict="accept")

    async def reject(self, proposal: ReviewOut) -> bool:
        """Reject it."""
        return await self._send(proposal, verdict="reject")

    async def accept_with_reason(self, proposal: ReviewOut) -> bool:
        """Accept it with a reason."""
        return await self._send(proposal, verdict="accept", reason=self.keyboard.line("Why"))

    async def reject_with_reason(self, proposal: ReviewOut) -> bool:
        """Reject it with a reason."""
        return await self._send(proposal, verdict="reject", reason=self.keyboard.line("Why"))

    async def retype(self, proposal: ReviewOut) -> bool:
        """Give a flagged memory another type."""
        return await self._send(proposal, verdict="accept", type=self.keyboard.line("Type").capitalize())

    async def show_texts(self, proposal: ReviewOut) -> bool:
        """Show the whole texts, without deciding."""
        for item in (proposal.item, proposal.other):
            if item is not None:
                typer.echo(f"\n{item.uid}\n{(await self.librarian.get_item(self.namespace, item.uid)).text}")
        return False

    async def _send(self, proposal: ReviewOut, **values: Any) -> bool:
        """Send a decision; a refused one is reported and may be repeated."""
        try:
            decision = convert({name: value for name, value in values.items() if value}, ReviewInput)
            done = await self.librarian.review(self.namespace, proposal.review_id, decision)
        except (LibrarianError, errors.ApiError) as error:
            report(error)
            return False
        self.decided += done.decided
        show_decision(done)
        return True


_ACTIONS: Mapping[str, Callable[[_Session, ReviewOut], Awaitable[bool]]] = MappingProxyType(
    {
        "a": _Session.accept,
        "r": _Session.reject,
        "A": _Session.accept_with_reason,
        "R": _Session.reject_with_reason,
        "t": _Session.retype,
        "f": _Session.show_texts,
    }
)


# Labels.

_LABEL_FILES = {CausalLabel: "causal.jsonl", TypeLabel: "types.jsonl", MergeLabel: "merges.jsonl"}


async def write_labels(folder: Path, labels: AsyncIterator[CausalLabel | TypeLabel | MergeLabel]) -> dict[Path, int]:
    """Write each kind of label to its file in the folder, replacing an older one; return the counts by file.

    Raises CannotWrite, keeping the older files.
    """
    paths = {sort: folder / name for sort, name in _LABEL_FILES.items()}
    written = dict.fromkeys(paths.values(), 0)
    with ExitStack() as files:
        opened: dict[type, BinaryIO] = {
            sort: files.enter_context(atomic.whole_file(path)) for sort, path in paths.items()
        }
        async for label in labels:
            with atomic.writable(paths[type(label)]):
                opened[type(label)].write(msgspec.json.encode(label) + b"\n")
            written[paths[type(label)]] += 1
    return written


# Showing.

_COLUMNS = ("id", "what", "sure", "state", "by", "reason")


def show_list(found: Sequence[ReviewOut]) -> None:
    """Print reviews as a table."""
    if found:
        table(_COLUMNS, [_row(proposal) for proposal in found], ruled=True)
    else:
        say("There is nothing to review.")


def show_decision(done: ReviewOutput) -> None:
    """Print the decision."""
    before = "" if done.decided else " It was before."
    say(f"{done.review.state.capitalize()}: {claim(done.review)}.{before}")
    for note in done.notes:
        say(note)


def show_many(done: ReviewManyOutput, *, verdict: str) -> None:
    """Print what was decided, or a preview and how to confirm it."""
    if done.confirm_token is not None:
        say(f"{done.matched} would be {verdict}ed{', and there are more' if done.more else ''}. The first of them:")
        show_list(done.sample)
        say("Nothing is decided yet. The same command with this decides exactly that:")
        typer.echo(f"--confirm {done.confirm_token}")
    elif done.matched == 0:
        say("Nothing matches; nothing is decided.")
    else:
        say(f"{done.decided} of {done.matched} {verdict}ed.{' There are more.' if done.more else ''}")
        for refused in done.refused:
            say(f"{refused.review_id}: {refused.reason}")


def show_reasons(found: ReasonList) -> None:
    """Print kinds of reasons as a table."""
    if not found.reasons:
        say("There is nothing to review.")
        return
    names = ("open", "unreviewed", "accepted", "rejected")
    table(
        ("reason", *names, "lesson"),
        [(kind.because, *(getattr(kind, name) for name in names), _lesson(kind)) for kind in found.reasons],
        ruled=True,
    )


def _lesson(kind: ReasonOut) -> str:
    return f"only proposed: {kind.lesson} more rejected than accepted" if kind.lesson else ""


def show_review(proposal: ReviewOut, number: int) -> None:
    """Print one review with its texts and quotes."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.rule(f"{number}. {proposal.sort}", align="left")
    sure = "" if proposal.confidence is None else f"  {proposal.confidence:.2f}"
    console.print(Text(printable(claim(proposal)), style="bold").append(sure, style="not bold cyan"))
    edge = proposal.edge
    for item, quote in (
        (proposal.item, edge.source_quote if edge else proposal.fact.quote if proposal.fact else None),
        (proposal.other, edge.target_quote if edge else None),
    ):
        if item is not None:
            console.print(_item(item, quote))
    if proposal.reason:
        console.print(Text(f"because: {printable(proposal.reason)}", style="dim"))


def claim(proposal: ReviewOut) -> str:
    """Describe a proposal in one line."""
    other = proposal.other.name if proposal.other else ""
    match proposal.sort:
        case "edge" if proposal.edge is not None:
            return f"{proposal.item.name}  {proposal.edge.type}  {other}"
        case "merge":
            return f"{proposal.item.name}  says the same as  {other}"
        case "supersede":
            return f"{proposal.item.name}  supersedes  {other}"
        case "fact" if proposal.fact is not None:
            return f"{proposal.fact.subject}  {proposal.fact.predicate}  {proposal.fact.object}"
        case _:
            new = proposal.given_type or proposal.new_type
            return f"{proposal.item.name}  is of type {new}, not {proposal.old_type or 'untyped'}"


def _row(proposal: ReviewOut) -> tuple[object, ...]:
    sure = "" if proposal.confidence is None else f"{proposal.confidence:.2f}"
    return (
        proposal.review_id,
        claim(proposal),
        sure,
        proposal.state,
        proposal.reviewed_by,
        proposal.review_reason or proposal.reason,
    )


def _item(item: ItemBrief, quote: str | None) -> "Text":
    from rich.text import Text

    when = f"  {item.occurred_at:%Y-%m-%d}" if item.occurred_at else ""
    text = Text(f"\n{printable(item.uid)}{when}\n", style="dim")
    text.append(printable(item.text), style="not dim")
    if quote:
        text.append(f"\n   “{printable(quote)}”", style="not dim italic")
    return text
