"""A chat model that is a script: it knows the labelled evidence of one question, and reads what it is shown."""

import html
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.ports import ChatMessage

_CANDIDATE = re.compile(r'<candidate temp_index="(\d+)">\n(.*?)\n</candidate>', re.DOTALL)
_ASKED = re.compile(r"<asked>")
_QUOTE_CHARS = 80


@dataclass(frozen=True, slots=True)
class LabelledModel:
    """Plans the question itself; judges that each of `texts` is needed, and found where it is shown; refines by the
    first line of what it was not shown.
    """

    question: str
    texts: Sequence[str]

    @property
    def name(self) -> str:
        """That it is none."""
        return "script"

    async def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
        """A reply in the form that the prompt wants."""
        asked = messages[-1].content
        shown = [(int(index), html.unescape(text)) for index, text in _CANDIDATE.findall(asked)]
        if schema is not None and "needs" in schema["properties"]:
            return json.dumps({"needs": [{"item": 1, "evidence": _evidence(text, shown)} for text in self.texts]})
        if not _ASKED.search(asked):
            return json.dumps({"queries": [self.question]})
        hidden = [text for text in self.texts if not any(text.startswith(given) for _, given in shown)]
        return json.dumps({"queries": [text.partition("\n")[0] for text in hidden]})

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """The whole reply at once."""
        yield await self.complete(messages)


def _evidence(text: str, shown: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    return [
        {"temp_index": index, "quote": given[:_QUOTE_CHARS]}
        for index, given in shown
        if given and text.startswith(given)
    ]
