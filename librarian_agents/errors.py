"""What can go wrong when a language model or a search tool is asked.

AgentError
├── ChatModelError
│   ├── ChatModelUnavailable    it does not answer in time, is busy, or fails (retryable)
│   ├── ChatModelMisconfigured  it refuses the key, the model's name or the address
│   ├── ChatModelRejected       it refuses this request, for instance because it is too long
│   └── UnusableReply           what comes back is no answer
├── TokenBudgetExhausted        the request may use no more tokens of the language model
├── ToolError
│   ├── ToolRetry               the search tool does not answer now (retryable)
│   └── ToolFailed              it will not answer this request
│       └── ToolContractBroken  what it answers breaks the contract
└── InvalidTrace                what should be replayed is no trace, or leads elsewhere

No message holds a prompt, a reply, a candidate's text, an API key or words of the server.
"""

from typing import ClassVar


class AgentError(Exception):
    """An agent could not do what was asked."""

    code: ClassVar[str] = "agent_error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class ChatModelError(AgentError):
    """The language model could not be used."""

    code = "chat_model_error"


class ChatModelUnavailable(ChatModelError):
    """The language model does not answer. Try again in a few seconds."""

    code = "chat_model_unavailable"
    retryable = True


class ChatModelMisconfigured(ChatModelError):
    """The language model cannot be used as it is set up. Check the LLM_ settings."""

    code = "chat_model_misconfigured"


class ChatModelRejected(ChatModelError):
    """The language model refuses the request, for instance because it is too long."""

    code = "chat_model_rejected"


class UnusableReply(ChatModelError):
    """What the language model returns is no answer."""

    code = "unusable_reply"


class TokenBudgetExhausted(AgentError):
    """The request's budget of language model tokens is used up."""

    code = "token_budget_exhausted"


class ToolError(AgentError):
    """The search tool could not be used."""

    code = "search_tool_error"


class ToolRetry(ToolError):
    """The search tool does not answer. Try again in a few seconds."""

    code = "search_tool_unavailable"
    retryable = True


class ToolFailed(ToolError):
    """The search tool refuses the request or fails."""

    code = "search_tool_failed"


class ToolContractBroken(ToolFailed):
    """The search tool's answer breaks its contract."""

    code = "search_tool_contract"


class InvalidTrace(AgentError):
    """The text is no trace of the search agent, or its steps do not fit together."""

    code = "invalid_trace"
