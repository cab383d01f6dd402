"""Pydantic AI: a toolset with `recall` and `remember`."""

from typing import Any

try:
    from pydantic_ai import FunctionToolset
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("Pydantic AI is missing: install librarian[pydantic-ai]") from missing

from librarian.adapters.tools import MemoryTools


class LibrarianToolset(FunctionToolset[Any]):
    """The tools `recall` and `remember` over `namespace` of a service, for `Agent(toolsets=[…])`; `options` are those
    of `MemoryTools`.
    """

    def __init__(self, namespace: str, **options: Any) -> None:
        self._memory = MemoryTools(namespace, **options)
        super().__init__(self._memory.functions, id=f"librarian-{namespace}")

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._memory.aclose()
