"""Before a language model takes part in a sweep: what that would take, and whether it is trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.classify import Verdict
from agents.label import MAX_CHARS
from agents.memory_types import MemoryType
from graph import sweep as graph
from graph.sweep import Scope, SweptMemory
from librarian.contracts.sweeps import SweepConfig, SweepLlm
from librarian.usecases.sweep_edges import Relations
from librarian.usecases.sweep_llm import AT_ONCE, CHARS_PER_TOKEN, EXAMINED, Adviser, Known, Llm, examine, timed
from librarian.usecases.sweep_plan import Ground, advised, pages, verdicts_on

SURVEYED = 200
"""Memories from which is told what a whole sweep would ask."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was looked at: what the model is told to be for, and memories of known type to examine it on."""

    told: SweepLlm
    known: Sequence[Known]


async def surveyed(ground: Ground, llm: Llm, scope: Scope, config: SweepConfig) -> Survey:
    """What the model would be asked in a sweep, by its first memories; the model itself is asked once, to see how long
    that takes. Raises ChatModelError.
    """
    counting = Adviser(None, llm.calls_per_memory, SweepLlm(model=llm.model.name))
    relations = Relations(ground.executor, ground.namespace, ground.space, counting)
    known: list[Known] = []
    most = min(SURVEYED, config.limit or SURVEYED)
    seen = 0
    async for page, seen in pages(ground, scope, graph.FIRST, 0, most):  # noqa: B007 - it counts on
        await relations.plan(page)
        verdicts = await verdicts_on(ground, page)
        found = [_known(memory, verdict) for memory, verdict in zip(page, verdicts, strict=True)]
        known += [one for one in found if one is not None]
        await advised(page, verdicts, counting)
    total = await graph.count(ground.executor, scope)
    share = min(total, config.limit or total) / max(1, seen)
    calls = round(counting.told.calls * share) + min(EXAMINED, len(known))
    told = SweepLlm(
        model=llm.model.name,
        calls_expected=calls,
        tokens_expected=round(counting.chars * share / CHARS_PER_TOKEN),
        seconds_expected=round(await timed(llm.model) * calls / AT_ONCE, 1) if calls else 0.0,
    )
    return Survey(told, known)


async def examined(llm: Llm, survey: Survey) -> Adviser:
    """The model as an adviser, trusted or not. Raises ChatModelError."""
    await examine(llm, survey.known, survey.told)
    return Adviser(llm.model, llm.calls_per_memory, survey.told)


def _known(memory: SweptMemory, verdict: Verdict) -> Known | None:
    """A text with the type that somebody has stated, or that the rules are sure of; None where there is neither."""
    stated = memory.properties.get("type")
    text = memory.properties["text"][:MAX_CHARS]
    if stated not in (None, MemoryType.UNKNOWN):
        return text, MemoryType.parse(stated)
    return (text, verdict.type) if verdict.accepted else None
