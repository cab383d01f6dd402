"""Storing contents of files, whole files only."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graph.errors import TransactionTooLarge
from graph.executor import Executor
from graph.files import FileContent, store_contents
from librarian.files.loading import UNKNOWN_TIME
from librarian.files.reading import TOO_LARGE


@dataclass(frozen=True, slots=True)
class Stored:
    """How many parts of files were written and how many held back, and the files that were `refused`: they are found
    by name only, until a later run succeeds in storing them.
    """

    added: int
    held_back: int
    refused: list[FileContent] = field(default_factory=list)


async def store(executor: Executor, namespace: str, contents: Sequence[FileContent]) -> Stored:
    """Store contents in one transaction, or in several if the database has too little memory for one.

    A file that alone is too large is refused, and its earlier contents are removed. Raises TransactionTooLarge if the
    memory does not suffice even for that.
    """
    try:
        done = await store_contents(executor, namespace, contents)
        return Stored(done.added, done.held_back)
    except TransactionTooLarge:
        if len(contents) > 1:
            middle = len(contents) // 2
            one = await store(executor, namespace, contents[:middle])
            other = await store(executor, namespace, contents[middle:])
            return Stored(one.added + other.added, one.held_back + other.held_back, one.refused + other.refused)
        if contents[0].unread:
            raise
    whole = contents[0]
    refused = FileContent(whole.path, whole.sha256, whole.size, UNKNOWN_TIME, whole.language, unread=TOO_LARGE)
    await store_contents(executor, namespace, [refused])
    return Stored(0, 0, [refused])


def refusal(refused: FileContent) -> str:
    """Return which file is found by name only, why, and what to do about it."""
    return (
        f"{refused.path} ({refused.size / 1e6:.1f} MB) is found by name only: the database gives one transaction too "
        "little memory to store its text. Restart the database with more memory (LIBRARIAN_HEAP_MB of the managed "
        "server, db.memory.transaction.max of another), then index again."
    )
