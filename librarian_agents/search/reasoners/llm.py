"""Reasoning by a language model. It sees only texts and temp_index, and none of its own text reaches the result.

Only its numbers of items, numbers of candidates and quotes are used, and a quote only if it occurs in its candidate. If
the model fails, the heuristic reasoner takes over, and no evaluation of that round counts as success.
"""

import asyncio
import html
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, TypeVar

from librarian_agents.chat.model import ChatMessage, ChatModel
from librarian_agents.errors import ChatModelError, ChatModelUnavailable, TokenBudgetExhausted, UnusableReply
from librarian_agents.prompts import prompt
from librarian_agents.search.limits import Budget
from librarian_agents.search.ports import Reasoner
from librarian_agents.search.selection import quoted
from librarian_agents.search.types import Candidate, Evaluation, EvidenceTask, Findings, Need, Support

logger = logging.getLogger("librarian.agents")

_T = TypeVar("_T")

# Maximum tokens of a reply; the chat client also limits it.
_REPLY_TOKENS = 1_024
_BYTES_A_TOKEN = 3
_SHOWN = 40
_SHOWN_CHARS = 1_500
_EXCERPT_CHARS = 300
# The heuristics use the remaining time if the model does not answer.
_SHARE_OF_TIME = 0.4
_MOST_FAILURES = 2
Read = Callable[[Any], _T]

_QUERIES_READ = 4
# Shorter quotes occur in any text.
_SHORTEST_QUOTE = 3
_FENCE = re.compile(r"\A\s*(?:<think>.*?</think>)?\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)

QUERIES: Mapping[str, Any] = {
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}, "maxItems": _QUERIES_READ}},
    "required": ["queries"],
    "additionalProperties": False,
}
JUDGEMENT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "needs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "item": {"type": "integer"},
                    "evidence": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"temp_index": {"type": "integer"}, "quote": {"type": "string"}},
                            "required": ["temp_index", "quote"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["item", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["needs"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class LlmReasoner:
    """Asks `model`; `fallback` plans, evaluates and refines if that fails.

    Each call is charged to the request's token budget before it is made, and gets a share of the remaining time, which
    leaves time for the fallback.
    """

    model: ChatModel
    fallback: Reasoner

    @property
    def name(self) -> str:
        """The kind and the model."""
        return f"llm:{self.model.name}"

    async def plan(self, task: EvidenceTask, budget: Budget, /) -> Sequence[str]:
        """Return the model's queries, or the fallback's."""
        asked = [_question(task), *_items(enumerate(task.target_items, start=1)), *_about(task)]
        try:
            return await self._ask("evidence_plan", asked, QUERIES, queries_of, budget)
        except (ChatModelError, TokenBudgetExhausted) as error:
            logger.info("planned without the language model: %s", error)
            return await self.fallback.plan(task, budget)

    async def evaluate(self, task: EvidenceTask, findings: Findings, budget: Budget, /) -> Evaluation:
        """Return the model's evaluation, or the fallback's, marked as a failure of the judge."""
        shown = _shown(findings)
        items = _items(enumerate(task.target_items, start=1))
        asked = [_question(task), *items, *(_candidate(candidate, _SHOWN_CHARS) for candidate in shown.values())]
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
        """Return the model's further queries, or the fallback's."""
        missing = set(evaluation.missing(task.target_items))
        lacking = ((number, item) for number, item in enumerate(task.target_items, start=1) if item in missing)
        asked = [
            _question(task),
            *_items(lacking),
            *(_tagged("asked", query) for query in findings.queries),
            *(_candidate(candidate, _EXCERPT_CHARS) for candidate in _shown(findings).values()),
        ]
        try:
            return await self._ask("evidence_refine", asked, QUERIES, queries_of, budget)
        except (ChatModelError, TokenBudgetExhausted) as error:
            logger.info("refined without the language model: %s", error)
            return await self.fallback.refine(task, findings, evaluation, budget)

    async def _ask(
        self, name: str, parts: Sequence[str], schema: Mapping[str, Any], read: Read[_T], budget: Budget
    ) -> _T:
        """Return the result of `read` for the reply, with one repair attempt.

        A model that fails twice in a row is not used again for this request. Raises ChatModelError,
        TokenBudgetExhausted.
        """
        if budget.model_failures >= _MOST_FAILURES:
            raise ChatModelUnavailable("The language model has failed before in this request.")
        messages = [ChatMessage("system", prompt(name)), ChatMessage("user", "\n".join(parts))]
        try:
            async with asyncio.timeout(budget.remaining_s() * _SHARE_OF_TIME):
                answer = await self._answer(messages, schema, read, budget)
        except TimeoutError:
            budget.model_failures += 1
            raise ChatModelUnavailable("The language model does not answer in the time of this request.") from None
        except ChatModelError:
            budget.model_failures += 1
            raise
        budget.model_failures = 0
        return answer

    async def _answer(
        self, messages: list[ChatMessage], schema: Mapping[str, Any], read: Read[_T], budget: Budget
    ) -> _T:
        reply = await self._complete(messages, schema, budget)
        try:
            return read(read_json(reply))
        except UnusableReply as fault:
            messages += [ChatMessage("assistant", reply), ChatMessage("user", f"{fault} Reply with JSON alone.")]
        return read(read_json(await self._complete(messages, schema, budget)))

    async def _complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any], budget: Budget) -> str:
        budget.spend(sum(_tokens(message.content) for message in messages) + _REPLY_TOKENS)
        return await self.model.complete(messages, schema)


def _tokens(text: str) -> int:
    """Overestimate the count of most tokenizers: a Japanese letter is one token, an English one a third."""
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_A_TOKEN + 1


def _shown(findings: Findings) -> dict[int, Candidate]:
    """Return the candidates that fit: the best of each search in turn."""
    shown: dict[int, Candidate] = {}
    longest = max((len(search.found) for search in findings.searches), default=0)
    for rank in range(longest):
        shown.update(
            (search.found[rank].temp_index, search.found[rank])
            for search in findings.searches
            if rank < len(search.found)
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
    """Return `text` between tags that it cannot close."""
    return f"<{tag}>\n{html.escape(text, quote=False)}\n</{tag.split(maxsplit=1)[0]}>"


def read_json(reply: str) -> Any:
    """Parse the JSON of a reply, with or without a fence round it or thoughts before it. Raises UnusableReply."""
    fenced = _FENCE.match(reply)
    text = fenced[1] if fenced else _THOUGHT.sub("", reply)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnusableReply("The reply is not JSON.") from None


def queries_of(reply: Any) -> list[str]:
    """Return the queries of a plan, possibly none. Raises UnusableReply."""
    queries = _list(reply, "queries")
    if not all(isinstance(query, str) for query in queries):
        raise UnusableReply('"queries" has to be a list of texts.')
    return queries[:_QUERIES_READ]


def needs_of(reply: Any, items: Sequence[str], shown: Mapping[int, Candidate]) -> tuple[Need, ...]:
    """Return the needs of an evaluation, without nonexistent evidence. Raises UnusableReply.

    A need that loses its evidence is kept as missing.
    """
    return tuple(_needs(_list(reply, "needs"), items, shown))


def _needs(given: Sequence[Any], items: Sequence[str], shown: Mapping[int, Candidate]) -> Iterator[Need]:
    for need in given:
        if not isinstance(need, dict) or not _is_number(need.get("item")):
            raise UnusableReply('Each need takes the number of an "item" and a list "evidence".')
        if 1 <= need["item"] <= len(items):
            found = [_support(piece, shown) for piece in _list(need, "evidence")]
            yield Need(items[need["item"] - 1], "", tuple(support for support in found if support))


def _support(given: Any, shown: Mapping[int, Candidate]) -> Support | None:
    if not isinstance(given, dict):
        raise UnusableReply('Each piece of evidence takes "temp_index" and "quote".')
    index, quote = given.get("temp_index"), given.get("quote")
    if not _is_number(index) or not isinstance(quote, str):
        raise UnusableReply('Each piece of evidence takes a number "temp_index" and a text "quote".')
    # The model sees < and & in texts as entities, and may copy them.
    quote = html.unescape(quote).strip()
    if index not in shown or len(quote) < _SHORTEST_QUOTE or not quoted(quote, shown[index].text):
        return None
    return Support(index, quote, 1.0)


def _list(reply: Any, key: str) -> list[Any]:
    found = reply.get(key) if isinstance(reply, dict) else None
    if not isinstance(found, list):
        raise UnusableReply(f'The reply has to be an object with a list "{key}".')
    return found


def _is_number(value: Any) -> TypeGuard[int]:
    return type(value) is int
