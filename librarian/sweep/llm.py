"""A language model's part in a sweep: it decides cases that the rules leave open, within a budget.

First it is tested on memories of known type. A model that does not match the precision of the rules is not trusted: its
verdicts are proposed to a human and none is applied. A causal verdict is applied only where the rules have proposed the
same edge. So a model can add decisions, and a bad one does no harm.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias, TypeVar

from librarian.sweep.contracts import SweepLlm
from librarian_agents.chat.model import ChatMessage
from librarian_agents.errors import ChatModelRejected, UnusableReply
from librarian_agents.facts.llm import told_facts
from librarian_agents.facts.stated import Stated
from librarian_agents.sweep.causal import tells_of_cause
from librarian_agents.sweep.causal_candidates import CandidatePair
from librarian_agents.sweep.causal_llm import judge_relationship
from librarian_agents.sweep.causal_llm import messages_of as causal_messages
from librarian_agents.sweep.causal_types import ACCEPTED_FROM, Note
from librarian_agents.sweep.causal_types import Verdict as CausalVerdict
from librarian_agents.sweep.classify import Verdict
from librarian_agents.sweep.label import BOUND, LabelModel, label_memory, messages_of
from librarian_agents.sweep.memory_types import MemoryType

T = TypeVar("T")
Ask: TypeAlias = Callable[[LabelModel], Awaitable[T]]
Known: TypeAlias = tuple[str, MemoryType]

AT_ONCE = 4
"""Concurrent questions."""
EXAMINED = 20
"""Memories of known type on which a model is tested."""
FEWEST_EXAMINED = 10
"""With fewer of them there is no basis for trusting it."""
AGREEMENT = 0.85
"""Required share of agreement: the precision required of changes applied to agents' notes."""

CHARS_PER_TOKEN = 4
"""In English; other languages take more tokens."""
_NOT_APPLIED = ACCEPTED_FROM - 0.01
_SHORT = "The staging database is restarted on Sundays."
_OPEN = Verdict(MemoryType.UNKNOWN, 0.0, "none")


@dataclass(frozen=True, slots=True)
class Llm:
    """The language model, and its maximum number of calls per memory."""

    model: LabelModel
    calls_per_memory: int


@dataclass(slots=True)
class Adviser:
    """Asks the model, or only counts the questions if `model` is None. `report` is kept with the run."""

    model: LabelModel | None
    calls_per_memory: int
    report: SweepLlm
    chars: int = 0
    _judged: dict[tuple[str, str], CausalVerdict] = field(default_factory=dict)

    async def labels(self, texts: Sequence[str]) -> list[Verdict | None]:
        """Return the model's verdicts on texts that the rules leave open."""
        return await self._all([partial(_labelled, text, _OPEN) for text in texts])

    async def types(self, texts: Sequence[str], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return the verdicts, with unsure ones replaced by the model's where it has one."""
        asks = [partial(_labelled, text, verdict) for text, verdict in zip(texts, verdicts, strict=True)]
        self._count(messages_of(text, "") for text in texts)
        answers = await self._all(asks)
        return [
            verdict if said is None else self._allowed(said) for verdict, said in zip(verdicts, answers, strict=True)
        ]

    async def relations(
        self,
        pairs: Sequence[CandidatePair],
        notes: Mapping[str, Note],
        verdicts: Sequence[CausalVerdict],
        own: Mapping[str, object],
    ) -> list[CausalVerdict]:
        """Return the verdicts on pairs, with undecided ones replaced by the model's where it finds more."""
        chosen = self._worth_asking(pairs, notes, verdicts, own)
        ends = [(notes[pairs[index].first], notes[pairs[index].second]) for index in chosen]
        self._count(causal_messages(*both) for both in ends)
        answers = await self._all([partial(_judged, first, second) for first, second in ends])
        for index, answer in zip(chosen, answers, strict=True):
            ours = verdicts[index]
            better = answer is not None and answer.causal
            self._judged[_ends(pairs[index])] = self._weighed(ours, answer) if answer and better else ours
        return [self._judged.get(_ends(pair), ours) for pair, ours in zip(pairs, verdicts, strict=True)]

    async def facts(self, messages: Sequence[tuple[str, str]]) -> list[list[Stated]]:
        """Return the facts that the model finds in messages, each a text with its author."""
        answers = await self._all([partial(_told, text, author) for text, author in messages])
        return [answer or [] for answer in answers]

    def _worth_asking(
        self,
        pairs: Sequence[CandidatePair],
        notes: Mapping[str, Note],
        verdicts: Sequence[CausalVerdict],
        own: Mapping[str, object],
    ) -> list[int]:
        """Return the pairs that the rules cannot settle, likeliest first; one call per memory is kept for its type."""
        open_ = [
            index
            for index, (pair, verdict) in enumerate(zip(pairs, verdicts, strict=True))
            if _ends(pair) not in self._judged and _undecided(verdict, notes[pair.first].text, notes[pair.second].text)
        ]
        left = Counter(dict.fromkeys(own, self.calls_per_memory - 1))
        chosen = []
        for index in sorted(open_, key=lambda index: (-verdicts[index].causal, -verdicts[index].confidence, index)):
            payer = next((uid for uid in (pairs[index].first, pairs[index].second) if left[uid] > 0), None)
            if payer is not None:
                left[payer] -= 1
                chosen.append(index)
        return chosen

    def _allowed(self, said: Verdict) -> Verdict:
        return said if self.report.trusted else replace(said, confidence=min(said.confidence, BOUND))

    def _weighed(self, ours: CausalVerdict, said: CausalVerdict) -> CausalVerdict:
        same = (ours.relation, ours.direction) == (said.relation, said.direction)
        if same and self.report.trusted:
            return said
        if ours.causal:
            return ours  # the rules' proposal stands: the model does not override it
        return replace(said, confidence=min(said.confidence, _NOT_APPLIED))

    def _count(self, prompts: Iterable[Sequence[ChatMessage]]) -> None:
        self.chars += sum(len(message.content) for prompt in prompts for message in prompt)

    async def _all(self, asks: Sequence[Ask[T]]) -> list[T | None]:
        """Return the answers; None for an unusable one. Raises errors that keep the model from answering at all."""
        self.report.calls += len(asks)
        if self.model is None:
            return [None] * len(asks)
        answers: list[T | None] = []
        for at in range(0, len(asks), AT_ONCE):
            said = await asyncio.gather(*(ask(self.model) for ask in asks[at : at + AT_ONCE]), return_exceptions=True)
            answers += [self._usable(answer) for answer in said]
        return answers

    def _usable(self, said: T | BaseException) -> T | None:
        if isinstance(said, UnusableReply | ChatModelRejected):
            self.report.unusable += 1
            return None
        if isinstance(said, BaseException):
            raise said
        return said


async def examined(llm: Llm, known: Sequence[Known], report: SweepLlm) -> Adviser:
    """Return the model as an adviser, trusted by its test on memories of known type. Raises ChatModelError."""
    adviser = Adviser(llm.model, llm.calls_per_memory, report)
    sample = _mixed(known)[:EXAMINED]
    answers = await adviser.labels([text for text, _ in sample])
    sure = [
        (said, type_) for said, (_, type_) in zip(answers, sample, strict=True) if said is not None and said.accepted
    ]
    report.examined = len(sure)
    report.agreed = sum(said.type is type_ for said, type_ in sure)
    report.trusted = report.examined >= FEWEST_EXAMINED and report.agreed >= AGREEMENT * report.examined
    return adviser


async def timed(model: LabelModel) -> float:
    """Return the seconds that one question takes. Raises errors that keep the model from answering at all."""
    started = time.monotonic()
    with contextlib.suppress(UnusableReply, ChatModelRejected):
        await label_memory(model, _SHORT, _OPEN)
    return time.monotonic() - started


def _mixed(known: Sequence[Known]) -> list[Known]:
    """Return the memories alternating by type, to expose a model that always gives the same answer."""
    turns: Counter[MemoryType] = Counter()
    ranked = []
    for index, (text, type_) in enumerate(known):
        ranked.append((turns[type_], index, (text, type_)))
        turns[type_] += 1
    return [entry for *_, entry in sorted(ranked, key=lambda entry: entry[:2])]


def _ends(pair: CandidatePair) -> tuple[str, str]:
    return pair.first, pair.second


async def _labelled(text: str, verdict: Verdict, model: LabelModel) -> Verdict:
    return await label_memory(model, text, verdict)


async def _told(text: str, author: str, model: LabelModel) -> list[Stated]:
    return await told_facts(model, text, author)


async def _judged(first: Note, second: Note, model: LabelModel) -> CausalVerdict:
    return await judge_relationship(model, first, second)


def _undecided(verdict: CausalVerdict, *texts: str) -> bool:
    """Return whether it is a proposal of the rules, or a pair of related texts of which one mentions a cause."""
    if verdict.causal:
        return not verdict.accepted
    return verdict.relation is not None and any(tells_of_cause(text) for text in texts)
