"""Deleting in two steps: a preview with a token, then exactly what it showed."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

import typer

from librarian.cli.display import table
from librarian.cli.runtime import say
from librarian.contracts.changes import DeleteCounts, DeleteOutput

YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Delete what the preview shows, unasked.")]

# Deletes with a token, previews without.
Delete = Callable[[str | None], Awaitable[DeleteOutput]]


async def deleted(delete: Delete, token: str | None, *, yes: bool, silent: bool) -> DeleteOutput:
    """What `delete` says to the token; with `yes` its own preview is shown (unless `silent`) and then confirmed."""
    answer = await delete(token)
    if answer.confirm_token is None or not yes:
        return answer
    if not silent:
        show_preview(answer)
    return await delete(answer.confirm_token)


def show_deletion(answer: DeleteOutput) -> None:
    """Print what went, or what would go and how to say yes."""
    if answer.deleted:
        table(("", "deleted"), _counted(answer.counts))
        if answer.kept:
            say(f"{answer.kept} items were changed since the preview and are kept.")
    elif answer.confirm_token is None:
        say("Nothing matches; nothing is deleted.")
    else:
        show_preview(answer)
        say("Nothing is deleted yet. The same command with this deletes exactly that:")
        typer.echo(f"--confirm {answer.confirm_token}")


def show_preview(answer: DeleteOutput) -> None:
    """Print what would go."""
    table(("", "to be deleted"), _counted(answer.counts))
    if answer.sample:
        table(("uid", "kind", "name"), [(brief.uid, brief.kind, brief.name) for brief in answer.sample])


def _counted(counts: DeleteCounts) -> list[tuple[str, int]]:
    rest = ("edges", "evidence_links", "revisions", "embeddings")
    rows = [("items", counts.items), *((f"  {kind}", count) for kind, count in sorted(counts.by_kind.items()))]
    return [*rows, *((name.replace("_", " "), getattr(counts, name)) for name in rest)]
