"""Parts of files that texts name by a path or by what they define."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from graph.executor import Executor


@dataclass(frozen=True, slots=True)
class Named:
    """What is looked for: a file by the keys of its name and path, at a line, or a definition; "" for what it is
    not.
    """

    name: str
    suffix: str
    line: int
    symbol: str


@dataclass(frozen=True, slots=True)
class NamedChunk:
    """The part of a file that is meant by the `place`th of what was looked for, and the line in it."""

    place: int
    uid: str
    version: int
    path: str
    line: int
    start_line: int
    text: str = field(repr=False)

    @property
    def quote(self) -> str:
        """The line that is meant."""
        lines = self.text.split("\n")
        return lines[min(max(self.line - self.start_line, 0), len(lines) - 1)]


async def chunks_named(executor: Executor, namespace: str, wanted: Sequence[Named]) -> list[NamedChunk]:
    """For each of `wanted` the part of a file that it means; none where several files or definitions are called so."""
    rows = [
        {
            "place": place,
            "name": one.name,
            "suffix": one.suffix,
            "line": one.line,
            "symbol": one.symbol,
            "key": one.symbol.casefold(),
        }
        for place, one in enumerate(wanted)
    ]
    if not rows:
        return []
    found = await executor.fetch_all("chunks_named", {"namespace": namespace, "rows": rows})
    return [NamedChunk(**row) for row in found]
