"""Reasoning by a language model. It sees texts and temp_index only, and nothing it writes reaches the result.

What counts of its judgement are numbers of items, numbers of candidates and quotes, and a quote only if it stands in
its candidate. Where the model fails, the heuristic reasoner goes on, and no evaluation of that round counts as success.
"""

import asyncio
import html
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from agents.errors import ChatModelError, ChatModelUnavailable, TokenBudgetExhausted, UnusableReply
from agents.limits import Budget
from agents.ports import ChatMessage, ChatModel, Reasoner
from agents.prompts import prompt
from agents.reasoners.replies import JUDGEMENT, QUERIES, Read, needs_of, queries_of, read_json
from agents.types import Candidate, Evaluation, EvidenceTask, Findings

logger = logging.getLogger("librarian.agents")

_T = TypeVar("_T")

# What a reply may take; the chat client bounds it too.
_REPLY_TOKENS = 1_024
_BYTES_A_TOKEN = 3
_SHOWN = 40
_SHOWN_CHARS = 1_500
_EXCERPT_CHARS = 300
_SHARE_OF_TIME = 0.8


@dataclass(frozen=True, slots=True)
class LlmReasoner:
    """Asks `model`; `fallback` plans, judges and refines where that fails.

    Each call is paid from the request's token budget before it is made, and gets a share of the time left, so that
    there is time to go on without it.
    """

    model: ChatModel
    fallback: Reasoner

    @property
    def name(self) -> str:
        """The kind and the model."""
        return f"llm:{self.model.name}"

    async def plan(self, task: EvidenceTask, budget: Budget, /) -> Sequence[str]:
        """The model's queries, else the fallback's."""
        asked = [_question(task), *_items(enumerate(task.target_items, start=1)), *_about(task)]
        try:
            return await self._ask("evidence_plan", asked, QUERIES, queries_of, budget)
        except (ChatModelError, TokenBudgetExhausted) as error:
            logger.info("planned without the language model: %s", error)
            return await self.fallback.plan(task, budget)

    async def evaluate(self, task: EvidenceTask, findings: Findings, budget: Budget, /) -> Evaluation:
        """The model's judgement, else the fallback's, marked as a failure of the judge."""
        shown = _shown(findings)
        items = _items(enumerate(task.target_items, start=1))
        asked = [_question(task), *items, *(_candidate(one, _SHOWN_CHARS) for one in shown.values())]
        try:
            needs = await self._ask(
                "evidence_judge", asked, JUDGEMENT, lambda reply: needs_of(reply, task.target_items, shown), budget
            )
            return Evaluation(needs)
        except ChatModelError as error:
            logger.info("judged without the language model: %s", error)
            return replace(await self.fallback.evaluate(task, findings, budget), failure="judge_failed")
        except TokenBudgetExhausted:
            return replace(await self.fallback.evaluate(task, findings, budget), failure="token_budget")

    async def refine(
        self, task: EvidenceTask, findings: Findings, evaluation: Evaluation, budget: Budget, /
    ) -> Sequence[str]:
        """The model's further queries, else the fallback's."""
        missing = set(evaluation.missing(task.target_items))
        lacking = ((number, item) for number, item in enumerate(task.target_items, start=1) if item in missing)
        asked = [
            _question(task),
            *_items(lacking),
            *(_tagged("asked", query) for query in findings.queries),
            *(_candidate(one, _EXCERPT_CHARS) for one in _shown(findings).values()),
        ]
        try:
            return await self._ask("evidence_refine", asked, QUERIES, queries_of, budget)
        except (ChatModelError, TokenBudgetExhausted) as error:
            logger.info("refined without the language model: %s", error)
            return await self.fallback.refine(task, findings, evaluation, budget)

    async def _ask(
        self, name: str, parts: Sequence[str], schema: Mapping[str, Any], read: Read[_T], budget: Budget
    ) -> _T:
        """What `read` makes of the reply, which may be repaired once. Raises ChatModelError, TokenBudgetExhausted."""
        messages = [ChatMessage("system", prompt(name)), ChatMessage("user", "\n".join(parts))]
        try:
            async with asyncio.timeout(budget.remaining_s() * _SHARE_OF_TIME):
                reply = await self._complete(messages, schema, budget)
                try:
                    return read(read_json(reply))
                except UnusableReply as fault:
                    messages += [
                        ChatMessage("assistant", reply),
                        ChatMessage("user", f"{fault} Reply with JSON alone."),
                    ]
                return read(read_json(await self._complete(messages, schema, budget)))
        except TimeoutError:
            raise ChatModelUnavailable("The language model does not answer in the time of this request.") from None

    async def _complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any], budget: Budget) -> str:
        budget.spend(sum(_tokens(message.content) for message in messages) + _REPLY_TOKENS)
        return await self.model.complete(messages, schema)


def _tokens(text: str) -> int:
    """More than most tokenizers make of it: a letter of Japanese is one token, of English a third."""
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN + 1


def _shown(findings: Findings) -> dict[int, Candidate]:
    """What fits: the best of each search in turn."""
    shown: dict[int, Candidate] = {}
    longest = max((len(search.found) for search in findings.searches), default=0)
    for rank in range(longest):
        shown.update(
            (one.found[rank].temp_index, one.found[rank]) for one in findings.searches if rank < len(one.found)
        )
    return dict(list(shown.items())[:_SHOWN])


def _question(task: EvidenceTask) -> str:
    return _tagged("question", task.user_query)


def _about(task: EvidenceTask) -> list[str]:
    known = (task.intent, task.context, task.stop_conditions)
    return [_tagged("about", text) for text in known if text]


def _items(numbered: Iterable[tuple[int, str]]) -> list[str]:
    return [_tagged(f'item number="{number}"', item) for number, item in numbered]


def _candidate(candidate: Candidate, chars: int) -> str:
    return _tagged(f'candidate temp_index="{candidate.temp_index}"', candidate.text[:chars])


def _tagged(tag: str, text: str) -> str:
    """`text` between tags which it cannot close."""
    return f"<{tag}>\n{html.escape(text, quote=False)}\n</{tag.split(maxsplit=1)[0]}>"
