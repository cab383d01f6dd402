"""Deciding review by review with single keys."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import click
import typer

from librarian.cli.paging import pages
from librarian.cli.review_view import show_decision, show_review
from librarian.cli.runtime import report, say
from librarian.cli.verbs import Verbs
from librarian.client import ApiError
from librarian.contracts.reviews import ReviewInput, ReviewOut, ReviewQuery
from librarian.errors import LibrarianError
from librarian.strictjson import convert

_HELP = "a accept · r reject · A, R with a reason · t another type · f full texts · s skip · q quit"


def _read_line(question: str) -> str:
    answer: str = typer.prompt(question, default="", show_default=False, err=True)
    return answer.strip()


@dataclass(frozen=True, slots=True)
class Keyboard:
    """Where decisions come from: single keys, and lines that answer a question."""

    key: Callable[[], str] = click.getchar
    line: Callable[[str], str] = _read_line


async def decide_by_keys(librarian: Verbs, where: str, *, query: ReviewQuery, keyboard: Keyboard | None = None) -> None:
    """Show one review after the other, and do what each key says."""
    session = _Session(librarian, where, keyboard or Keyboard())
    say(_HELP)
    async for page in pages(partial(librarian.list_reviews, where), query, every=True):
        for one in page.reviews:
            if not await session.decide(one):
                session.end()
                return
    session.end()


@dataclass(slots=True)
class _Session:
    librarian: Verbs
    where: str
    keyboard: Keyboard
    seen: int = 0
    decided: int = 0

    async def decide(self, one: ReviewOut) -> bool:
        """Let the human decide about one; false when they have had enough."""
        self.seen += 1
        show_review(one, self.seen)
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
            elif await action(self, one):
                return True

    def end(self) -> None:
        """Say what was done."""
        say(f"{self.decided} of {self.seen} decided." if self.seen else "There is nothing to review.")

    async def accept(self, one: ReviewOut) -> bool:
        """Accept it."""
        return await self._send(one, verdict="accept")

    async def reject(self, one: ReviewOut) -> bool:
        """Reject it."""
        return await self._send(one, verdict="reject")

    async def accept_with_reason(self, one: ReviewOut) -> bool:
        """Accept it and say why."""
        return await self._send(one, verdict="accept", reason=self.keyboard.line("Why"))

    async def reject_with_reason(self, one: ReviewOut) -> bool:
        """Reject it and say why."""
        return await self._send(one, verdict="reject", reason=self.keyboard.line("Why"))

    async def retype(self, one: ReviewOut) -> bool:
        """Give a flagged memory another type."""
        return await self._send(one, verdict="accept", type=self.keyboard.line("Type").capitalize())

    async def show_texts(self, one: ReviewOut) -> bool:
        """Show the whole texts; it is still to be decided."""
        for item in (one.item, one.other):
            if item is not None:
                typer.echo(f"\n{item.uid}\n{(await self.librarian.get_item(self.where, item.uid)).text}")
        return False

    async def _send(self, one: ReviewOut, **values: Any) -> bool:
        """Send a decision; one that cannot be taken is said, and may be made anew."""
        try:
            given = convert({name: value for name, value in values.items() if value}, ReviewInput)
            done = await self.librarian.review(self.where, one.review_id, given)
        except (LibrarianError, ApiError) as error:
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
