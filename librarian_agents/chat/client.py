"""The client for language models: any endpoint that speaks OpenAI's chat completions."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from librarian_agents.chat.model import ChatMessage
from librarian_agents.errors import (
    ChatModelError,
    ChatModelMisconfigured,
    ChatModelRejected,
    ChatModelUnavailable,
    UnusableReply,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger("librarian.agents")

NO_INTENT = "none"
# The SDK requires a key; local servers accept any.
_NO_KEY = "none"
_TOP_LOGPROBS = 10
_MISCONFIGURED = frozenset({401, 403, 404, 405})
_BUSY = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class ChatConfig:
    """The model to ask, and limits.

    `intent` is sent besides the standard fields, for routers that choose a model by it; "none" leaves it out.
    `timeout_s` bounds one request, which is retried up to `max_retries` times if the endpoint is busy or unreachable.
    `max_tokens` bounds the reply.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    intent: str = "librarian"
    timeout_s: float = 20.0
    max_retries: int = 1
    max_tokens: int = 1024


class OpenAIChat:
    """A chat model behind `config.base_url`, through the `openai` SDK, which loads on first use.

    Addresses and keys come from `config` alone, whatever OPENAI_ variables the environment holds; `headers` returns
    additional headers for each request.
    """

    def __init__(self, config: ChatConfig, headers: Callable[[], Mapping[str, str]] = dict) -> None:
        self._config = config
        self._headers = headers
        self._constrains = True

    @property
    def name(self) -> str:
        """The model's name."""
        return self._config.model

    async def complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any] | None = None) -> str:
        """Return the whole reply, as JSON that fits `schema` if the server can enforce it.

        A server that accepts a request only without the schema is not sent one again.
        """
        if schema is None or not self._constrains:
            return await self._complete(messages, {})
        form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        try:
            return await self._complete(messages, {"response_format": form})
        except ChatModelRejected:
            reply = await self._complete(messages, {})
            self._constrains = False
            return reply

    async def first_tokens(self, messages: Sequence[ChatMessage]) -> Mapping[str, float]:
        """Return the tokens the reply may start with and their natural log-probabilities; empty if there are none.

        A server that refuses to return log-probabilities counts as having none.
        """
        likely = {"max_tokens": 1, "logprobs": True, "top_logprobs": _TOP_LOGPROBS}
        try:
            with _mapped():
                reply = await self._client.chat.completions.create(**self._request(messages) | likely)
                first = reply.choices[0].logprobs
                tops = first.content[0].top_logprobs if first and first.content else []
                return {top.token: top.logprob for top in tops}
        except ChatModelRejected:
            return {}

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncIterator[str]:
        """Yield the reply in pieces."""
        replied = False
        with _mapped():
            async with await self._client.chat.completions.create(**self._request(messages), stream=True) as chunks:
                async for chunk in chunks:
                    piece = chunk.choices[0].delta.content if chunk.choices else None
                    if piece:
                        replied = True
                        yield piece
        if not replied:
            raise UnusableReply

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        if (client := self.__dict__.pop("_client", None)) is not None:
            await client.close()

    @cached_property
    def _client(self) -> "AsyncOpenAI":
        import openai

        config = self._config
        client = openai.AsyncOpenAI(
            base_url=config.base_url,
            api_key=config.api_key or _NO_KEY,
            timeout=config.timeout_s,
            max_retries=config.max_retries,
        )
        # The constructor sets them from OPENAI_ variables, and they would be sent with every request.
        client.organization = client.project = None
        return client

    async def _complete(self, messages: Sequence[ChatMessage], form: Mapping[str, Any]) -> str:
        # The SDK's own timeout applies to each read, so a slowly dripping server never reaches it.
        with _mapped():
            async with asyncio.timeout(self._config.timeout_s * (1 + self._config.max_retries)):
                reply = await self._client.chat.completions.create(**self._request(messages), **form)
            return _filled(reply.choices[0].message.content)

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        config = self._config
        return {
            "model": config.model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "temperature": 0,
            "max_tokens": config.max_tokens,
            "extra_headers": self._headers(),
            "extra_body": {} if config.intent == NO_INTENT else {"intent": config.intent},
        }


def _filled(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UnusableReply
    return text


@contextmanager
def _mapped() -> Iterator[None]:
    """Map errors of the SDK to ours; the server's text may quote the prompt, so it is left out."""
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise _of_status(error.status_code) from None
    except (openai.APITimeoutError, TimeoutError):
        raise ChatModelUnavailable("The language model does not answer in time.") from None
    except openai.APIConnectionError:
        raise ChatModelUnavailable("The language model cannot be reached, or ended the connection.") from None
    except (openai.OpenAIError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # The SDK does not validate replies; one of another shape fails where it is read.
        logger.info("the chat endpoint's reply cannot be read: %s", type(error).__name__)
        raise UnusableReply from None


def _of_status(status: int) -> ChatModelError:
    if status in _MISCONFIGURED:
        return ChatModelMisconfigured(f"The language model's server answers {status}. Check the LLM_ settings.")
    if status in _BUSY or status >= 500:
        return ChatModelUnavailable(f"The language model's server answers {status}.")
    return ChatModelRejected(f"The language model's server refuses the request with {status}.")
